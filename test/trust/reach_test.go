package trust

import (
	"context"
	"testing"
)

// withOwnSchema gives the plain server a schema locus too, so that both sides accept USE.
func withOwnSchema(t *testing.T, s *stand) {
	s.server.Exec(t, "CREATE DATABASE IF NOT EXISTS locus")
	t.Cleanup(func() {
		if err := s.server.Execute(context.WithoutCancel(t.Context()), "DROP DATABASE locus"); err != nil {
			t.Error(err)
		}
	})
}

// A user without admin can't use the schema locus, in any form that a server accepts.
func TestOwnSchemaIsReserved(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		withOwnSchema(t, s)
		named := s.proxied(t, "app")
		named.must(t, "SET locus_shard = 's0'")
		for _, text := range []string{"DELETE FROM locus.decision", "SELECT * FROM locus.decision FOR UPDATE", "UPDATE locus.decision SET committed = 1"} {
			if a := named.say(text); a.number() != 1044 {
				t.Errorf("%s, of a shard that the session has named: %s", text, a)
			}
		}
		s.try(t, refusedBy("#1044",
			"DROP TABLE locus.decision", "DROP TABLE `LOCUS`.decision", "CREATE TABLE locus.made (a INT)", "CREATE TEMPORARY TABLE locus.decision (a INT)",
			"CREATE TABLE made LIKE locus.decision", "CREATE VIEW made AS SELECT * FROM locus.decision", "CREATE VIEW locus.made AS SELECT 1 AS a",
			"ALTER TABLE plain RENAME TO locus.made", "RENAME TABLE plain TO locus.made", "CREATE INDEX i ON locus.decision (committed)",
			"ALTER DATABASE locus CHARACTER SET latin1", "DROP DATABASE locus", "TRUNCATE TABLE locus.decision",
			"INSERT INTO locus.decision (txn, committed, shards) VALUES ('x', 1, '')", "DELETE FROM locus.decision", "UPDATE plain, locus.decision SET committed = 1",
			"DELETE d FROM locus.decision d JOIN plain", "REPLACE locus.decision (txn, committed, shards) SELECT 'x', 1, ''",
			"LOCK TABLES locus.decision WRITE", "LOCK TABLES locus.decision READ", "LOCK TABLES plain READ, locus.decision AS d WRITE",
			"SELECT * FROM locus.decision FOR UPDATE", "SELECT * FROM plain, locus.decision LOCK IN SHARE MODE", "SELECT COUNT(*) FROM locus.decision",
			"INSERT INTO plain SELECT 100, txn FROM locus.decision", "CREATE TABLE made AS SELECT * FROM locus.decision",
			"CREATE TABLE made (txn VARCHAR(64), FOREIGN KEY (txn) REFERENCES locus.decision (txn))",
			"ANALYZE TABLE locus.decision", "OPTIMIZE TABLE locus.decision", "CHECK TABLE locus.decision", "FLUSH TABLES locus.decision",
			"CREATE PROCEDURE locus.split(a INT) SELECT 1", "CREATE FUNCTION locus.f() RETURNS INT DETERMINISTIC RETURN 1",
			"CREATE PROCEDURE `Locus` . `split` (a INT) BEGIN SELECT 1; END", "DROP PROCEDURE IF EXISTS locus.split", "ALTER PROCEDURE locus.split COMMENT 'x'",
			"CREATE PROCEDURE made() DELETE FROM locus.decision", "CREATE PROCEDURE made() BEGIN DELETE FROM `locus`.decision; END",
			"CREATE TRIGGER locus.made BEFORE INSERT ON locus.decision FOR EACH ROW SET NEW.committed = 1",
			"CREATE TRIGGER made BEFORE INSERT ON locus.decision FOR EACH ROW SET NEW.committed = 1",
			"CREATE TRIGGER made BEFORE INSERT ON plain FOR EACH ROW DELETE FROM /* x */ locus /* y */ . decision", "DROP TRIGGER IF EXISTS locus.made",
			"CREATE EVENT locus.made ON SCHEDULE EVERY 1 DAY DO SELECT 1", "CREATE EVENT made ON SCHEDULE EVERY 1 DAY DO DELETE FROM locus.decision", "DROP EVENT IF EXISTS locus.made",
			"EXPLAIN SELECT * FROM locus.decision", "EXPLAIN DELETE FROM locus.decision", "HANDLER locus.decision OPEN", "CHECKSUM TABLE plain, locus.decision",
			"DELETE FROM locus.decision WHERE txn IN (SELECT a FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) j)",
			"SELECT * FROM locus.decision, JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) locus WHERE locus.a = 1 FOR UPDATE",
			"LOAD DATA LOCAL INFILE '/dev/null' INTO TABLE locus.decision", "LOAD XML LOCAL INFILE '/dev/null' INTO TABLE locus.decision",
		)...)
		s.try(t, only("mysql", refusedBy("#1044",
			"RENAME TABLES locus.decision TO locus.other", "RENAME TABLES plain TO locus.plain", "INSERT INTO locus.decision (txn, committed, shards) VALUES ('x', 1, '') AS n",
			"INSERT INTO locus.decision VALUES ROW('x', 1, '', NOW()) AS n ON DUPLICATE KEY UPDATE committed = n.committed", "ALTER SCHEMA locus READ ONLY = 1",
			"LOCK TABLE locus.decision WRITE", "TABLE locus.decision FOR UPDATE", "SELECT * FROM locus.decision FOR UPDATE SKIP LOCKED", "DROP TABLES locus.decision",
			"EXPLAIN ANALYZE SELECT * FROM locus.decision FOR UPDATE", "EXPLAIN FORMAT=TREE SELECT * FROM locus.decision",
			"CREATE DATABASE IF NOT EXISTS locus ENCRYPTION = 'N' READ ONLY = 0",
		))...)
		s.try(t, only("mariadb", refusedBy("#1044",
			"DROP TABLE locus.decision NOWAIT", "DROP TABLE IF EXISTS locus.decision WAIT 1", "RENAME TABLE locus.decision WAIT 1 TO locus.other", "RENAME TABLES locus.decision TO locus.other",
			"ALTER TABLE locus.decision NOWAIT COMMENT 'x'", "TRUNCATE TABLE locus.decision NOWAIT", "LOCK TABLES locus.decision WRITE WAIT 1", "CREATE OR REPLACE DATABASE locus", "CREATE OR REPLACE SCHEMA `LOCUS`",
			"CREATE SEQUENCE locus.made", "CREATE OR REPLACE SEQUENCE locus.decision", "SELECT NEXTVAL(locus.made)", "SELECT NEXT VALUE FOR locus.made",
			"BEGIN NOT ATOMIC DELETE FROM locus.decision; END", "BEGIN NOT ATOMIC DELETE FROM LOCUS . decision; END", "BEGIN NOT ATOMIC DECLARE locus INT; DELETE FROM `locus`.`decision`; END",
			"SET STATEMENT max_statement_time = 1 FOR DELETE FROM locus.decision", "SET STATEMENT max_statement_time = 1 FOR DROP TABLE locus.decision",
			"INSERT INTO locus.decision (txn, committed, shards) VALUES ('x', 1, '') RETURNING txn", "DELETE FROM locus.decision RETURNING txn",
			"ANALYZE FORMAT=JSON DELETE FROM locus.decision", "ANALYZE DELETE FROM locus.decision", "CREATE PACKAGE locus.made PROCEDURE p(); END",
			"CREATE OR REPLACE TABLE locus.decision (a INET6)", "DROP INDEX i ON locus.decision NOWAIT",
		))...)
		s.try(t,
			attack{name: "USE, a trigger", refused: []string{"#1044"}, say: []string{"USE locus", "CREATE TRIGGER made BEFORE INSERT ON decision FOR EACH ROW SET NEW.committed = 1"}},
			attack{name: "USE, a procedure", refused: []string{"#1044"}, say: []string{"USE locus", "CREATE PROCEDURE split(a INT) SELECT 1"}},
			attack{name: "USE, an event", refused: []string{"#1044"}, say: []string{"USE `locus`", "CREATE EVENT made ON SCHEDULE EVERY 1 DAY DO SELECT 1"}},
			attack{name: "USE, a drop", refused: []string{"#1044"}, say: []string{"USE locus", "DROP TABLE decision"}},
			attack{name: "USE, the database", refused: []string{"#1044"}, say: []string{"USE locus", "ALTER DATABASE CHARACTER SET latin1"}},
			attack{name: "USE, a lock", refused: []string{"#1044"}, say: []string{"USE locus", "LOCK TABLES decision WRITE"}},
			attack{name: "USE, a handler", refused: []string{"#1044"}, say: []string{"USE locus", "HANDLER decision OPEN"}},
			attack{name: "USE, unread", on: "mariadb", refused: []string{"#1044"}, say: []string{"USE locus", "DROP TABLE decision NOWAIT"}},
			attack{name: "USE, compound", on: "mariadb", refused: []string{"#1044"}, say: []string{"USE locus", "BEGIN NOT ATOMIC DELETE FROM decision; END"}},
			attack{name: "USE, AS n", on: "mysql", refused: []string{"#1044"}, say: []string{"USE locus", "INSERT INTO decision (txn, committed, shards) VALUES ('x', 1, '') AS n"}},
			attack{name: "ANSI quotes", mode: "ANSI_QUOTES", refused: []string{"#1044"}, say: []string{`CREATE TRIGGER made BEFORE INSERT ON "locus"."decision" FOR EACH ROW SET NEW.committed = 1`}},
			attack{name: "ANSI quotes, a procedure", mode: "ANSI_QUOTES", refused: []string{"#1044"}, say: []string{`CREATE PROCEDURE "locus"."split"() SELECT 1`}},
			attack{name: "prepared", on: "mariadb", refused: []string{"#1044"}, say: []string{"HANDLER locus.decision OPEN"}, args: []any{nothing{}}},
			attack{name: "prepared, dropped", refused: []string{"#1044"}, say: []string{"DROP TABLE locus.decision"}, args: []any{nothing{}}},
			attack{name: "PREPARE", refused: []string{"#1044"}, say: []string{"PREPARE p FROM 'DROP TABLE locus.decision'", "EXECUTE p"}},
			attack{name: "PREPARE, then USE", refused: []string{"#1044"}, say: []string{"USE locus", "PREPARE p FROM 'TRUNCATE TABLE decision'", "USE mysql", "EXECUTE p"}},
			attack{name: "IMMEDIATE", on: "mariadb", refused: []string{"#1044"}, say: []string{"EXECUTE IMMEDIATE CONCAT('DROP TABLE lo', 'cus.decision NOWAIT')"}},
			attack{name: "serializable", refused: []string{"#1044"}, say: []string{"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "SELECT * FROM locus.decision"}},
			attack{name: "exchanged", refused: []string{"#1044"}, say: []string{"ALTER TABLE plain EXCHANGE PARTITION p0 WITH TABLE locus.decision"}},
			attack{name: "several", refused: []string{"#1044"}, say: []string{"SELECT 1; DROP TABLE locus.decision"}},
		)
	})
}

// Dynamic SQL, and changes of accounts, global variables or files, are refused at any depth of a text without a syntax tree.
func TestProgramsThatReachTheServer(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t, refusedBy("1003 1007 1008",
			"CREATE PROCEDURE evil() BEGIN PREPARE p FROM 'CREATE USER evil'; EXECUTE p; END",
			"CREATE PROCEDURE evil() SET @a = 1, @b = 2, @c = 3, @d = 4, @e = 5, GLOBAL max_connections = 100",
			"CREATE PROCEDURE evil() BEGIN SET @a = 1, @b = 2, @c = 3, @d = 4, @e = 5, @@global.max_connections = 100; END",
			"CREATE PROCEDURE evil() SET @@global.max_connections = 100", "CREATE PROCEDURE evil() SET @@GLOBAL . max_connections = 100",
			"CREATE DEFINER=`table`@localhost PROCEDURE evil() SQL SECURITY INVOKER CREATE USER evil",
			"CREATE DEFINER=`view`@localhost PROCEDURE evil() SQL SECURITY INVOKER BEGIN DECLARE x INT; GRANT ALL ON *.* TO evil; END",
			"CREATE DEFINER=`on`@localhost EVENT evil ON SCHEDULE EVERY 1 DAY DO CREATE USER evil",
			"CREATE DEFINER=`table` EVENT evil ON SCHEDULE EVERY 1 DAY DO CREATE USER evil",
			"CREATE PROCEDURE evil() DELETE FROM mysql.help_topic", "CREATE PROCEDURE evil() BEGIN DELETE FROM `mysql`.help_topic; END",
			"CREATE TRIGGER evil BEFORE INSERT ON plain FOR EACH ROW DELETE FROM mysql.help_topic", "CREATE EVENT evil ON SCHEDULE EVERY 1 DAY DO DELETE FROM MYSQL . help_topic",
			"CREATE PROCEDURE evil() BEGIN IF 1 THEN CREATE USER evil; END IF; END", "CREATE PROCEDURE evil() BEGIN DECLARE CONTINUE HANDLER FOR SQLEXCEPTION FLUSH LOGS; END",
			"CREATE PROCEDURE evil() KILL 1", "CREATE PROCEDURE evil() BEGIN DECLARE EXIT HANDLER FOR SQLEXCEPTION KILL 1; SELECT 1; END",
			"CREATE PROCEDURE evil() BEGIN SHOW CREATE USER root@localhost; END", "CREATE PROCEDURE evil() BEGIN SHOW BINARY LOGS; END",
			"CREATE PROCEDURE evil() BEGIN SHOW ENGINE INNODB STATUS; END", "CREATE PROCEDURE evil() SELECT 1 INTO OUTFILE '/tmp/locus-never'",
			"CREATE PROCEDURE evil() BEGIN SELECT LOAD_FILE('/etc/passwd'); END", "CREATE PROCEDURE evil() FLUSH TABLES WITH READ LOCK", "CREATE PROCEDURE evil() BEGIN BINLOG 'x'; END",
			"CREATE PROCEDURE evil() BEGIN SET SESSION sql_log_bin = 0; DELETE FROM plain; END", "CREATE PROCEDURE evil() SET sql_log_bin = 0", "CREATE PROCEDURE evil() SET @@sql_log_bin = 0",
			"CREATE PROCEDURE evil() SET @a = (SELECT 1), @@session.sql_log_bin = 0", "CREATE PROCEDURE evil() SHUTDOWN", "CREATE PROCEDURE evil() RESET QUERY CACHE",
			"CREATE PROCEDURE evil() BEGIN CREATE TABLE made (a INT) DATA DIRECTORY = '/tmp'; END", "CREATE PROCEDURE evil() INSTALL SONAME 'x'", "CREATE PROCEDURE evil() SET PASSWORD = 'x'",
		)...)
		s.try(t, only("mysql", refusedBy("1003 1007 1008",
			"CREATE PROCEDURE evil() SET PERSIST max_connections = 100", "CREATE PROCEDURE evil() SET @a = 1, @b = 2, @c = 3, @d = 4, @e = 5, PERSIST_ONLY max_connections = 100",
			"CREATE PROCEDURE evil() SET @@persist.max_connections = 100", "CREATE PROCEDURE evil() RESET PERSIST", "CREATE PROCEDURE evil() ALTER INSTANCE RELOAD TLS",
			"CREATE PROCEDURE evil() BEGIN DECLARE x INT; CREATE USER evil DEFAULT ROLE r; END", "CREATE PROCEDURE evil() SET RESOURCE GROUP x", "CREATE PROCEDURE evil() CLONE LOCAL DATA DIRECTORY '/tmp/x'",
			"CREATE PROCEDURE evil() RESTART", "CREATE PROCEDURE evil() CALL sys.execute_prepared_stmt('CREATE USER evil')",
		))...)
		s.try(t, only("mariadb", refusedBy("1003 1007 1008",
			"BEGIN NOT ATOMIC EXECUTE IMMEDIATE CONCAT('create us', 'er evil'); END", "BEGIN NOT ATOMIC execute /* x */ immediate 'create user evil'; END",
			"BEGIN NOT ATOMIC PREPARE p FROM CONCAT('create us', 'er evil'); EXECUTE p; END", "BEGIN NOT ATOMIC DECLARE x INT; BEGIN EXECUTE IMMEDIATE 'create user evil'; END; END",
			"IF 1 THEN EXECUTE IMMEDIATE 'create user evil'; END IF", "WHILE 1 DO EXECUTE IMMEDIATE 'create user evil'; END WHILE", "LOOP EXECUTE IMMEDIATE 'create user evil'; END LOOP",
			"REPEAT EXECUTE IMMEDIATE 'create user evil'; UNTIL 1 END REPEAT", "CASE 1 WHEN 1 THEN EXECUTE IMMEDIATE 'create user evil'; END CASE", "FOR i IN 1..2 DO EXECUTE IMMEDIATE 'create user evil'; END FOR",
			"BEGIN NOT ATOMIC DECLARE CONTINUE HANDLER FOR SQLEXCEPTION EXECUTE IMMEDIATE 'create user evil'; SELECT * FROM nothing; END",
			"BEGIN NOT ATOMIC IF 1 THEN EXECUTE IMMEDIATE 'create user evil'; END IF; END", "SET STATEMENT max_statement_time = 1 FOR BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'create user evil'; END",
			"SET STATEMENT max_statement_time = 1 FOR EXECUTE IMMEDIATE 'create user evil'", "SET STATEMENT max_statement_time = 1 FOR CALL sys.x()",
			"BEGIN NOT ATOMIC SET @a = 1, @b = 2, @c = 3, @d = 4, @e = 5, GLOBAL max_connections = 100; END", "BEGIN NOT ATOMIC SET @@global.max_connections = 100; END",
			"BEGIN NOT ATOMIC SET STATEMENT max_statement_time = 1 FOR CREATE USER evil; END", "BEGIN NOT ATOMIC SET STATEMENT sql_log_bin = 0 FOR DELETE FROM plain; END",
			"BEGIN NOT ATOMIC SET sql_log_bin = 0; DELETE FROM plain; END", "BEGIN NOT ATOMIC SET SESSION gtid_domain_id = 7; DELETE FROM plain; END", "BEGIN NOT ATOMIC BINLOG 'x'; END",
			"BEGIN NOT ATOMIC INSERT INTO mysql.global_priv VALUES ('%', 'evil', '{}'); END", "BEGIN NOT ATOMIC FLUSH PRIVILEGES; END", "BEGIN NOT ATOMIC FLUSH TABLES WITH READ LOCK; END",
			"BEGIN NOT ATOMIC SHOW GRANTS FOR root@localhost; END", "BEGIN NOT ATOMIC SHOW CREATE USER root@localhost; END", "BEGIN NOT ATOMIC SELECT 1 INTO OUTFILE '/tmp/locus-never'; END",
			"BEGIN NOT ATOMIC CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1'); END", "BEGIN NOT ATOMIC SET PASSWORD = PASSWORD('x'); END", "BEGIN NOT ATOMIC SET ROLE NONE; END",
			"BEGIN NOT ATOMIC BACKUP STAGE START; END", "BEGIN NOT ATOMIC INSTALL SONAME 'x'; END", "BEGIN NOT ATOMIC CREATE OR REPLACE USER evil; END", "BEGIN NOT ATOMIC CREATE OR REPLACE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST 'x'); END",
			"BEGIN NOT ATOMIC CREATE DEFINER=`table` EVENT evil ON SCHEDULE EVERY 1 DAY DO CREATE USER evil; END", "BEGIN NOT ATOMIC ALTER EVENT evil DO CREATE USER evil; END",
			"CREATE OR REPLACE PROCEDURE evil() CREATE OR REPLACE USER evil", "ALTER EVENT evil DO CREATE USER evil", "CREATE PROCEDURE evil() BEGIN EXECUTE IMMEDIATE 'create user evil'; END",
			"BEGIN NOT ATOMIC CHANGE MASTER TO MASTER_HOST = 'x'; END", "BEGIN NOT ATOMIC RESET QUERY CACHE; END", "BEGIN NOT ATOMIC CACHE INDEX plain IN x; END", "BEGIN NOT ATOMIC CREATE TABLE made (a INT) ENGINE = CONNECT FILE_NAME = '/etc/passwd'; END",
		))...)
		s.try(t, only("mariadb", refusedBy("1008 #1064", // servers accept no label there
			"xa: BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'create user evil'; END", "handler: BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'create user evil'; END", "value: LOOP EXECUTE IMMEDIATE 'create user evil'; END LOOP",
			"do: LOOP CREATE USER evil; LEAVE do; END LOOP", "xa: LOOP CREATE USER evil; LEAVE xa; END LOOP", "signal: LOOP CREATE USER evil; LEAVE signal; END LOOP",
		))...)
		s.try(t,
			attack{name: "Oracle's block", on: "mariadb", mode: "ORACLE", refused: []string{"1003", "1008", "#1064"}, say: []string{"BEGIN EXECUTE IMMEDIATE 'create user evil'; END"}},
			attack{name: "Oracle's label", on: "mariadb", mode: "ORACLE", refused: []string{"1003", "1008", "#1064"}, say: []string{"<<xa>> BEGIN EXECUTE IMMEDIATE 'create user evil'; END"}},
			attack{name: "Oracle's declaration", on: "mariadb", mode: "ORACLE", refused: []string{"1003", "1008", "#1064"}, say: []string{"DECLARE x INT; BEGIN EXECUTE IMMEDIATE 'create user evil'; END"}},
			attack{name: "Oracle's procedure", on: "mariadb", mode: "ORACLE", refused: []string{"1007", "1008"}, say: []string{"CREATE PROCEDURE evil AS BEGIN EXECUTE IMMEDIATE 'create user evil'; END"}},
			attack{name: "Oracle's package", on: "mariadb", mode: "ORACLE", refused: []string{"1007", "1008"}, say: []string{"CREATE PACKAGE BODY evil AS PROCEDURE p AS BEGIN CREATE USER evil; END; END"}},
			attack{name: "prepared", on: "mariadb", refused: []string{"1003", "1008"}, say: []string{"BEGIN NOT ATOMIC EXECUTE IMMEDIATE 'create user evil'; END"}, args: []any{nothing{}}},
			attack{name: "PREPARE", on: "mariadb", refused: []string{"1003", "1008"}, say: []string{"PREPARE p FROM 'BEGIN NOT ATOMIC EXECUTE IMMEDIATE ''create user evil''; END'", "EXECUTE p"}},
			attack{name: "IMMEDIATE", on: "mariadb", refused: []string{"1003", "1008"}, say: []string{"EXECUTE IMMEDIATE 'BEGIN NOT ATOMIC EXECUTE IMMEDIATE ''create user evil''; END'"}},
		)
	})
}

// A user without admin chooses no files, servers or foreign engines for a table.
func TestTablesOfFilesAndServers(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t, refusedBy("1008 #1142",
			"CREATE TABLE made (a INT) DATA DIRECTORY = '/tmp'", "CREATE TABLE made (a INT) DATA DIRECTORY '/tmp'", "CREATE TABLE made (a INT) ENGINE=MyISAM INDEX DIRECTORY='/tmp'",
			"CREATE TABLE made (a INT) PARTITION BY HASH (a) (PARTITION p0 DATA DIRECTORY = '/tmp', PARTITION p1)", "CREATE TABLE made (a INT) /* x */ DATA /* y */ DIRECTORY /* z */ = '/tmp'",
			"ALTER TABLE plain DATA DIRECTORY = '/tmp'", "ALTER TABLE plain PARTITION BY HASH (id) (PARTITION p0 DATA DIRECTORY = '/tmp')", "CREATE TABLE made (a INT) ENGINE = FEDERATED CONNECTION = 'mysql://root@127.0.0.1/x/y'",
			"CREATE TABLE made (a INT NOT NULL) ENGINE = CSV", "ALTER TABLE plain ENGINE = FEDERATED", "CREATE TEMPORARY TABLE made (a INT) DATA DIRECTORY = '/tmp'", "CREATE TABLE made (a INT) ENGINE `FEDERATED`",
			"CREATE TABLE made (a INT) CONNECTION = 'x'", "CREATE TABLE made (a INT) PARTITION BY HASH (a) (PARTITION p0 ENGINE = FEDERATED)", "CREATE TABLE made (a INT) ENGINE 'CSV'",
		)...)
		s.try(t, only("mariadb", refusedBy("1008 #1142",
			"CREATE TABLE made (a INT) ENGINE=CONNECT TABLE_TYPE=DOS FILE_NAME='/etc/passwd'", "CREATE OR REPLACE TABLE made (a INET6) DATA DIRECTORY = '/tmp'", "CREATE TABLE made (a INT) ENGINE=SPIDER COMMENT='wrapper \"mysql\"'",
			"CREATE TABLE made (a INT) TABLE_TYPE=DOS FILE_NAME='/etc/passwd'", "SET STATEMENT max_statement_time = 1 FOR CREATE TABLE made (a INT) DATA DIRECTORY = '/tmp'", "CREATE TABLE made (a INT) ENGINE = S3",
			"CREATE SEQUENCE made ENGINE = CONNECT", "ALTER TABLE plain NOWAIT DATA DIRECTORY = '/tmp'",
		))...)
		for _, user := range []string{"narrow", "database", "dml", "reader"} {
			s.try(t, attack{name: "by " + user, user: user, refused: []string{"1008", "#1142"}, say: []string{"CREATE TABLE test_order (a INT) DATA DIRECTORY = '/tmp'"}})
		}
	})
}

// Harmless texts keep working, with any use of the name locus.
func TestHarmlessTextsStayAllowed(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t,
			attack{name: "names", say: []string{
				"CREATE TABLE locus (locus INT PRIMARY KEY, `data` INT, directory INT)", "INSERT INTO locus VALUES (1, 2, 3)", "SELECT locus.locus, locus.data AS locus FROM locus WHERE locus.locus = 1 ORDER BY locus.data",
				"SELECT locus.a FROM JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$')) locus", "SELECT x.a AS locus, 'locus.decision' FROM JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$')) x",
				"SELECT l.locus, j.a FROM locus l JOIN JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$')) j ON l.locus = j.a", "SELECT locus.locus, j.a FROM locus JOIN JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$')) j ON locus.locus = j.a WHERE locus.locus IN (1, 2) AND NOT locus.data = 7",
				"CREATE TRIGGER locus BEFORE INSERT ON locus FOR EACH ROW SET NEW.locus = NEW.locus + 1", "INSERT INTO locus VALUES (5, 2, 3)", "DROP TRIGGER locus", "HANDLER locus OPEN", "HANDLER locus READ FIRST", "HANDLER locus CLOSE",
				"CREATE FUNCTION locus(locus INT) RETURNS INT DETERMINISTIC RETURN locus + 1", "SELECT locus(4)", "DROP FUNCTION locus", "SELECT data directory FROM locus", "DROP TABLE locus",
			}},
			attack{name: "programs", say: []string{
				"CREATE PROCEDURE good(IN a INT) BEGIN DECLARE x, y INT DEFAULT 0; DECLARE c CURSOR FOR SELECT id FROM plain; DECLARE CONTINUE HANDLER FOR NOT FOUND SET x = 1; OPEN c; l: LOOP FETCH c INTO y; IF x THEN LEAVE l; END IF; SET x = 1; END LOOP l; CLOSE c; WHILE x < 3 DO SET x = x + 1; END WHILE; REPEAT SET x = x - 1; UNTIL x < 0 END REPEAT; CASE a WHEN 1 THEN UPDATE plain SET note = 'z' WHERE id = 1; ELSE BEGIN END; END CASE; IF a = 2 THEN SELECT 1; ELSEIF a = 3 THEN SELECT 2; ELSE SELECT CASE a WHEN 1 THEN 5 ELSE 6 END; END IF; END",
				"CALL good(1)", "SELECT * FROM plain", "DROP PROCEDURE good",
				"CREATE TRIGGER good BEFORE INSERT ON plain FOR EACH ROW BEGIN IF NEW.id > 10 THEN SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'; END IF; SET NEW.note = CONCAT(NEW.note, '!'), NEW.id = NEW.id; END",
				"INSERT INTO plain VALUES (10, 'x')", "INSERT INTO plain VALUES (11, 'x')", "DROP TRIGGER good", "SELECT * FROM plain",
				"CREATE FUNCTION good(a INT) RETURNS VARCHAR(20) DETERMINISTIC BEGIN DECLARE s VARCHAR(20) DEFAULT ''; w: WHILE a > 0 DO SET s = CONCAT(s, 'x'), a = a - 1; END WHILE w; RETURN s; END", "SELECT good(3)", "DROP FUNCTION good",
				"CREATE EVENT good ON SCHEDULE AT CURRENT_TIMESTAMP + INTERVAL 1 DAY ON COMPLETION NOT PRESERVE DISABLE COMMENT 'x' DO BEGIN UPDATE plain SET note = 'e'; END", "ALTER EVENT good COMMENT 'y'", "DROP EVENT good",
				"CREATE PROCEDURE good() SQL SECURITY INVOKER READS SQL DATA COMMENT 'kill' SELECT id FROM plain", "CALL good()", "DROP PROCEDURE good",
			}},
			attack{name: "compound", on: "mariadb", say: []string{
				"BEGIN NOT ATOMIC DECLARE a INT DEFAULT 50; INSERT INTO plain VALUES (a, 'x'); END", "BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION SELECT 'caught'; SELECT * FROM nothing; END",
				"BEGIN NOT ATOMIC FOR i IN 1..3 DO INSERT INTO plain VALUES (60 + i, 'x'); END FOR; END", "BEGIN NOT ATOMIC FOR r IN (SELECT id FROM plain WHERE id = 1) DO UPDATE plain SET note = 'f' WHERE id = r.id; END FOR; END",
				"BEGIN NOT ATOMIC DECLARE locus ROW(decision INT); SET locus.decision = 1; SELECT locus.decision; END", "BEGIN NOT ATOMIC SET @x = 5; SELECT @x; END", "BEGIN NOT ATOMIC SET SESSION sort_buffer_size = 262144; SELECT 1; END", "SELECT * FROM plain",
				"SET STATEMENT max_statement_time = 100 FOR SELECT * FROM plain", "CREATE SEQUENCE locus", "SELECT NEXTVAL(locus)", "SELECT NEXT VALUE FOR locus", "DROP SEQUENCE locus",
				"CREATE TABLE versioned (a INT) WITH SYSTEM VERSIONING", "INSERT INTO versioned VALUES (1)", "SELECT a FROM versioned FOR SYSTEM_TIME ALL", "DROP TABLE versioned", "SELECT id FROM plain ORDER BY id FETCH FIRST 1 ROWS ONLY",
			}},
			attack{name: "tables", say: []string{"CREATE TABLE made (a INT) ENGINE = MyISAM", "ALTER TABLE made ENGINE = InnoDB", "DROP TABLE made", "CREATE TABLE made (a INT) ENGINE MEMORY", "DROP TABLE made"}},
		)
	})
}
