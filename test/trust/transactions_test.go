package trust

import (
	"fmt"
	"strings"
	"testing"
)

// keepings are sequences that once lost a transaction, a lock, or its properties. {k} is each of several
// owners, who are on all shards.
var keepings = map[string][]string{
	"a read that fails begins nothing": {"SET autocommit = 0", "SELECT @@autocommit", "HANDLER plain READ FIRST", "SELECT status FROM test_order WHERE buyer_uid = {k} AND amount <=> @m", "SELECT DATABASE()"},
	"nor does a read of no column":     {"SET autocommit = 0", "SELECT nothing FROM plain", "UPDATE test_order SET amount = amount + 1 WHERE buyer_uid = {k}", "SELECT DATABASE()", "SELECT id FROM plain", "ROLLBACK"},
	"locks outlive a scatter":          {"LOCK TABLES plain WRITE, test_order READ", "SET autocommit = 0", "SELECT COUNT(*), MAX(amount) FROM test_order", "SELECT * FROM secret", "COMMIT", "SELECT * FROM secret"},
	"locks outlive what is refused":    {"LOCK TABLES plain WRITE", "SET autocommit = 0", "SELECT COUNT(*), MAX(amount) FROM test_order", "SELECT * FROM secret"},
	"locks outlive a write of all":     {"SET autocommit = 0", "LOCK TABLES product WRITE, test_order WRITE", "UPDATE product SET price = price + {k}", "DELETE FROM test_order WHERE buyer_uid IN ({k}, 11)", "SELECT * FROM secret", "ROLLBACK", "SELECT * FROM secret"},
	"locks outlive savepoints":         {"LOCK TABLES plain WRITE, test_order WRITE", "SET autocommit = 0", "SAVEPOINT a", "UPDATE plain SET note = '{k}'", "UPDATE test_order SET amount = amount + {k}", "ROLLBACK TO a", "SELECT * FROM secret", "COMMIT", "SELECT * FROM secret"},
	"locks begin a transaction":        {"SET autocommit = 0", "LOCK TABLES test_order WRITE", "SET TRANSACTION READ ONLY", "ROLLBACK", "SELECT COUNT(*) FROM test_order"},
	"locks hold on shards without":     {"LOCK TABLES plain READ", "SELECT status FROM test_order WHERE buyer_uid = {k}", "DELETE FROM test_order WHERE buyer_uid = {k}", "UNLOCK TABLES", "SELECT status FROM test_order WHERE buyer_uid = {k}"},
	"FOUND_ROWS() under locks":         {"SELECT id FROM plain", "LOCK TABLES plain READ", "SELECT SQL_CALC_FOUND_ROWS status FROM test_order WHERE buyer_uid = {k} LIMIT 1", "SELECT FOUND_ROWS()"},
	"FOUND_ROWS() after an error":      {"SELECT id FROM plain", "INSERT INTO plain SELECT 1, 'twice'", "SELECT FOUND_ROWS()", "SELECT id FROM plain", "SELECT id, (SELECT id FROM plain) FROM plain", "SELECT FOUND_ROWS()", "SELECT id FROM plain", "SELECT nothing FROM plain", "SELECT FOUND_ROWS()"},
	"a reset":                          {"SET NAMES latin1", "SELECT id FROM plain", "USE information_schema", resets, "SELECT @@character_set_client, @@character_set_results, @@collation_connection, DATABASE()", "SELECT FOUND_ROWS()"},
	"a change of user":                 {"SET NAMES latin1", "USE information_schema", "SET autocommit = 0", changesUser, "SELECT @@character_set_client, DATABASE()", "SELECT @@autocommit"},
	"SET TRANSACTION off autocommit":   {"SET TRANSACTION READ ONLY", "SET autocommit = 0", "INSERT INTO plain VALUES ({k}, 'new')", "UPDATE product SET price = price + {k}", "SELECT id FROM plain", "DELETE FROM test_order WHERE buyer_uid = {k}", "ROLLBACK", "DELETE FROM plain WHERE id = 2", "COMMIT"},
	"SET TRANSACTION that stands":      {"SET TRANSACTION READ ONLY", "UPDATE product SET price = price + {k}", "DO 1", "SELECT nothing FROM test_order", "HANDLER plain CLOSE", "UPDATE test_order SET amount = amount + 1"},
	"SET TRANSACTION on a pin":         {"CREATE TEMPORARY TABLE tt (a INT)", "SET TRANSACTION READ ONLY", "HANDLER plain CLOSE", "ROLLBACK", "UPDATE plain SET note = '{k}'"},
	"SET TRANSACTION and CHAIN":        {"SET TRANSACTION READ ONLY", "COMMIT AND CHAIN", "INSERT INTO test_order (buyer_uid, amount, status) VALUES ({k}, 1, 'two'), (16, 2, 'two')", "ROLLBACK"},
	"SET SESSION TRANSACTION, within":  {"BEGIN", "SET SESSION TRANSACTION READ ONLY", "UPDATE test_order SET amount = amount + 1, status = 'within' WHERE buyer_uid IN ({k}, 15)", "UPDATE plain SET note = '{k}'", "COMMIT AND CHAIN", "UPDATE product SET price = price + 1", "COMMIT", "UPDATE plain SET note = 'no'"},
	"SET SESSION TRANSACTION, before":  {"SET TRANSACTION READ WRITE", "SET SESSION TRANSACTION READ ONLY", "BEGIN", "UPDATE test_order SET amount = amount + {k}", "ROLLBACK"},
	"a reading one, begun anew":        {"START TRANSACTION READ ONLY", "BEGIN", "DELETE FROM test_order WHERE buyer_uid = {k}", "ROLLBACK"},
	"a write that fails":               {"SET autocommit = 0", "INSERT INTO product VALUES (4, 'p', {k})", "SET autocommit = 0", "UPDATE product SET price = price + 1", "ROLLBACK"},
	"a gathered read within":           {"BEGIN", "DELETE FROM test_order WHERE buyer_uid = {k}", "SELECT COUNT(*) FROM test_order o JOIN plain p ON p.id = o.buyer_uid", "ROLLBACK"},
	"a pin, and a write refused":       {"CREATE TEMPORARY TABLE tt (a INT)", "SET SESSION TRANSACTION READ ONLY", "UPDATE test_order SET amount = amount + 2", "SELECT a FROM tt"},
}

// Transactions and locks are kept, with statements as text and with prepared statements.
func TestTransactionsAndLocksAreKept(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for name, texts := range keepings {
			for k := 1; k <= 4; k++ {
				steps := make([]step, len(texts))
				for i, text := range texts {
					text = strings.ReplaceAll(text, "{k}", fmt.Sprint(k))
					steps[i] = step{text, k%2 == 0 && text != resets && text != changesUser}
				}
				if difference, done, _ := s.played(t, steps); difference != "" {
					t.Errorf("%s: %s, after\n  %s", name, difference, strings.ReplaceAll(inLines(steps[:done]), "\n", "\n  "))
				}
			}
		}
	})
}
