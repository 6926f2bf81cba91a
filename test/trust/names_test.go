package trust

import (
	"testing"
)

// A name means all that it means on one server, or the statement is refused.
func TestNames(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		for _, g := range []group{views, programs, functions, tablesElsewhere} {
			g.try(t, s)
		}
		s.try(t, definitions...)
		s.try(t, boundNames...)
	})
}

// group is statements on the same objects, which are made on each shard and on the plain
// server: as refusals once advised.
type group struct {
	everywhere, clear []string
	refused           []string // with the type of each statement
	say               []string
	answered          []string // with the plain server's answer
	others            []attack
}

func (g group) try(t *testing.T, s *stand) {
	for _, admin := range s.admins {
		admin.must(t, g.everywhere...)
	}
	s.noticed(t, g.everywhere)
	for _, say := range g.say {
		s.try(t, attack{name: say, say: []string{say}, refused: g.refused})
	}
	for _, say := range g.answered {
		s.try(t, attack{name: say, say: []string{say}, refused: []string{""}})
	}
	s.try(t, g.others...)
	for _, text := range g.clear {
		for _, admin := range s.admins {
			admin.must(t, text)
		}
	}
	s.noticed(t, g.clear)
}

var views = group{
	everywhere: []string{
		"CREATE VIEW v AS SELECT order_id, order_no, buyer_uid, status, version FROM test_order", "CREATE VIEW w AS SELECT buyer_uid AS b FROM v", "CREATE VIEW x AS SELECT b FROM w",
		"CREATE ALGORITHM = TEMPTABLE SQL SECURITY INVOKER VIEW y AS SELECT buyer_uid FROM test_order", "CREATE VIEW z AS SELECT * FROM product",
		"CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM test_order)", "CREATE VIEW u AS SELECT f() AS n",
	},
	clear:   []string{"DROP VIEW u, v, w, x, y, z, another", "DROP FUNCTION f"},
	refused: []string{"1007"},
	say: []string{
		"SELECT n FROM u", "LOCK TABLES u READ",
		"DELETE FROM v", "DELETE FROM v WHERE buyer_uid = 7", "UPDATE v SET status = 'x'", "UPDATE z SET price = 9",
		"UPDATE plain, v SET plain.note = 'x' WHERE v.buyer_uid = plain.id", "DELETE plain FROM plain JOIN v ON v.buyer_uid = plain.id", "DELETE v FROM v JOIN plain ON v.buyer_uid = plain.id",
		"INSERT INTO v VALUES (1, 1, 1, 'x', 1)", "REPLACE INTO v VALUES (1, 1, 1, 'x', 1)", "INSERT INTO plain SELECT 1000 + COUNT(*), 'x' FROM v",
		"INSERT INTO plain VALUES ((SELECT 1000 + COUNT(*) FROM v), 'x')",

		"CREATE TABLE copied AS SELECT * FROM v", "CREATE TEMPORARY TABLE copied AS SELECT * FROM v",
		"CREATE PROCEDURE another() SELECT * FROM v",
		"SELECT COUNT(*) FROM v FOR UPDATE",
	},
	answered: []string{
		"SELECT COUNT(*) FROM v", "SELECT COUNT(*) FROM `v`", "SELECT COUNT(*) FROM x", "SELECT COUNT(*) FROM y",
		"SELECT COUNT(*) FROM v AS test_order", "SELECT * FROM z", "SELECT * FROM plain WHERE id IN (SELECT buyer_uid FROM v)", "SELECT EXISTS (SELECT 1 FROM v WHERE buyer_uid = 12)",
		"WITH q AS (SELECT * FROM v) SELECT COUNT(*) FROM q", "SELECT 1 UNION ALL SELECT buyer_uid FROM v", "SELECT (SELECT COUNT(*) FROM v)", "SELECT COUNT(*) FROM (SELECT * FROM v) q",
		"SELECT COUNT(*) FROM test_order JOIN v USING (order_id)", "SELECT COUNT(*) FROM plain LEFT JOIN v ON v.buyer_uid = plain.id", "PREPARE p FROM 'SELECT COUNT(*) FROM v'", "CREATE VIEW another AS SELECT * FROM v",
		"CREATE OR REPLACE VIEW v AS SELECT buyer_uid FROM test_order", "SELECT /*+ x */ COUNT(*) /* y */ FROM /* z */ v",
		"LOCK TABLES v READ", "LOCK TABLES x READ, test_order WRITE",
	},
	others: []attack{
		{name: "by the binary protocol", args: []any{12}, refused: []string{""}, say: []string{"SELECT COUNT(*) FROM v WHERE buyer_uid > ?"}},
		{name: "TABLE", say: []string{"TABLE v"}},
		{name: "what can't be read", say: []string{"SELECT COUNT(*) FROM v PROCEDURE ANALYSE()"}},
		{name: "DROP VIEW", refused: []string{"1006"}, say: []string{"DROP VIEW nothing, v"}},
		{name: "a temporary table hides one", say: []string{"CREATE TEMPORARY TABLE v (id INT)", "INSERT INTO v VALUES (7)", "SELECT * FROM v"}},
	},
}

var programs = group{
	everywhere: []string{
		"CREATE PROCEDURE p() SELECT COUNT(*) FROM test_order", "CREATE PROCEDURE q() BEGIN CALL p(); END", "CREATE PROCEDURE d() DELETE FROM `test_order`",
		"CREATE PROCEDURE one(n INT) IF n > 0 THEN CALL two(n - 1); END IF", "CREATE PROCEDURE two(n INT) IF n > 0 THEN CALL one(n - 1); ELSE DELETE FROM test_order; END IF",
		"CREATE PROCEDURE commented() DELETE /*!50000 FROM test_order */",
		"CREATE PROCEDURE dyn() BEGIN SET @q = CONCAT('SELECT COUNT(*) FROM test_', 'order'); PREPARE x FROM @q; EXECUTE x; END",
		"CREATE TABLE noted (n INT)", "CREATE TRIGGER fires AFTER INSERT ON test_order FOR EACH ROW INSERT INTO noted VALUES (1)",
		"CREATE TRIGGER alters BEFORE INSERT ON product FOR EACH ROW SET NEW.price = 1",
	},
	clear: []string{
		"DROP TRIGGER fires", "DROP TRIGGER alters", "DROP TABLE noted", "DROP PROCEDURE p", "DROP PROCEDURE q", "DROP PROCEDURE d", "DROP PROCEDURE one", "DROP PROCEDURE two",
		"DROP PROCEDURE commented", "DROP PROCEDURE dyn",
	},
	refused: []string{"1007"},
	say: []string{
		"CALL p()", "CALL P", "CALL `p`()", "CALL q()", "CALL d()", "CALL one(3)", "CALL commented()", "CALL dyn()",
		"INSERT INTO test_order (buyer_uid, amount) VALUES (7, 1)", "DELETE FROM test_order WHERE buyer_uid = 7", "UPDATE test_order SET status = 'x' WHERE buyer_uid = 7",
		"INSERT INTO product VALUES (9, 'x', 9)", "UPDATE product SET price = 7",
	},
	others: []attack{
		{name: "a function's name", refused: []string{"1006"}, say: []string{"SELECT COUNT(*) FROM noted"}},
		{
			name: "a package", on: "mariadb", everywhere: []string{"SET sql_mode = ORACLE", "CREATE PACKAGE pk AS PROCEDURE r; END", "CREATE PACKAGE BODY pk AS PROCEDURE r AS BEGIN DELETE FROM test_order; END; END", "SET sql_mode = DEFAULT"},
			clear: []string{"SET sql_mode = ORACLE", "DROP PACKAGE pk", "SET sql_mode = DEFAULT"}, refused: []string{"1007"}, say: []string{"CALL pk.r()"},
		},
		{name: "EXECUTE IMMEDIATE", on: "mariadb", everywhere: []string{"CREATE PROCEDURE r() EXECUTE IMMEDIATE CONCAT('SELECT COUNT(*) FROM test_', 'order')"}, clear: []string{"DROP PROCEDURE r"}, refused: []string{"1007"}, say: []string{"CALL r()"}},
		{name: "a procedure of the server's own", on: "mysql", say: []string{"CALL sys.execute_prepared_stmt('DELETE FROM test_order')"}, refused: []string{"1007", "1008"}},
	},
}

var functions = group{
	everywhere: []string{
		"CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM test_order)",
		"CREATE FUNCTION g() RETURNS INT DETERMINISTIC MODIFIES SQL DATA BEGIN DELETE FROM test_order; RETURN f(); END",
	},
	clear:   []string{"DROP FUNCTION f", "DROP FUNCTION g"},
	refused: []string{"1007"},
	say: []string{
		"SELECT f()", "SELECT id, f() FROM plain", "SELECT f() FROM test_order WHERE buyer_uid = 7", "SELECT COUNT(*) FROM test_order WHERE f() > 1", "INSERT INTO plain VALUES (f() + 1000, 'x')",
		"UPDATE plain SET note = f()", "DELETE FROM plain WHERE id < g()", "SELECT id FROM plain ORDER BY g()", "SELECT `G`()", "SELECT G ()", "SELECT 1 FROM plain GROUP BY g()", "SELECT MAX(g()) FROM plain",
		"SELECT * FROM (SELECT g()) x", "INSERT INTO plain (id, note) VALUES (5, 'x') ON DUPLICATE KEY UPDATE note = g()", "REPLACE INTO plain SELECT g(), 'x'", "CREATE VIEW another AS SELECT g()",
	},
	others: []attack{
		{name: "SET", say: []string{"SET @n = f()", "SELECT @n"}},
		{name: "DO", say: []string{"DO g()"}},
		{name: "CALL", say: []string{"CALL nothing(g())"}},
		{name: "LIMIT of what is prepared", say: []string{"PREPARE x FROM 'SELECT id FROM plain WHERE id > ?'", "SET @n = g()", "EXECUTE x USING @n"}},
		{
			name: "by the name of the other engine's", on: "mysql", everywhere: []string{"CREATE FUNCTION nvl(a INT, b INT) RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM test_order)"},
			clear: []string{"DROP FUNCTION nvl"}, refused: []string{"1007"}, say: []string{"SELECT nvl(1, 2)"},
		},
	},
}

var tablesElsewhere = group{
	everywhere: []string{"CREATE TABLE several (id INT PRIMARY KEY) PARTITION BY HASH (id) PARTITIONS 2"},
	clear:      []string{"DROP TABLE several"},
	refused:    []string{"1006"},
	say: []string{
		"SELECT COUNT(*) FROM several", "INSERT INTO several VALUES (1)", "ALTER TABLE several ADD x INT", "DROP TABLE several", "TRUNCATE TABLE several", "RENAME TABLE several TO another",
		"CREATE TABLE several (id INT)", "CREATE TABLE IF NOT EXISTS several (id INT)", "CREATE VIEW v AS SELECT * FROM several", "SELECT COUNT(*) FROM several PARTITION (p0)",
		"CREATE INDEX i ON several (id)", "LOCK TABLES several WRITE", "ANALYZE TABLE several", "RENAME TABLE plain TO several", "CREATE TABLE another LIKE several",
	},
	others: append(temporaries,
		attack{name: "HANDLER", say: []string{"HANDLER several OPEN", "HANDLER several READ FIRST"}},
		attack{name: "a sequence", on: "mariadb", everywhere: []string{"CREATE SEQUENCE sq"}, clear: []string{"DROP SEQUENCE sq"}, say: []string{"SELECT COUNT(*) FROM sq", "SELECT NEXT VALUE FOR sq"}},
	),
}

var definitions = []attack{
	{name: "a view over a sharded table is defined", say: []string{"CREATE VIEW v AS SELECT * FROM test_order"}, refused: []string{""}, after: []string{"DROP VIEW v"}},
	{name: "one with a derived table", say: []string{"CREATE OR REPLACE VIEW v AS SELECT * FROM (SELECT buyer_uid FROM test_order) x"}, refused: []string{""}, after: []string{"DROP VIEW v"}},
	{name: "one over a common table expression", say: []string{"CREATE VIEW v AS WITH x AS (SELECT buyer_uid FROM test_order) SELECT * FROM x"}, after: []string{"DROP VIEW v"}},
	{name: "one over a global table is defined", say: []string{"CREATE VIEW v AS SELECT * FROM product"}, refused: []string{""}, after: []string{"DROP VIEW v"}},
	{name: "a view is altered", setup: []string{"CREATE VIEW v AS SELECT id FROM plain"}, after: []string{"DROP VIEW v"}, say: []string{"ALTER VIEW v AS SELECT buyer_uid AS id FROM test_order", "SELECT COUNT(*) FROM v"}},
	{name: "a procedure is defined", say: []string{"CREATE PROCEDURE p() SELECT COUNT(*) FROM test_order"}, refused: []string{"1007"}, after: []string{"DROP PROCEDURE p"}},
	{name: "a function is defined", say: []string{"CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM test_order)"}, refused: []string{"1007"}, after: []string{"DROP FUNCTION f"}},
	{name: "a trigger is defined", say: []string{"CREATE TRIGGER g AFTER INSERT ON plain FOR EACH ROW DELETE FROM test_order"}, refused: []string{"1007"}, after: []string{"DROP TRIGGER g"}},
	{name: "a trigger of a sharded table is defined", say: []string{"CREATE TRIGGER g BEFORE INSERT ON test_order FOR EACH ROW SET NEW.status = 'x'"}, refused: []string{"1007"}, after: []string{"DROP TRIGGER g"}},
	{name: "an event is defined", say: []string{"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO DELETE FROM test_order"}, refused: []string{"1007"}, after: []string{"DROP EVENT e"}},
	{name: "a definition with dynamic SQL", say: []string{"CREATE PROCEDURE p() BEGIN SET @q = 'DELETE FROM anything'; PREPARE x FROM @q; EXECUTE x; END"}, refused: []string{"1007"}, after: []string{"DROP PROCEDURE p"}},
	{name: "a procedure on single tables", setup: []string{"CREATE PROCEDURE p() UPDATE plain SET note = 'p'"}, after: []string{"DROP PROCEDURE p"}, say: []string{"CALL p()", "SELECT * FROM plain"}},
	{name: "a function on single tables", setup: []string{"CREATE FUNCTION f(n INT) RETURNS INT DETERMINISTIC RETURN n + 1"}, after: []string{"DROP FUNCTION f"}, say: []string{"SELECT f(id) FROM plain"}},
	{name: "a trigger on single tables", setup: []string{"CREATE TRIGGER g BEFORE INSERT ON plain FOR EACH ROW SET NEW.note = 'g'"}, after: []string{"DROP TRIGGER g"}, say: []string{"INSERT INTO plain VALUES (77, 'x')", "SELECT * FROM plain"}},
	{
		name:       "a view over single tables is theirs",
		everywhere: nil, setup: []string{"CREATE VIEW v AS SELECT id, note FROM plain"}, after: []string{"DROP VIEW v"},
		say: []string{"SELECT COUNT(*) FROM v", "UPDATE v SET note = 'x' WHERE id = 1", "INSERT INTO v VALUES (12, 'y')", "DELETE FROM v WHERE id = 2", "DESCRIBE v"},
	},
	{
		name: "a view over a table that is another's name then", setup: []string{"CREATE TABLE x1 (id INT PRIMARY KEY)", "CREATE VIEW v AS SELECT id FROM x1"}, after: []string{"DROP VIEW v", "DROP TABLE x1"},
		say: []string{"DROP TABLE x1", "CREATE TABLE x1 (id INT PRIMARY KEY)", "INSERT INTO x1 VALUES (3)", "SELECT * FROM v"},
	},
	{name: "a sharded table is renamed", say: []string{"RENAME TABLE order_item TO item", "SELECT COUNT(*) FROM item", "SELECT COUNT(*) FROM order_item", "RENAME TABLE item TO order_item"}},
	{name: "by ALTER TABLE", say: []string{"ALTER TABLE order_item RENAME TO item", "SELECT COUNT(*) FROM item", "ALTER TABLE item RENAME order_item"}},
}

var temporaries = []attack{
	{name: "a temporary table by an ambiguous name", say: []string{
		"CREATE TEMPORARY TABLE several (id INT)", "INSERT INTO several VALUES (7)", "SELECT * FROM several",
	}},
	{name: "its end", refused: []string{"1006"}, say: []string{
		"CREATE TEMPORARY TABLE several (id INT)", "SELECT * FROM several", "DROP TEMPORARY TABLE several", "SELECT * FROM several",
	}},
	{name: "what was prepared before its end", refused: []string{"1006"}, say: []string{
		"CREATE TEMPORARY TABLE several (id INT)", "PREPARE p FROM 'SELECT COUNT(*) FROM several'", "EXECUTE p", "DROP TEMPORARY TABLE several", "EXECUTE p",
	}},
	{name: "one by a sharded table's name", say: []string{"CREATE TEMPORARY TABLE test_order (id INT)"}, refused: []string{"1003"}},
	{name: "one by a sharded table's name in another case", say: []string{"CREATE TEMPORARY TABLE Test_Order (id INT)", "SELECT COUNT(*) FROM test_order"}, refused: []string{"1004"}},
	{name: "one that hides a single table", say: []string{"CREATE TEMPORARY TABLE plain (id INT)", "SELECT COUNT(*) FROM plain", "DROP TABLE plain", "SELECT COUNT(*) FROM plain"}},
	{name: "one of another session", setup: []string{"CREATE TABLE mine (id INT PRIMARY KEY)"}, after: []string{"DROP TABLE mine"}, say: []string{"CREATE TEMPORARY TABLE mine (id INT)", "INSERT INTO mine VALUES (5)", "SELECT * FROM mine"}, look: []string{"SELECT * FROM mine"}},
	{name: "a common table expression by a sharded table's name", say: []string{"WITH test_order AS (SELECT 1 AS a) SELECT COUNT(*) FROM test_order"}},
	{name: "one that hides it within itself alone", say: []string{"WITH x AS (WITH test_order AS (SELECT 1 AS a) SELECT a FROM test_order) SELECT COUNT(*) FROM x, test_order"}},
	{name: "one by an ambiguous name", say: []string{"WITH several AS (SELECT 1 AS a) SELECT * FROM several"}},
}

var boundNames = []attack{
	{
		name: "a view beyond the bounds", user: "narrow", setup: []string{"CREATE VIEW v AS SELECT * FROM secret"}, after: []string{"DROP VIEW v"}, refused: []string{"#1142"},
		say: []string{"SELECT * FROM v"},
	},
	{
		name: "an INVOKER view within the bounds", user: "database", everywhere: []string{"CREATE SQL SECURITY INVOKER VIEW v AS SELECT user FROM mysql.user"}, clear: []string{"DROP VIEW v"}, refused: []string{"#1142", "1007", "1008"},
		say: []string{"SELECT COUNT(*) FROM v"},
	},
	{
		name: "a DEFINER view within the bounds", user: "database", setup: []string{"CREATE VIEW v AS SELECT COUNT(*) AS n FROM plain"}, after: []string{"DROP VIEW v"},
		say: []string{"SELECT n FROM v"},
	},
}
