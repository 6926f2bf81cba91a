package trust

import (
	"fmt"
	"strings"

	"locus/router/catalog"
	"locus/router/cluster"
)

// allAdvice contains the advice of each kind of refusal, and statements that follow it.
var allAdvice = []advice{
	// 1001, 1002: errors in the text.
	{code: "1001", refused: "DELETE FROM test_order WHER buyer_uid = 7", says: "near", instead: []string{"DELETE FROM test_order WHERE buyer_uid = 7"}},
	{code: "1001", refused: "SELECT COUNT(*) FROM test_order WHERE status = 'old", instead: []string{"SELECT COUNT(*) FROM test_order WHERE status = 'old'"}},
	{
		code: "1001", on: "mariadb", refused: "INSERT INTO test_order (buyer_uid) VALUES (7) RETURNING (SELECT 1)",
		instead: []string{"INSERT INTO test_order (buyer_uid) VALUES (7) RETURNING buyer_uid"},
	},
	{code: "#1064", refused: "SELECT COUNT(*) FROM test_order; SELECT 2", prepared: true, instead: []string{"SELECT COUNT(*) FROM test_order", "SELECT 2"}},

	// 1003: unsupported; the text names an alternative.
	{
		code: "1003", refused: "INSERT INTO test_order (buyer_uid, amount) VALUES (7, @a := 5)", says: "in a statement of its own",
		instead: []string{"SET @a = 5", "INSERT INTO test_order (buyer_uid, amount) VALUES (7, @a)"},
	},
	{
		code: "1003", refused: "INSERT INTO test_order (buyer_uid, amount) VALUES (7, (SELECT MAX(price) FROM product))", says: "read the values, then insert them",
		instead: []string{"SELECT MAX(price) INTO @m FROM product", "INSERT INTO test_order (buyer_uid, amount) VALUES (7, @m)"},
	},
	{
		code: "1003", on: "mariadb", refused: "INSERT INTO test_order (buyer_uid, amount) SELECT product_id, price FROM product RETURNING amount", says: "read the rows in a statement of their own",
		instead: []string{"INSERT INTO test_order (buyer_uid, amount) SELECT product_id, price FROM product", "SELECT amount FROM test_order WHERE status = 'new'"},
	},
	{
		code: "1003", refused: "INSERT INTO ticket (owner, seat, note) SELECT buyer_uid, 1, 'x' FROM test_order WHERE buyer_uid = 7 ON DUPLICATE KEY UPDATE note = CONCAT(status, 'x')",
		says: "write VALUES(column)", instead: []string{
			"INSERT INTO ticket (owner, seat, note) SELECT buyer_uid, 1, status FROM test_order WHERE buyer_uid = 7 ON DUPLICATE KEY UPDATE note = CONCAT(VALUES(note), 'x')",
			"SELECT owner, seat, note FROM ticket",
		}, after: []string{"DELETE FROM ticket WHERE owner = 7"},
	},
	{
		code: "1003", refused: "INSERT INTO order_item (order_id, product_id) SELECT order_id, created_at FROM test_order", says: "CAST it to the column's type",
		instead: []string{"INSERT INTO order_item (order_id, product_id) SELECT order_id, CAST(created_at AS SIGNED) FROM test_order", "SELECT product_id, COUNT(*) FROM order_item GROUP BY product_id"},
	},
	{
		code: "1003", before: []string{"SET NAMES latin1"}, refused: "INSERT INTO order_item (order_id, product_id) SELECT order_id, 9 FROM test_order", says: "use SET NAMES utf8mb4",
		instead: []string{"SET NAMES utf8mb4", "INSERT INTO order_item (order_id, product_id) SELECT order_id, 9 FROM test_order"},
	},
	{
		code: "1102", before: []string{"LOCK TABLES test_order WRITE, order_item WRITE"}, refused: "INSERT INTO order_item (order_id, product_id) SELECT order_id, 9 FROM test_order",
		says: "end those first", instead: []string{"UNLOCK TABLES", "INSERT INTO order_item (order_id, product_id) SELECT order_id, 9 FROM test_order"},
	},
	{code: "1003", refused: "UPDATE product SET price = (SELECT COUNT(*) FROM plain)", says: "read the values first", instead: []string{"SELECT COUNT(*) INTO @n FROM plain", "UPDATE product SET price = @n"}},
	{code: "1003", refused: "UPDATE product SET price = RAND() WHERE product_id = 1", says: "give its value", instead: []string{"UPDATE product SET price = 0.25 WHERE product_id = 1"}},
	{code: "1003", refused: "DELETE FROM product ORDER BY product_id LIMIT 1", says: "name the rows in WHERE", instead: []string{"DELETE FROM product WHERE product_id = 1"}},
	{code: "1003", refused: "UPDATE product SET price = (@p := 7)", says: "give their values", instead: []string{"SET @p = 7", "UPDATE product SET price = 7"}},
	{
		code: "1003", on: "mariadb", refused: "INSERT INTO product VALUES (9, 'x', 9) RETURNING name", says: "read the rows in a statement of their own",
		instead: []string{"INSERT INTO product VALUES (9, 'x', 9)", "SELECT name FROM product WHERE product_id = 9"},
	},
	{code: "1003", refused: "FLUSH TABLES test_order", says: "run it on each shard, connected to it", shards: []string{"FLUSH TABLES test_order"}, instead: []string{"SELECT COUNT(*) FROM test_order"}},
	{code: "1003", refused: "CHECK TABLE plain, test_order", says: "name it in a statement of its own", instead: []string{"CHECK TABLE plain", "CHECK TABLE test_order"}},
	{
		code: "1003", refused: "CREATE TABLE clock (k INT NOT NULL PRIMARY KEY) SELECT product_id AS k FROM product", says: "create it with its columns, then INSERT … SELECT",
		instead: []string{"INSERT INTO clock (k) SELECT product_id FROM product", "SELECT k FROM clock ORDER BY k", "DELETE FROM clock"},
	},
	{
		code: "1003", refused: "CREATE TABLE goods SELECT * FROM product", says: "create the new table on every shard, without a foreign key to that one, and declare it in cluster.yaml",
		shards: []string{"CREATE TABLE goods LIKE product"},
		declare: func(c *cluster.Cluster, schema string) {
			c.Tables[catalog.TableName{Schema: schema, Name: "goods"}] = catalog.Declaration{Kind: catalog.Global}
		},
		alone:   []string{"INSERT INTO goods SELECT * FROM product", "UPDATE goods SET price = 3"},
		instead: []string{"UPDATE test_order, (SELECT 1 a) b SET amount = 1 WHERE buyer_uid = 7"}, clear: []string{"DROP TABLE goods"},
	},
	{
		code: "1003", refused: "RENAME TABLE clock TO watch, plain TO plainer", says: "write one statement for each",
		instead: []string{"RENAME TABLE clock TO watch", "SELECT COUNT(*) FROM watch", "RENAME TABLE plain TO plainer"}, clear: []string{"RENAME TABLE watch TO clock", "RENAME TABLE plainer TO plain"},
	},
	{
		code: "1003", refused: "CREATE TEMPORARY TABLE product (id INT)", says: "give it another name",
		instead: []string{"CREATE TEMPORARY TABLE product_t (id INT)", "INSERT INTO product_t VALUES (5)", "SELECT * FROM product_t", "DROP TEMPORARY TABLE product_t"},
	},
	{code: "1003", refused: "SET @n = (SELECT COUNT(*) FROM test_order), @m = 1", says: "use SELECT … INTO for each user variable", instead: []string{"SELECT COUNT(*) INTO @n FROM test_order", "SET @m = 1", "SELECT @n, @m"}},
	{code: "1003", refused: "XA START 'locus-1'", says: "give it another name, in quotes", instead: []string{"XA START 'mine'", "UPDATE plain SET note = 'x' WHERE id = 1", "XA END 'mine'", "XA ROLLBACK 'mine'"}},
	{
		code: "1003", before: []string{"PREPARE p FROM 'SELECT status, COUNT(DISTINCT amount) FROM test_order GROUP BY status'", "SET sql_mode = 'ANSI_QUOTES'"}, refused: "EXECUTE p", says: "prepare it again",
		instead: []string{"PREPARE p FROM 'SELECT status, COUNT(DISTINCT amount) FROM test_order GROUP BY status'", "EXECUTE p"},
	},
	{code: "1008", on: "mariadb", refused: "KILL QUERY ID 5", says: "KILL each by the number that SHOW PROCESSLIST gives", alone: []string{"SHOW PROCESSLIST"}, instead: []string{"SELECT 1"}},

	// 1004: the declaration and the table don't fit.
	{code: "1004", refused: "SELECT COUNT(*) FROM Product", says: "the declared one is {schema}.product", instead: []string{"SELECT COUNT(*) FROM product"}},
	{
		code: "1004", everywhere: []string{"ALTER TABLE ticket MODIFY gene VARCHAR(20) NOT NULL DEFAULT ''"}, refused: "SELECT COUNT(*) FROM ticket",
		says: "ALTER TABLE {schema}.ticket MODIFY gene INT UNSIGNED NOT NULL", shards: []string{"ALTER TABLE {schema}.ticket MODIFY gene INT UNSIGNED NOT NULL"},
		alone: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1), (2, 1)"}, instead: []string{"SELECT 1"},
		after: []string{"DELETE FROM ticket"}, clear: []string{"ALTER TABLE ticket MODIFY gene INT NOT NULL DEFAULT 0"},
	},

	// 1005: bytes.
	{code: "1005", refused: `SELECT \N FROM plain`, says: "write NULL", instead: []string{"SELECT NULL FROM plain"}},
	{code: "1005", refused: "SELECT 1 --\x7f \n , COUNT(*) FROM test_order", says: "write a blank", instead: []string{"SELECT 1 -- \n , COUNT(*) FROM test_order"}},
	{code: "1005", refused: "SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (7,\x018)", says: "write a blank", instead: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (7, 8)"}},
	{code: "1005", refused: "SELECT [a] FROM plain", says: "quote names with backquotes", instead: []string{"SELECT `id` FROM plain"}},
	{code: "1005", before: []string{"SET NAMES latin1"}, refused: "SELECT COUNT(*)\xa0FROM test_order", says: "SET NAMES utf8mb4, or quote it", instead: []string{"SET NAMES utf8mb4", "SELECT COUNT(*) FROM test_order"}},
	{code: "1005", refused: "SELECT 1.5a FROM plain", says: "put a blank between them", instead: []string{"SELECT 1.5 a FROM plain"}},
	{code: "1005", refused: "SELECT 1 AS $a$b, COUNT(*) FROM test_order", says: "backquotes", instead: []string{"SELECT 1 AS `$a$b`, COUNT(*) FROM test_order"}},
	{code: "1005", refused: "SELECT /*! COUNT(*) /*!50000 , 1 */ */ FROM test_order", says: "write what it says without the comment", instead: []string{"SELECT COUNT(*) , 1 FROM test_order"}},
	{code: "1005", refused: "SELECT COUNT(*) FROM test_order /*! WHERE buyer_uid = 7", says: "write what it says without the comment", instead: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 7"}},
	{code: "1005", refused: "SELECT /*+ ' */ COUNT(*) FROM test_order", says: "leave it out", instead: []string{"SELECT COUNT(*) FROM test_order"}},
	{code: "1005", refused: "SELECT @ a, COUNT(*) FROM test_order", says: "write the name right behind it", instead: []string{"SELECT @a, COUNT(*) FROM test_order"}},

	// 1006: names that could be parts or copies.
	{
		code: "1006", everywhere: []string{"CREATE TABLE several (id INT PRIMARY KEY)"}, refused: "SELECT COUNT(*) FROM several", says: "copy its rows to s0 and drop it on s1, s2",
		only:    map[int][]string{1: {"DROP TABLE several"}, 2: {"DROP TABLE several"}},
		instead: []string{"INSERT INTO several VALUES (4)", "DELETE FROM several WHERE id < 4", "SELECT * FROM several"}, clear: []string{"DROP TABLE several"},
	},
	{
		code: "1006", everywhere: []string{"CREATE TABLE several (id INT PRIMARY KEY)"}, refused: "INSERT INTO several VALUES (1)", says: "declare it",
		declare: func(c *cluster.Cluster, schema string) {
			c.Tables[catalog.TableName{Schema: schema, Name: "several"}] = catalog.Declaration{Kind: catalog.Global}
		},
		instead: []string{"INSERT INTO several VALUES (1)", "SELECT COUNT(*) FROM several"}, clear: []string{"DROP TABLE several"},
	},
	{
		code: "1006", everywhere: []string{"CREATE TABLE one (id INT PRIMARY KEY)", "INSERT INTO one VALUES (1)"}, refused: "SELECT * FROM one", says: "s0, s1, s2",
		only: map[int][]string{0: {"DROP TABLE one"}, 2: {"DROP TABLE one"}},
		declare: func(c *cluster.Cluster, schema string) {
			c.Tables[catalog.TableName{Schema: schema, Name: "one"}] = catalog.Declaration{Kind: catalog.Single, Shard: "s1"}
		},
		instead: []string{"SELECT * FROM one", "INSERT INTO one VALUES (2)", "SELECT COUNT(*) FROM one"}, clear: []string{"DROP TABLE one"},
	},
	{
		code: "1006", everywhere: []string{"CREATE VIEW seen AS SELECT 1 AS a"}, refused: "DROP VIEW seen, nothing", says: "drop it in a statement of its own",
		instead: []string{"SELECT * FROM seen", "DROP VIEW seen"}, clear: []string{"DROP VIEW IF EXISTS seen"},
	},

	// 1007: what reaches too far.
	{
		code: "1007", everywhere: []string{"CREATE VIEW mine AS SELECT buyer_uid AS b, amount FROM test_order"}, refused: "SELECT b FROM mine WHERE b = 7 FOR UPDATE",
		says: "write its SELECT in the place of its name, in parentheses", instead: []string{"SELECT b FROM (SELECT buyer_uid AS b, amount FROM test_order WHERE buyer_uid = 7 FOR UPDATE) mine"}, clear: []string{"DROP VIEW mine"},
	},
	{
		code: "1007", everywhere: []string{"CREATE VIEW mine AS SELECT * FROM test_order"}, refused: "DELETE FROM mine WHERE buyer_uid = 7",
		says: "query the tables that it reads", instead: []string{"DELETE FROM test_order WHERE buyer_uid = 7"}, clear: []string{"DROP VIEW mine"},
	},
	{
		code: "1007", refused: "CREATE VIEW mine AS SELECT * FROM test_order ORDER BY order_id", says: "leave that out of the view, and write it where the view is read",
		instead: []string{"CREATE VIEW mine AS SELECT * FROM test_order", "SELECT order_id FROM mine WHERE buyer_uid = 7 ORDER BY order_id", "DROP VIEW mine"},
	},
	{
		code: "1007", everywhere: []string{"CREATE PROCEDURE p() UPDATE test_order SET amount = 1 WHERE buyer_uid = 7"}, refused: "CALL p()",
		says: "send the statements of its body themselves", instead: []string{"UPDATE test_order SET amount = 1 WHERE buyer_uid = 7"}, clear: []string{"DROP PROCEDURE p"},
	},
	{
		code: "1007", everywhere: []string{"CREATE FUNCTION f() RETURNS INT READS SQL DATA RETURN (SELECT COUNT(*) FROM test_order)"}, refused: "SELECT f()",
		says: "send the statements of its body themselves", instead: []string{"SELECT (SELECT COUNT(*) FROM test_order)"}, clear: []string{"DROP FUNCTION f"},
	},
	{
		code: "1007", everywhere: []string{"CREATE TRIGGER fires AFTER INSERT ON test_order FOR EACH ROW UPDATE product SET price = price + 1"}, refused: "INSERT INTO test_order (buyer_uid) VALUES (7)",
		says: "drop trigger fires on each shard, and let the application do what it does", shards: []string{"DROP TRIGGER fires"},
		instead: []string{"SELECT COUNT(*) FROM product"}, alone: []string{"INSERT INTO test_order (buyer_uid) VALUES (7)", "DELETE FROM test_order WHERE buyer_uid = 7 AND status = 'new'"}, clear: []string{"DROP TRIGGER fires"},
	},
	{code: "1007", refused: "CREATE PROCEDURE p() DELETE FROM test_order WHERE buyer_uid = 7", says: "send the statements of its body themselves", instead: []string{"DELETE FROM test_order WHERE buyer_uid = 7"}},
	{
		code: "1007", refused: "CREATE PROCEDURE p() BEGIN PREPARE x FROM 'SELECT COUNT(*) FROM plain'; EXECUTE x; END", says: "write its statements as they are",
		instead: []string{"CREATE PROCEDURE p() BEGIN SELECT COUNT(*) FROM plain; END"}, alone: nil, after: []string{"DROP PROCEDURE p"},
	},

	// 1008: what reaches the server.
	{
		code: "1008", refused: "SELECT /*+ SET_VAR(group_concat_max_len=4) */ GROUP_CONCAT(buyer_uid) FROM test_order WHERE buyer_uid = 7", says: "SET the variable for the session, or leave it out",
		instead: []string{"SET group_concat_max_len = 4", "SELECT GROUP_CONCAT(buyer_uid) FROM test_order WHERE buyer_uid = 7"},
	},
	{
		code: "1008", refused: "SELECT /*+ SET_VAR(sql_select_limit=1) */ buyer_uid FROM test_order ORDER BY order_id", says: "use LIMIT",
		instead: []string{"SELECT buyer_uid FROM test_order ORDER BY order_id LIMIT 1"},
	},
	{code: "1008", refused: "SELECT /*+ SET_VAR(sort_buffer_size = 1+1) */ COUNT(*) FROM test_order", says: "SET the variable for the session", instead: []string{"SET sort_buffer_size = 262144+1", "SELECT COUNT(*) FROM test_order"}},
	{code: "1008", refused: "SELECT /*+ RESOURCE_GROUP(x) */ COUNT(*) FROM test_order", says: "leave it out", instead: []string{"SELECT COUNT(*) FROM test_order"}},
	{code: "1008", on: "mariadb", refused: "SET STATEMENT max_statement_time = 1 + 1 FOR SELECT COUNT(*) FROM test_order", says: "use SET, then the statement", instead: []string{"SET max_statement_time = 1 + 1", "SELECT COUNT(*) FROM test_order"}},
	{code: "1008", on: "mariadb", refused: "SET STATEMENT collation_database = utf8mb4_bin FOR SELECT COUNT(*) FROM test_order", says: "use SET, if the session may set it", instead: []string{"SET collation_database = utf8mb4_bin", "SELECT COUNT(*) FROM test_order"}},
	{code: "1008", refused: "SELECT COUNT(*) FROM plain INTO OUTFILE '/tmp/x'", says: "read the rows and write them at the client", instead: []string{"SELECT COUNT(*) FROM plain"}},
	{code: "1008", refused: "SELECT LOAD_FILE('/etc/hostname')", says: "connect to the shard for it", shards: []string{"SELECT LOAD_FILE('/etc/hostname')"}, instead: []string{"SELECT 1"}},
	{code: "1008", refused: "SHOW BINARY LOGS", says: "each shard has its own, so connect to the shard (", shards: []string{"SHOW BINARY LOGS"}, instead: []string{"SELECT 1"}},
	{code: "1008", refused: "FLUSH PRIVILEGES", says: "connect to the shard for them", shards: []string{"FLUSH PRIVILEGES"}, instead: []string{"SELECT 1"}},
	{code: "1008", refused: "SELECT COUNT(*) FROM mysql.user", says: "connect to the shard for it", shards: []string{"SELECT COUNT(*) FROM mysql.user"}, instead: []string{"SELECT 1"}},
	{
		code: "1008", refused: "CREATE USER another IDENTIFIED BY 'x'", says: "edit users in cluster.yaml and run locus apply",
		declare: func(c *cluster.Cluster, _ string) { c.Users["another"] = cluster.User{Secret: "app"} }, instead: []string{"SELECT 1"},
	},
	{code: "1008", on: "mariadb", refused: "KILL USER app", says: "KILL each by the number that SHOW PROCESSLIST gives", alone: []string{"SHOW PROCESSLIST"}, instead: []string{"SELECT 1"}},

	// 1009: too large.
	{
		code: "1009", refused: "SELECT COUNT(*) FROM test_order WHERE " + listed(30_000, " OR ", func(i int) string { return fmt.Sprintf("buyer_uid=%d+%d", i, i) }), says: "in batches, or put the values into a table and join that",
		instead: []string{"INSERT INTO plain VALUES (10, '7'), (11, '8')", "SELECT COUNT(*) FROM test_order JOIN plain ON buyer_uid = id"},
	},
	{
		code: "1009", refused: "SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (" + strings.Repeat("(", 1_200) + "7" + strings.Repeat(")", 1_200) + ")", says: "nest it less deeply",
		instead: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid IN (7)"},
	},
	{
		code: "1009", refused: "SELECT COUNT(*) FROM " + listed(70, ",", func(i int) string { return fmt.Sprintf("test_order o%d", i) }), says: "split it into several statements",
		instead: []string{"SELECT COUNT(*) FROM test_order o0, test_order o1"},
	},
	{code: "1009", refused: "SELECT COUNT(*) FROM test_order WHERE status = " + repeated(60_000, " ", "'a'"), says: "write them as one string", instead: []string{"SELECT COUNT(*) FROM test_order WHERE status = '" + strings.Repeat("a", 60_000) + "'"}},
	{
		code: "1009", refused: "SET " + listed(5_000, ",", func(i int) string { return fmt.Sprintf("@a%d = 1", i) }), says: "keep what they hold in a table",
		instead: []string{"INSERT INTO plain VALUES " + listed(5_000, ",", func(i int) string { return fmt.Sprintf("(%d, '1')", i+10) }), "SELECT SUM(note) FROM plain WHERE id >= 10"},
	},

	// 1010: what a comment declares.
	{
		code: "1010", refused: "CREATE TABLE basket (id BIGINT NOT NULL PRIMARY KEY, who BIGINT NOT NULL) COMMENT 'locus: owner=buyer id=id'", says: "column buyer: declared as owner, but the table has no such column",
		instead: []string{"CREATE TABLE basket (id BIGINT NOT NULL PRIMARY KEY, who BIGINT NOT NULL) COMMENT 'locus: owner=who id=id'", "SELECT COUNT(*) FROM basket"},
		after:   []string{"DROP TABLE basket"},
	},

	// 1011: what a table is declared by.
	{
		code: "1011", refused: "ALTER TABLE fenced MODIFY owner INT NOT NULL", says: "it is VARCHAR(20) COLLATE utf8mb4_bin, and may be made longer, of the same kind, sign and collation",
		instead: []string{"ALTER TABLE fenced MODIFY owner VARCHAR(30) COLLATE utf8mb4_bin NOT NULL", "INSERT INTO fenced (owner, seat) VALUES ('as long as may be, and more', 1)", "SELECT owner, seat FROM fenced"},
		after:   []string{"DELETE FROM fenced"},
	},
	{
		code: "1011", refused: "ALTER TABLE fenced MODIFY owner VARCHAR(40) NOT NULL", says: "without COLLATE it would get the table's default: say VARCHAR(",
		instead: []string{"ALTER TABLE fenced MODIFY owner VARCHAR(40) COLLATE utf8mb4_bin NOT NULL", "SELECT COUNT(*) FROM fenced WHERE owner = 'none'"},
	},
	{
		code: "1011", refused: "ALTER TABLE ticket DROP note, CHANGE owner who BIGINT NOT NULL", says: "would be called who: keep its name",
		instead: []string{"ALTER TABLE ticket DROP note, MODIFY owner BIGINT NOT NULL", "SELECT COUNT(*) FROM ticket"},
		after:   []string{"ALTER TABLE ticket ADD note VARCHAR(20) AFTER code"},
	},

	// 1012: the session has named a shard.
	{
		code: "1012", set: []string{"SET locus_shard = 's1'"}, refused: "INSERT INTO test_order (buyer_uid) VALUES (7)", says: "SET locus_shard = DEFAULT first",
		alone: []string{"SET locus_shard = DEFAULT"}, instead: []string{"INSERT INTO test_order (buyer_uid) VALUES (7)"},
	},

	// 1101: rows that live elsewhere.
	{
		code: "1101", refused: "SELECT a.order_id FROM test_order a JOIN test_order b ON a.amount = b.amount FOR UPDATE", says: "join them on the owner or the ID, or name the owner of both",
		instead: []string{"SELECT a.order_id FROM test_order a JOIN test_order b ON a.order_id = b.order_id FOR UPDATE", "SELECT a.order_id FROM test_order a JOIN test_order b ON a.amount = b.amount WHERE a.buyer_uid = 7 AND b.buyer_uid = 7 FOR UPDATE"},
	},
	{code: "1101", refused: "SELECT GET_LOCK('advice', 1), COUNT(*) FROM test_order", says: "ask for the lock by itself", instead: []string{"SELECT GET_LOCK('advice', 1)", "SELECT COUNT(*) FROM test_order", "SELECT RELEASE_LOCK('advice')"}},
	{
		code: "1101", refused: "INSERT INTO plain SELECT buyer_uid + 100, status FROM test_order GROUP BY 1, 2", says: "read the rows, then insert them",
		instead: []string{"SELECT DISTINCT buyer_uid + 100, status FROM test_order", "INSERT INTO plain VALUES (101, 'old'), (102, 'old')"},
	},

	// 1102: what can't be merged.
	{code: "1102", refused: "SELECT DISTINCT status FROM test_order FOR UPDATE", says: "name one owner, ID or order number in WHERE", instead: []string{"SELECT DISTINCT status FROM test_order WHERE buyer_uid = 7 FOR UPDATE", "SELECT DISTINCT status FROM test_order WHERE order_id = {id} FOR UPDATE"}},
	{code: "1102", refused: "SELECT status, COUNT(*) FROM test_order PARTITION (p0) GROUP BY status", says: "leave it out", instead: []string{"SELECT status, COUNT(*) FROM test_order GROUP BY status", "SELECT status, COUNT(*) FROM test_order USE INDEX (PRIMARY) GROUP BY status"}},
	{code: "1102", refused: "SELECT @n := amount FROM test_order", says: "name one owner, ID or order number in WHERE", instead: []string{"SELECT @n := amount FROM test_order WHERE order_id = {id}", "SELECT @n"}},
	{code: "1102", refused: "SELECT @n := COUNT(*) FROM test_order", says: "name one owner, ID or order number in WHERE", instead: []string{"SELECT @n := COUNT(*) FROM test_order WHERE buyer_uid = 7", "SELECT @n"}},
	{
		code: "1102", before: []string{"SET sql_select_limit = 1"}, refused: "SELECT buyer_uid FROM test_order ORDER BY order_id", says: "SET sql_select_limit = DEFAULT, and use LIMIT",
		instead: []string{"SET sql_select_limit = DEFAULT", "SELECT buyer_uid FROM test_order ORDER BY order_id LIMIT 1"},
	},
	{
		code: "1102", before: []string{"CREATE TEMPORARY TABLE tt (b BIGINT)"}, refused: "SELECT COUNT(*) FROM tt JOIN test_order ON amount = b", says: "CREATE TEMPORARY TABLE … SELECT its rows of the shards, and join the two there",
		instead: []string{"CREATE TEMPORARY TABLE uu SELECT amount FROM test_order", "SELECT COUNT(*) FROM tt JOIN uu ON amount = b"}, after: []string{"DROP TEMPORARY TABLE tt, uu"},
	},
	{
		code: "1102", refused: "CREATE TEMPORARY TABLE tt SELECT status + 1 AS s FROM test_order", says: "compare and convert values of the same type",
		instead: []string{"CREATE TEMPORARY TABLE tt SELECT IF(status REGEXP '^[0-9]+$', status, '0') + 1 AS s FROM test_order", "SELECT COUNT(*) FROM tt"}, after: []string{"DROP TEMPORARY TABLE tt"},
	},
	{
		code: "1102", before: []string{"LOCK TABLES test_order READ"}, refused: "SELECT status, COUNT(*) FROM test_order GROUP BY status", says: "end those first",
		instead: []string{"UNLOCK TABLES", "SELECT status, COUNT(*) FROM test_order GROUP BY status"},
	},
	{
		code: "1102", on: "mysql", refused: "WITH o AS (SELECT 'x' AS k, amount FROM test_order) SELECT COUNT(*) FROM o a JOIN o b ON a.amount = b.amount", says: "with columns of tables as its fields",
		instead: []string{"WITH o AS (SELECT amount FROM test_order) SELECT COUNT(*) FROM o a JOIN o b ON a.amount = b.amount", "WITH o AS (SELECT 'x' AS k, amount FROM test_order WHERE buyer_uid = 7) SELECT COUNT(*) FROM o a JOIN o b ON a.amount = b.amount"},
	},
	{
		code: "1102", on: "mariadb", refused: "INSERT IGNORE INTO ticket (owner, seat) VALUES (1, 1), (2, 1), (3, 1), (4, 1), (5, 1), (6, 1) RETURNING owner", says: "write one INSERT for each owner",
		instead: []string{"INSERT IGNORE INTO ticket (owner, seat) VALUES (1, 1) RETURNING owner", "INSERT IGNORE INTO ticket (owner, seat) VALUES (2, 1) RETURNING owner"}, after: []string{"DELETE FROM ticket"},
	},

	// 1103 to 1107: what a user may not.
	{code: "1103", user: "guarded", refused: "UPDATE test_order SET amount = 1", says: "name the owner, the ID or the order number in WHERE", instead: []string{"UPDATE test_order SET amount = 1 WHERE buyer_uid = 7", "UPDATE test_order SET amount = 2 WHERE order_id = {id}", "UPDATE test_order SET amount = 3 WHERE order_no = {no}"}},
	{code: "1103", user: "guarded", refused: "DELETE FROM test_order WHERE amount > 5", says: "scatter_writes", declare: func(c *cluster.Cluster, _ string) { allow(c, "guarded") }, instead: []string{"DELETE FROM test_order WHERE amount > 5"}},
	{code: "1103", refused: "DELETE FROM test_order ORDER BY amount + 1 LIMIT 1", says: "name the owner, the ID or the order number in WHERE", instead: []string{"DELETE FROM test_order WHERE buyer_uid = 7 ORDER BY amount + 1 LIMIT 1"}},
	{code: "1104", user: "narrowly", refused: "SELECT COUNT(*) FROM test_order", says: "name the owner, the ID or the order number in WHERE", instead: []string{"SELECT COUNT(*) FROM test_order WHERE buyer_uid = 7", "SELECT COUNT(*) FROM test_order WHERE order_id = {id}", "SELECT COUNT(*) FROM test_order WHERE order_no = {no}"}},
	{
		code: "1105", user: "little", refused: "SELECT COUNT(*) FROM test_order a JOIN test_order b ON a.amount = b.amount + 1", says: "name the owner, the ID or the order number in WHERE, or conditions on each table by itself",
		instead: []string{"SELECT COUNT(*) FROM test_order a JOIN test_order b ON a.amount = b.amount + 1 WHERE a.buyer_uid = 7 AND b.buyer_uid = 8", "SELECT COUNT(*) FROM test_order a JOIN test_order b ON a.amount = b.amount + 1 WHERE a.amount < 4 AND b.amount < 4"},
	},
	{code: "1106", user: "careful", refused: "UPDATE plain SET note = 'x'", says: "name them in WHERE", instead: []string{"UPDATE plain SET note = 'x' WHERE id > 0"}},
	{
		code: "1107", user: "paged", refused: "SELECT order_id FROM test_order ORDER BY order_id LIMIT 5 OFFSET 10001", says: "go on from the last row's values in WHERE",
		instead: []string{"SELECT order_id FROM test_order WHERE order_id > {id} ORDER BY order_id LIMIT 5"},
	},

	// 1201 to 1210: rows that can't be placed.
	{code: "1201", refused: "INSERT INTO test_order (amount) VALUES (5)", says: "must give buyer_uid", instead: []string{"INSERT INTO test_order (amount, buyer_uid) VALUES (5, 7)"}},
	{code: "1201", refused: "INSERT INTO order_item (product_id) VALUES (5)", says: "must give order_id", instead: []string{"INSERT INTO order_item (product_id, order_id) VALUES (5, {id})"}},
	{code: "1202", refused: "INSERT INTO test_order (buyer_uid) VALUES (UUID_SHORT())", says: "give a value", instead: []string{"INSERT INTO test_order (buyer_uid) VALUES (7)"}},
	{code: "1202", refused: "INSERT INTO fenced (owner, seat) VALUES (7e0, 1)", says: "quote it", instead: []string{"INSERT INTO fenced (owner, seat) VALUES ('7', 1)", "SELECT COUNT(*) FROM fenced WHERE owner = '7'"}, after: []string{"DELETE FROM fenced"}},
	{code: "1203", refused: "INSERT INTO test_order (order_id, buyer_uid) VALUES ({id}, 8)", says: "leave order_id out and it is generated", instead: []string{"INSERT INTO test_order (buyer_uid) VALUES (8)"}},
	{code: "1203", refused: "INSERT INTO ticket (owner, seat, gene) VALUES (1, 1, 1)", says: "leave gene out and it is generated", instead: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1)"}, after: []string{"DELETE FROM ticket"}},
	{
		code: "1204", refused: "UPDATE test_order SET buyer_uid = 8 WHERE order_id = {id}", says: "insert the row again and delete the old one",
		instead: []string{"INSERT INTO test_order (buyer_uid, amount, status) SELECT 8, amount, 'moved' FROM test_order WHERE order_id = {id}", "DELETE FROM test_order WHERE order_id = {id}", "SELECT buyer_uid, amount FROM test_order WHERE status = 'moved'"},
	},
	{code: "1204", refused: "UPDATE test_order SET buyer_uid = 7 WHERE amount > 50", says: "name the same owner in WHERE", instead: []string{"UPDATE test_order SET buyer_uid = 7, amount = 1 WHERE amount > 50 AND buyer_uid = 7"}},
	{code: "1204", refused: "UPDATE test_order SET buyer_uid = buyer_uid + 1 WHERE buyer_uid = 7", says: "a value that is known beforehand", instead: []string{"UPDATE test_order SET buyer_uid = 7, amount = 0.75 WHERE buyer_uid = 7"}},
	{
		code: "1204", refused: "INSERT INTO ticket (owner, seat) VALUES (1, 1) ON DUPLICATE KEY UPDATE owner = 2", says: "leave it out",
		instead: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1) ON DUPLICATE KEY UPDATE note = 'x'", "INSERT INTO ticket (owner, seat) VALUES (1, 1) ON DUPLICATE KEY UPDATE note = 'x'", "SELECT owner, seat, note FROM ticket"}, after: []string{"DELETE FROM ticket"},
	},
	{code: "1205", refused: "INSERT INTO test_order (buyer_uid, amount) VALUES (7)", says: "row 1", instead: []string{"INSERT INTO test_order (buyer_uid, amount) VALUES (7, 1)"}},
	{code: "1205", refused: "INSERT INTO ticket VALUES (1, 1)", says: "", instead: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1)"}, after: []string{"DELETE FROM ticket"}},
	{code: "1206", refused: "INSERT INTO test_order (buyer_uid, order_no) VALUES (7, {no})", says: "leave order_no out and it is generated", instead: []string{"INSERT INTO test_order (buyer_uid) VALUES (7)"}},
	{code: "1207", refused: "INSERT INTO test_order (buyer_uid, nothing) VALUES (7, 5)", says: "nothing", instead: []string{"INSERT INTO test_order (buyer_uid, amount) VALUES (7, 5)"}},
	{
		code: "1207", refused: "INSERT INTO test_order (buyer_uid, fresh) VALUES (7, 5)", says: "fresh",
		instead: []string{"ALTER TABLE test_order ADD fresh INT", "INSERT INTO test_order (buyer_uid, fresh) VALUES (7, 5)", "SELECT SUM(fresh) FROM test_order", "ALTER TABLE test_order DROP fresh"},
	},
	{
		code: "1208", refused: "INSERT INTO visit (n, owner) VALUES (1 - 1, 1)", says: "give a whole number, or leave it out and it is numbered",
		instead: []string{"INSERT INTO visit (owner) VALUES (1)", "SELECT owner FROM visit"}, after: []string{"DELETE FROM visit"},
	},
	{code: "1208", before: []string{"SET auto_increment_increment = 3"}, refused: "INSERT INTO visit (owner) VALUES (1), (2), (3)", says: "give the number", instead: []string{"INSERT INTO visit (n, owner) VALUES (1, 1), (2, 2), (3, 3)", "SELECT n, owner FROM visit"}, after: []string{"DELETE FROM visit"}},
	{code: "1208", refused: "INSERT INTO numbered (id, v) VALUES (0 + 1, 1)", says: "give a whole number, or leave it out", instead: []string{"INSERT INTO numbered (id, v) VALUES (1, 1)", "INSERT INTO numbered (v) VALUES (2)", "SELECT v FROM numbered ORDER BY v"}, after: []string{"DELETE FROM numbered"}},
	{
		code: "1209", refused: "INSERT INTO ticket (owner, seat, code) VALUES (1, 1, 5) ON DUPLICATE KEY UPDATE note = 'x'", says: "look for the row first and write a plain INSERT or UPDATE",
		instead: []string{"SELECT COUNT(*) FROM ticket WHERE code = 5", "INSERT INTO ticket (owner, seat, code) VALUES (1, 1, 5)", "UPDATE ticket SET note = 'x' WHERE code = 5", "SELECT owner, note FROM ticket"}, after: []string{"DELETE FROM ticket"},
	},
	{
		code: "1209", refused: "REPLACE INTO ticket (owner, seat, code) VALUES (1, 1, 5)", says: "add owner to the key",
		instead: []string{"ALTER TABLE ticket DROP KEY code, ADD UNIQUE KEY code (code, owner)", "REPLACE INTO ticket (owner, seat, code) VALUES (1, 1, 5)", "REPLACE INTO ticket (owner, seat, code) VALUES (1, 2, 5)", "SELECT owner, seat, code FROM ticket"},
		after:   []string{"DELETE FROM ticket", "ALTER TABLE ticket DROP KEY code, ADD UNIQUE KEY code (code)"},
	},
	{
		code: "1209", refused: "UPDATE IGNORE ticket SET code = 5 WHERE owner = 1", says: "look for it first, and write a plain UPDATE",
		instead: []string{"INSERT INTO ticket (owner, seat) VALUES (1, 1)", "SELECT COUNT(*) FROM ticket WHERE code = 5", "UPDATE ticket SET code = 5 WHERE owner = 1", "SELECT owner, code FROM ticket"}, after: []string{"DELETE FROM ticket"},
	},
	{
		code: "1211", set: []string{"CREATE TABLE ticket_by_code (code INT NOT NULL, value_hash BIGINT UNSIGNED NOT NULL, row_gene INT UNSIGNED NOT NULL, PRIMARY KEY (value_hash, code)) COMMENT 'locus: lookup=ticket.code'"},
		refused: "INSERT INTO ticket_by_code VALUES (5, 1, 1)", says: "change those rows",
		instead: []string{"INSERT INTO ticket (owner, seat, code) VALUES (1, 1, 5)", "SELECT owner, code FROM ticket"}, after: []string{"DELETE FROM ticket", "DROP TABLE ticket_by_code"},
	},
	{code: "1210", refused: "INSERT INTO notice (k, v) VALUES (1, 1)", says: "give the value", instead: []string{"INSERT INTO notice (k, v, token, chance) VALUES (1, 1, 'x', 0.5)", "SELECT k, v, token, chance FROM notice"}, after: []string{"DELETE FROM notice"}},
	{
		code: "1210", refused: "UPDATE IGNORE numbered SET u = 5", says: "write a plain UPDATE",
		instead: []string{"INSERT INTO numbered (id, u) VALUES (1, 1)", "UPDATE numbered SET u = 5", "SELECT * FROM numbered"}, after: []string{"DELETE FROM numbered"},
	},
	{
		code: "1210", refused: "UPDATE product p JOIN clock c ON c.v = p.product_id SET p.price = c.k", says: "read the values first, or write SET price = (SELECT MIN(…) …)",
		instead: []string{"INSERT INTO clock (k, v) VALUES (1, 1), (2, 1)", "UPDATE product p SET p.price = (SELECT MIN(k) FROM clock c WHERE c.v = p.product_id) WHERE EXISTS (SELECT 1 FROM clock c WHERE c.v = p.product_id)", "SELECT product_id, price FROM product"}, after: []string{"DELETE FROM clock"},
	},

	// 1302: transactions.
	{
		code: "1302", before: []string{"XA START 'mine'"}, refused: "UPDATE test_order SET amount = 1 WHERE buyer_uid = 7", says: "single tables and tables that are not declared",
		instead: []string{"UPDATE setting SET value = 'x'", "XA END 'mine'", "XA ROLLBACK 'mine'", "UPDATE test_order SET amount = 1 WHERE buyer_uid = 7"}, after: []string{"XA END 'mine'", "XA ROLLBACK 'mine'"},
	},
	{
		code: "1302", before: []string{"BEGIN", "UPDATE test_order SET amount = 1 WHERE amount > 1"}, refused: "CALL nothing_there()", says: "commit first",
		instead: []string{"COMMIT", "SELECT SUM(amount) FROM test_order"},
	},
}

// allow permits a user to change rows on several shards.
func allow(c *cluster.Cluster, name string) {
	u := c.Users[name]
	u.ScatterWrites = cluster.GuardAllow
	c.Users[name] = u
}
