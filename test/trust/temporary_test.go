package trust

import "testing"

// temporary are scripts that create temporary tables from rows of several shards.
var temporary = []struct {
	name    string
	say     []string
	args    []any // of the last text
	refused string
}{
	{name: "rows", say: []string{
		"CREATE TEMPORARY TABLE n SELECT buyer_uid, amount, status FROM test_order", "SHOW CREATE TABLE n", "SELECT * FROM n",
		"INSERT INTO n (buyer_uid) VALUES (77)", "UPDATE n SET amount = 3 WHERE buyer_uid = 77", "SELECT COUNT(*), SUM(amount) FROM n", "DROP TEMPORARY TABLE n", "SELECT * FROM n",
	}},
	{name: "types", say: []string{
		"CREATE TEMPORARY TABLE n AS SELECT * FROM typed ORDER BY id", "SHOW CREATE TABLE n", "SELECT * FROM n", "SELECT id, HEX(o), HEX(b), c + 0, HEX(x) FROM n",
	}},
	{name: "groups", say: []string{
		"CREATE TEMPORARY TABLE n (KEY (c)) SELECT buyer_uid, COUNT(*) AS c, SUM(amount), MAX(status) AS latest, AVG(amount) AS a FROM test_order GROUP BY buyer_uid",
		"SHOW CREATE TABLE n", "SELECT * FROM n", "SELECT MAX(c) FROM n",
	}},
	{name: "the first rows", say: []string{
		"CREATE TEMPORARY TABLE n SELECT buyer_uid, amount FROM test_order ORDER BY buyer_uid, amount LIMIT 3", "SELECT * FROM n",
		"CREATE TEMPORARY TABLE m SELECT buyer_uid, amount FROM test_order ORDER BY buyer_uid, amount LIMIT 2, 3 -- the next", "SELECT * FROM m", "SELECT * FROM n JOIN m USING (buyer_uid)",
		"CREATE TEMPORARY TABLE o AS (SELECT buyer_uid FROM test_order WHERE amount > 1 ORDER BY buyer_uid LIMIT 2) UNION ALL (SELECT id FROM typed LIMIT 0) ORDER BY 1 LIMIT 1", "SELECT * FROM o", "SHOW CREATE TABLE o",
	}},
	{name: "fetched", say: []string{"CREATE TEMPORARY TABLE n SELECT id, t FROM typed ORDER BY id FETCH FIRST 2 ROWS ONLY", "SELECT * FROM n"}},
	{name: "numbered", say: []string{
		"CREATE TEMPORARY TABLE n (place INT AUTO_INCREMENT PRIMARY KEY, seen INT DEFAULT 5) SELECT buyer_uid, amount FROM test_order ORDER BY buyer_uid, amount", "SELECT * FROM n", "SELECT LAST_INSERT_ID()", "SHOW WARNINGS",
	}},
	{name: "other columns", say: []string{
		"CREATE TEMPORARY TABLE n (amount BIGINT, extra INT) ENGINE = InnoDB SELECT buyer_uid, amount, 1 + 1, 'x' FROM test_order WHERE buyer_uid IN (SELECT id FROM typed)", "SHOW CREATE TABLE n", "SELECT * FROM n",
	}},
	{name: "within a transaction", say: []string{
		"BEGIN", "CREATE TEMPORARY TABLE n SELECT id FROM typed", "INSERT INTO n VALUES (77)", "ROLLBACK", "SELECT * FROM n", "BEGIN", "INSERT INTO n VALUES (78)", "COMMIT", "SELECT * FROM n",
	}},
	{name: "after changes of the transaction", say: []string{
		"BEGIN", "UPDATE plain SET note = 'x'", "UPDATE typed SET t = 'changed' WHERE id = 2", "CREATE TEMPORARY TABLE n SELECT id, t FROM typed", "SELECT * FROM n", "ROLLBACK", "SELECT COUNT(*) FROM typed WHERE t = 'changed'",
	}},
	{name: "without autocommit", say: []string{
		"SET autocommit = 0", "CREATE TEMPORARY TABLE n SELECT id FROM typed", "COMMIT", "SELECT * FROM n", "DROP TEMPORARY TABLE n",
	}},
	{name: "duplicates", say: []string{
		"CREATE TEMPORARY TABLE n (PRIMARY KEY (d)) SELECT 1 AS d, id FROM typed", "SELECT * FROM n", "CREATE TEMPORARY TABLE n (PRIMARY KEY (id)) SELECT id FROM typed", "SELECT * FROM n",
		"CREATE TEMPORARY TABLE m (PRIMARY KEY (d)) IGNORE SELECT 1 AS d, id FROM typed ORDER BY id", "SELECT * FROM m",
		"CREATE TEMPORARY TABLE o (PRIMARY KEY (d)) REPLACE SELECT 1 AS d, id FROM typed ORDER BY id", "SELECT * FROM o",
	}},
	{name: "values that do not fit", say: []string{
		"CREATE TEMPORARY TABLE n (amount TINYINT) SELECT n * 1000 AS amount FROM typed ORDER BY id", "SELECT * FROM n",
		"SET sql_mode = ''", "CREATE TEMPORARY TABLE n (amount TINYINT) SELECT n * 1000 AS amount FROM typed ORDER BY id", "SHOW WARNINGS", "SELECT * FROM n",
	}},
	{name: "errors are shown", say: []string{"CREATE TEMPORARY TABLE n (PRIMARY KEY (d)) SELECT 1 AS d, id FROM typed ORDER BY id", "SHOW WARNINGS", "SHOW ERRORS"}},
	{name: "a query that warns, strict", say: []string{"CREATE TEMPORARY TABLE n SELECT id, t + 1 AS t FROM typed"}, refused: "1102"},
	{name: "a query that warns", say: []string{"SET sql_mode = ''", "CREATE TEMPORARY TABLE n SELECT id, t + 1 AS t FROM typed ORDER BY id", "SHOW WARNINGS", "SELECT * FROM n"}},
	{name: "a name that exists", say: []string{
		"CREATE TEMPORARY TABLE n SELECT id FROM typed", "CREATE TEMPORARY TABLE n SELECT id, t FROM typed", "CREATE TEMPORARY TABLE IF NOT EXISTS n SELECT id, t FROM typed", "SHOW WARNINGS", "SELECT * FROM n",
	}},
	{name: "gathered next to a temporary table", say: []string{
		"CREATE TEMPORARY TABLE n SELECT id FROM typed", "SELECT COUNT(DISTINCT amount) FROM test_order", "SELECT COUNT(*) FROM typed a JOIN test_order b ON a.id = b.amount", "SELECT COUNT(*) FROM n",
	}},
	{name: "like", say: []string{"CREATE TEMPORARY TABLE n LIKE test_order", "SELECT COUNT(*) FROM n"}},
	{name: "like one with a hidden column", say: []string{"CREATE TEMPORARY TABLE n LIKE typed"}, refused: "1003"},
	{name: "of global rows", say: []string{"CREATE TEMPORARY TABLE n SELECT * FROM setting", "SELECT COUNT(*) FROM n", "CREATE TEMPORARY TABLE m LIKE setting", "SELECT * FROM m"}},
	{name: "no table", say: []string{"CREATE TEMPORARY TABLE n SELECT nothing FROM typed", "SELECT * FROM n", "CREATE TEMPORARY TABLE nowhere.n SELECT id FROM typed"}},
	{name: "prepared", say: []string{"CREATE TEMPORARY TABLE n SELECT id, ? AS p FROM typed WHERE id > ? ORDER BY id LIMIT 2"}, args: []any{7, 1}},
	{name: "prepared as a text", say: []string{
		"PREPARE p FROM 'CREATE TEMPORARY TABLE n SELECT id FROM typed WHERE id > ?'", "SET @from = 2", "EXECUTE p USING @from", "SELECT * FROM n",
	}},
	{name: "of the session", say: []string{"SET @a = 5", "CREATE TEMPORARY TABLE n SELECT id, @a AS a, 1 > 0 AS b FROM typed", "SELECT * FROM n"}},
	{name: "a join with a temporary table", say: []string{"CREATE TEMPORARY TABLE n SELECT id FROM typed", "CREATE TEMPORARY TABLE m SELECT n.id FROM n JOIN typed USING (id)"}, refused: "1102"},
	{name: "a gathered join with a temporary table", say: []string{"CREATE TEMPORARY TABLE n SELECT id FROM typed", "SELECT COUNT(*) FROM n JOIN typed ON typed.t = n.id"}, refused: "1102"},
	{name: "assigned", say: []string{"CREATE TEMPORARY TABLE n SELECT @v := id FROM typed"}, refused: "1102"},
}

// typed is a table with columns of all kinds.
const typed = "CREATE TABLE typed (id INT NOT NULL PRIMARY KEY, big BIGINT UNSIGNED DEFAULT 3, n DECIMAL(12,4) NOT NULL DEFAULT 1, f FLOAT, d DOUBLE, t VARCHAR(40) CHARACTER SET latin1 NOT NULL DEFAULT 'x' COMMENT 'a text', l TEXT, " +
	"e ENUM('a','b') DEFAULT 'b', s SET('x','y'), b BIT(5), o BLOB, x VARBINARY(5), da DATE, ti TIME(3), dt DATETIME(6) DEFAULT CURRENT_TIMESTAMP(6), y YEAR, j JSON, c INT AS (id * 2) STORED, KEY (t)) COMMENT 'locus: owner=id'"

// A temporary table with the rows of several shards has the columns and rows that one server would give it.
func TestTemporaryTablesOfShards(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		rows := `INSERT INTO typed (id, big, n, f, d, t, l, e, s, b, o, x, da, ti, dt, y, j) VALUES
			(1, 18446744073709551615, -1.5, 1.1, 1e300, 'ä\'\\', 'long', 'a', 'x,y', b'10101', x'00ff27', x'2700', '2020-02-29', '-12:30:01.250', '2020-01-01 00:00:00.123456', 2020, '{"k": [1, "ü"]}'),
			(2, NULL, 0, NULL, NULL, '', NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL), (3, 0, 99999999.9999, -0.1, 0.1, REPEAT('y', 40), '', 'b', '', b'0', '', 'a', '1000-01-01', '838:59:59', '9999-12-31 23:59:59', 1999, 'null')`
		for _, side := range []*session{s.app, s.plain} {
			side.must(t, typed, rows)
			defer side.say("DROP TABLE typed")
		}
		for _, c := range temporary {
			t.Run(c.name, func(t *testing.T) {
				refusal, d := s.attacked(t, &attack{say: c.say, args: c.args})
				if refusal != c.refused || d != "" {
					t.Errorf("%s: refusal %q, want %q; %s", s.engine, refusal, c.refused, d)
				}
			})
		}
	})
}
