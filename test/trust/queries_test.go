package trust

import "testing"

// Forms of queries that few people write: TABLE, VALUES, and INTO @x wherever
// servers take it.
func TestRareFormsOfQueries(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t, tableStatements...)
		s.try(t, assigning(assigningOnce...)...)
		s.try(t, explainedQueries...)
		s.try(t, moreQueries()...)
		s.try(t, textsAsBytes()...)
	})
}

// textsAsBytes are queries whose texts the client gets as byte strings. They are still compared by their collation.
func textsAsBytes() (all []attack) {
	for _, names := range []string{"NAMES binary", "character_set_results = binary", "character_set_results = NULL"} {
		for _, query := range []string{
			"SELECT MIN(CONCAT(status)), MAX(CONCAT(status)) FROM test_order",
			"SELECT CONCAT(status) s, amount FROM test_order ORDER BY s, amount, order_id LIMIT 36",
			"SELECT COALESCE(status, 0) s FROM test_order ORDER BY s LIMIT 36",
			"SELECT status FROM test_order ORDER BY status LIMIT 36",
			"SELECT CAST(status AS BINARY) s FROM test_order ORDER BY s LIMIT 36",
			"SELECT MAX(CAST(status AS BINARY)) FROM test_order",
		} {
			all = append(all, attack{name: names + ": " + query, say: []string{
				"UPDATE test_order SET status = CASE MOD(buyer_uid, 3) WHEN 0 THEN 'a' WHEN 1 THEN 'B' ELSE 'c' END", "SET " + names, query,
			}})
		}
	}
	return all
}

// tableStatements are statements with TABLE and VALUES. MariaDB has no TABLE.
var tableStatements = []attack{
	{name: "TABLE, alone", say: []string{"TABLE plain"}},
	{name: "TABLE, ordered", say: []string{"TABLE plain ORDER BY id DESC"}},
	{name: "TABLE, limited", say: []string{"TABLE plain ORDER BY id DESC LIMIT 1"}},
	{name: "TABLE, limited, offset", say: []string{"TABLE plain ORDER BY id LIMIT 1 OFFSET 1", "TABLE plain ORDER BY id LIMIT 1, 1"}},
	{name: "TABLE of a global table", say: []string{"TABLE product ORDER BY product_id LIMIT 2", "TABLE product"}},
	{name: "TABLE of a sharded table", say: []string{"TABLE test_order"}},
	{name: "TABLE of a sharded table, ordered", say: []string{"TABLE test_order ORDER BY order_id LIMIT 3"}},
	{name: "TABLE of a sharded table, ordered only", say: []string{"TABLE test_order ORDER BY order_id"}},
	{name: "TABLE of a sharded table, limited only", say: []string{"TABLE test_order LIMIT 0"}},
	{name: "TABLE of a sharded table in parentheses", say: []string{"(TABLE test_order ORDER BY order_id LIMIT 3)"}},
	{name: "TABLE in parentheses", say: []string{"(TABLE plain ORDER BY id LIMIT 1)", "(TABLE plain) ORDER BY id LIMIT 1"}},
	{name: "TABLE of several", say: []string{"TABLE plain UNION TABLE secret", "TABLE plain UNION ALL SELECT 7, 'x' ORDER BY 1 LIMIT 2"}},
	{name: "TABLE of several, sharded", say: []string{"TABLE test_order UNION TABLE test_order", "SELECT buyer_uid FROM test_order UNION VALUES ROW(1)"}},
	{name: "EXISTS of TABLE", say: []string{"SELECT EXISTS (TABLE test_order)", "SELECT EXISTS (TABLE plain)"}},
	{name: "EXISTS of TABLE in WHERE", say: []string{"SELECT id FROM plain WHERE EXISTS (TABLE test_order)", "SELECT COUNT(*) FROM test_order WHERE EXISTS (TABLE plain)"}},
	{name: "EXISTS of TABLE ordered", say: []string{"SELECT EXISTS (TABLE test_order ORDER BY order_id LIMIT 1)", "SELECT EXISTS (TABLE plain LIMIT 1)"}},
	{name: "IN of TABLE", say: []string{"SELECT id FROM plain WHERE (id, note) IN (TABLE plain)", "SELECT id FROM plain WHERE (id, note) IN (TABLE secret)"}},
	{name: "IN of TABLE, sharded", say: []string{"SELECT id FROM plain WHERE (id, 1, 1, 1, 1, 1) IN (TABLE test_order)"}},
	{name: "IN of TABLE, ordered", say: []string{"SELECT id FROM plain WHERE (id, note) IN (TABLE plain ORDER BY id)"}},
	{name: "a row is TABLE", say: []string{"SELECT (1, 'hidden') = (TABLE secret)", "SELECT (1, 'hidden') = (TABLE secret LIMIT 1)"}},
	{name: "ANY of TABLE", say: []string{"SELECT COUNT(*) FROM product WHERE (1, 'hidden') = ANY (TABLE secret)"}},
	{name: "a derived TABLE", say: []string{"SELECT COUNT(*) FROM (TABLE plain) p", "SELECT COUNT(*) FROM (TABLE test_order) p", "SELECT COUNT(*) FROM (TABLE plain LIMIT 2) p", "SELECT COUNT(*) FROM (TABLE test_order LIMIT 2) p"}},
	{name: "TABLE in a WITH", say: []string{"WITH p AS (TABLE plain) SELECT COUNT(*) FROM p", "WITH p AS (TABLE test_order) SELECT COUNT(*) FROM p", "WITH p AS (SELECT 1 a) TABLE p", "WITH p AS (TABLE plain LIMIT 1) TABLE p"}},
	{name: "a qualified TABLE", say: []string{"SELECT COUNT(*) FROM plain WHERE EXISTS (TABLE `plain`)"}},
	{name: "TABLE behind comments", say: []string{"/* x */ TABLE /* y */ plain # z\nORDER BY id -- \n LIMIT 1"}},
	{name: "TABLE of the server's", say: []string{"SELECT COUNT(*) > 0 FROM (TABLE information_schema.tables) t", "SELECT EXISTS (TABLE information_schema.processlist)", "SELECT EXISTS (TABLE performance_schema.session_variables)"}},
	{name: "TABLE of the server's, bounded", user: "database", say: []string{"SELECT EXISTS (TABLE information_schema.tables) e", "SELECT COUNT(*) FROM (TABLE information_schema.schemata) t", "SELECT EXISTS (TABLE information_schema.processlist) e"}},
	{name: "an alias behind a comment", say: []string{"SELECT MIN(o.amount) + 0, COUNT(DISTINCT o.status) FROM test_order /* x */ o JOIN test_order -- y\n AS p ON o.amount = p.amount"}},
	{name: "TABLE, locked", say: []string{"TABLE plain ORDER BY id FOR UPDATE", "TABLE test_order FOR UPDATE"}},
	{name: "TABLE prepared", say: []string{"TABLE plain ORDER BY id LIMIT ?"}, args: []any{1}},
	{name: "INSERT of TABLE", say: []string{"INSERT INTO plain TABLE secret ON DUPLICATE KEY UPDATE note = 'again'"}},
	{name: "INSERT of TABLE, limited", say: []string{"DELETE FROM plain", "INSERT INTO plain TABLE secret ORDER BY a LIMIT 1", "SELECT * FROM plain"}},
	{name: "INSERT of TABLE, columns", say: []string{"DELETE FROM plain", "INSERT INTO plain (id, note) TABLE secret", "SELECT * FROM plain"}},
	{name: "REPLACE of TABLE", say: []string{"REPLACE INTO plain TABLE secret", "SELECT * FROM plain ORDER BY id"}},
	{name: "INSERT of TABLE, sharded", say: []string{"INSERT INTO test_order TABLE test_order"}},
	{name: "INSERT of TABLE, global", say: []string{"INSERT IGNORE INTO product TABLE product", "INSERT INTO plain SELECT product_id + 10, name FROM product"}},
	{name: "INSERT of VALUES ROW", say: []string{"INSERT INTO plain VALUES ROW(8, 'x'), ROW(9, 'y')", "SELECT * FROM plain ORDER BY id"}},
	{name: "INSERT of VALUES ROW, sharded", say: []string{"INSERT INTO test_order (buyer_uid, amount, status) VALUES ROW(8, 1, 'x'), ROW(9, 2, 'y')", "SELECT status FROM test_order WHERE buyer_uid = 8 ORDER BY 1"}},
	{name: "CREATE of TABLE", say: []string{"CREATE TEMPORARY TABLE made TABLE secret", "SELECT * FROM made"}},
	{name: "CREATE AS TABLE, sharded", say: []string{"CREATE TEMPORARY TABLE made AS TABLE test_order", "SELECT COUNT(*) FROM made"}},
	{name: "VALUES of rows", say: []string{"VALUES ROW(1, 2), ROW(3, 4)", "VALUES ROW(1), ROW(3) ORDER BY 1 DESC LIMIT 1", "VALUES ROW(1) UNION VALUES ROW(2)"}},
	{name: "VALUES of MariaDB", say: []string{"VALUES (1, 2), (3, 4)", "VALUES (1), (3) ORDER BY 1 DESC LIMIT 1", "VALUES (1) UNION VALUES (2)", "SELECT * FROM (VALUES (1), (2)) v"}},
	{name: "VALUES with a query", say: []string{"VALUES ROW((SELECT COUNT(*) FROM test_order))"}},
	{name: "VALUES of MariaDB with a query", say: []string{"VALUES ((SELECT COUNT(*) FROM test_order))"}},
	{name: "IN of VALUES", say: []string{"SELECT id FROM plain WHERE id IN (VALUES ROW(1), ROW(2))", "SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (VALUES ROW(1), ROW(2))"}},
	{name: "IN of VALUES, MariaDB", say: []string{"SELECT id FROM plain WHERE id IN (VALUES (1), (2))", "SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (VALUES (1), (2))"}},
	{name: "a derived VALUES", say: []string{"SELECT COUNT(*) FROM test_order JOIN (VALUES ROW(3), ROW(4)) v(b) ON buyer_uid = b", "SELECT * FROM (VALUES ROW(1), ROW(2)) v(c) ORDER BY c"}},
	{name: "VALUES in a WITH", say: []string{"WITH v(c) AS (VALUES ROW(1), ROW(2)) SELECT COUNT(*) FROM test_order JOIN v ON buyer_uid = c"}},
	{name: "VALUES in a WITH, MariaDB", say: []string{"WITH v(c) AS (VALUES (1), (2)) SELECT COUNT(*) FROM test_order JOIN v ON buyer_uid = c"}},
}

// assigningOnce are those after which @x was another than the plain server's, once.
var assigningOnce = []string{
	"SELECT id FROM plain WHERE id = 2 INTO @'x'", "SELECT id FROM plain WHERE id = 2 INTO @\"x\"",
	"SELECT id, note FROM plain WHERE id = 2 INTO /* a */ @y /* b */ , -- c\n @x # d\n",
	"(SELECT id FROM plain WHERE id = 2 INTO @x)", "(SELECT id INTO @x FROM plain WHERE id = 2)", "SELECT 1 UNION (SELECT 1 INTO @x)",
	"VALUES ROW(7) INTO @x", "(VALUES ROW(7) INTO @x)", "TABLE plain ORDER BY id LIMIT 1 INTO @x, @y", "TABLE secret FOR UPDATE INTO @x, @y", "SELECT @x := c FROM (VALUES ROW(4)) v(c)",
	"SELECT 7, 8 INTO @a.b, @x", "SET @y = (@x := 8)",
}

// assigning returns attacks that assign @x, and then read it.
func assigning(texts ...string) (list []attack) {
	for _, text := range texts {
		list = append(list, attack{name: text, setup: []string{"SET @x = 1"}, say: []string{"SET @x = 5, @y = 6", text, "SELECT @x, @y, @X", "SELECT COUNT(*), @x FROM test_order WHERE buyer_uid = 3", "SELECT @`a``b`, @ä, @a.b"}})
	}
	return list
}

// explainedQueries begin with a parenthesis, or with a word that few expect.
var explainedQueries = func() (list []attack) {
	for _, text := range []string{
		"EXPLAIN FORMAT=JSON (SELECT 1) UNION SELECT 2", "EXPLAIN (SELECT id FROM plain) UNION SELECT id FROM plain WHERE id = 1", "EXPLAIN ((SELECT id FROM plain))",
		"EXPLAIN (SELECT id FROM plain WHERE id = 1) UNION (SELECT id FROM plain) ORDER BY 1 LIMIT 1",
		"DESCRIBE (SELECT id FROM plain WHERE id = 1) UNION SELECT 2", "EXPLAIN /* (x */ (SELECT 1)", "DESC plain", "EXPLAIN plain id",
	} {
		list = append(list, attack{name: text, say: []string{text}})
	}
	return list
}()
