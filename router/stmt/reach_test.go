package stmt

import "testing"

// reachOf lexes a text as MariaDB and MySQL do by default.
func reachOf(text, within string) Reach {
	l := &Lexed{Within: within}
	l.Lex([]byte(text), 0)
	l.Within = within
	return l.Reach()
}

// A text that reaches nothing else is accepted, whatever its names look like.
func TestReachOfHarmlessTexts(t *testing.T) {
	for _, text := range []string{
		"SELECT locus.a FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) locus",
		"SELECT a, locus.b FROM x locus JOIN y ON locus.a = y.a WHERE locus.a IN (1, 2) AND (locus.b = 1) GROUP BY 1, locus.b ORDER BY SUM(locus.b), COUNT(DISTINCT locus.c)",
		"SELECT 'locus.decision', \"locus.decision\" /* locus.decision */ FROM t -- locus.decision",
		"SELECT x.locus.y FROM t", "SELECT locus, t.locus FROM shop.locus t FETCH FIRST ROW ONLY", "CREATE TABLE locus (locus INT, KEY (locus)) WITH SYSTEM VERSIONING",
		"UPDATE shop.locus, x SET locus.a = 1, locus.b = 2", "INSERT INTO t VALUES (1) AS locus ON DUPLICATE KEY UPDATE a = locus.a + 1",
		"BEGIN NOT ATOMIC DECLARE locus ROW(decision INT); SET locus.decision = 1; SELECT locus.decision; END",
		"CREATE TRIGGER locus BEFORE INSERT ON t FOR EACH ROW SET NEW.locus = 1", "CREATE DEFINER=locus@'%' PROCEDURE p() SELECT 1",
		"CREATE TRIGGER a BEFORE UPDATE ON t FOR EACH ROW UPDATE u SET server_id = 1, `global` = 2 WHERE id = NEW.id",
		"CREATE PROCEDURE p() UPDATE u SET server_id = 1",
		"CREATE PROCEDURE p(a INT) COMMENT 'kill' BEGIN DECLARE x, y INT; DECLARE CONTINUE HANDLER FOR NOT FOUND SET x = 1; l: LOOP FETCH c INTO y; IF x THEN LEAVE l; END IF; END LOOP l; " +
			"CASE a WHEN 1 THEN UPDATE t SET b = 'z' WHERE id = 1; ELSE BEGIN END; END CASE; SELECT CASE a WHEN 1 THEN execute ELSE shutdown END; ALTER TABLE t DROP COLUMN x, CHANGE a b INT; END",
		"CREATE FUNCTION f() RETURNS VARCHAR(10) CHARACTER SET utf8mb4 DETERMINISTIC RETURN (SELECT REPLACE(a, 'x', 'y') FROM t USE INDEX (i) LIMIT 1 LOCK IN SHARE MODE)",
		"CREATE EVENT e ON SCHEDULE EVERY 1 DAY STARTS NOW() ENDS NOW() + INTERVAL 1 DAY ON COMPLETION PRESERVE DISABLE COMMENT 'x' DO CALL p()",
		"BEGIN NOT ATOMIC SET SESSION sort_buffer_size = 1, @a = 2, @@session.sql_mode = ''; SET NAMES utf8mb4; SET TRANSACTION READ ONLY; START TRANSACTION; COMMIT; FLUSH TABLES t; END",
		"BEGIN NOT ATOMIC FOR i IN 1..3 DO INSERT INTO t VALUES (i); END FOR; SET STATEMENT max_statement_time = 1 FOR SELECT 1; SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'x'; END",
		"CREATE TABLE t (engine VARCHAR(10), data INT, directory INT, connection INT DEFAULT 1) ENGINE = InnoDB", "CREATE OR REPLACE TABLE t (a INET6) ENGINE MyISAM COMMENT = 'DATA DIRECTORY'",
		"CREATE OR REPLACE TABLE t AS SELECT a data, engine FROM u WHERE engine = 'x'", "ALTER TABLE t NOWAIT ENGINE=Aria", "XA START 'a'", "CREATE SEQUENCE s ENGINE = InnoDB", "SELECT NEXTVAL(locus)",
		"SHOW FULL TABLES FROM locus", "SHOW CREATE TRIGGER a",
	} {
		if r := reachOf(text, "shop"); !r.Passes || r.Own || r.Dynamic+r.Server+r.Files != "" {
			t.Errorf("%s: %+v", text, r)
		}
	}
}

func TestReachOfTheSchemaLocus(t *testing.T) {
	for _, text := range []string{
		"DROP TABLE locus.decision NOWAIT", "DROP TABLE a, `Locus`.decision NOWAIT", "SELECT 1 FROM x JOIN y ON x.a = y.a, locus.decision", "SELECT locus.a FROM x locus, locus . decision",
		"SELECT 1 FROM (locus.decision, x)", "SELECT 1 FROM {oj locus.decision LEFT JOIN x ON 1}", "DELETE t, locus.decision FROM x", "DELETE locus.decision FROM x", "UPDATE x, locus.decision SET a = 1",
		"INSERT locus.decision VALUES (1) AS n", "REPLACE locus.decision VALUES ROW(1)", "CREATE TRIGGER x BEFORE INSERT ON locus.t FOR EACH ROW SET NEW.a = 1", "CREATE TRIGGER locus.x BEFORE INSERT ON t FOR EACH ROW SET NEW.a = 1",
		"BEGIN NOT ATOMIC DROP DATABASE locus; END", "CREATE OR REPLACE DATABASE locus", "CREATE SCHEMA IF NOT EXISTS `LOCUS` ENCRYPTION 'N'", "SELECT NEXTVAL(locus.s)", "SELECT NEXT VALUE FOR locus.s", "SELECT locus.f(1) FETCH FIRST ROW ONLY",
		"SELECT locus.decision.txn FROM t", "CREATE TABLE m (a INT) UNION = (locus.decision) ENGINE = MERGE", "CREATE TABLE m (a INET6 REFERENCES locus.decision (txn))", "CREATE TABLE m LIKE locus.decision",
		"CREATE OR REPLACE TABLE m (LIKE locus.decision)", "RENAME TABLES a TO b, c TO locus.c", "LOCK TABLES a READ, locus.decision AS d WRITE", "FLUSH TABLES a, locus.decision", "HANDLER locus.decision OPEN", "ALTER TABLE p CONVERT TABLE locus.decision TO PARTITION x VALUES LESS THAN (1)",
		"ALTER EVENT locus.e DISABLE", "BEGIN NOT ATOMIC SELECT 1; DELETE FROM/**/locus/**/./**/decision; END", "TABLE locus.decision INTO @a", "SELECT * FROM t WHERE a IN (TABLE locus.decision)", "LOAD XML LOCAL INFILE 'x' INTO TABLE locus.decision", "CREATE TABLE locus.1a (a INET6)",
	} {
		if r := reachOf(text, "shop"); !r.Own {
			t.Errorf("%s: %+v", text, r)
		}
	}
	if reachOf("DROP TABLE decision NOWAIT", "LOCUS").Own != true || reachOf("XA START 'a'", "locus").Own {
		t.Error("within locus")
	}
}

func TestReachOfTheServer(t *testing.T) {
	for _, body := range []string{
		"SET GLOBAL a = 1", "SET @a = 1, @b = (SELECT 1, 2), GLOBAL a = 1", "SET @@global.a = 1", "SET @@ GLOBAL . a = 1", "SET @@`persist`.a = 1", "SET PERSIST_ONLY a = 1", "SET PASSWORD = 'x'", "SET ROLE NONE", "SET DEFAULT ROLE x", "SET RESOURCE GROUP x",
		"SET sql_log_bin = 0", "SET SESSION gtid_domain_id = 1", "SET @@session.sql_log_bin = 0", "SET @@local.sql_log_bin = 0", "SET LOCAL `sql_log_bin` = 0", "SET x = 1, sql_log_bin = 0", "SET STATEMENT sql_log_bin = 0 FOR SELECT 1", "SET STATEMENT max_statement_time = 1 FOR CREATE USER x",
		"CREATE USER x", "CREATE OR REPLACE USER x", "CREATE ROLE x", "DROP USER x", "ALTER USER x", "RENAME USER x TO y", "GRANT ALL ON *.* TO x", "REVOKE ALL ON *.* FROM x", "CREATE SERVER s", "CREATE OR REPLACE SERVER s", "CREATE TABLESPACE x", "CREATE UNDO TABLESPACE x", "ALTER INSTANCE RELOAD TLS",
		"KILL 1", "KILL (SELECT 1)", "SHUTDOWN", "SHUTDOWN WAIT FOR ALL SLAVES", "RESTART", "FLUSH PRIVILEGES", "FLUSH LOCAL LOGS", "FLUSH TABLES WITH READ LOCK", "FLUSH TABLES t FOR EXPORT", "RESET MASTER", "RESET PERSIST", "PURGE BINARY LOGS TO 'x'", "CHANGE MASTER TO MASTER_HOST = 'x'", "START SLAVE", "STOP REPLICA",
		"INSTALL PLUGIN p SONAME 'x'", "INSTALL SONAME 'x'", "INSTALL COMPONENT 'x'", "UNINSTALL PLUGIN p", "BINLOG 'x'", "BINLOG @a, @b", "BACKUP STAGE START", "CLONE LOCAL DATA DIRECTORY 'x'", "IMPORT TABLE FROM 'x'", "LOAD DATA INFILE 'x' INTO TABLE t", "LOAD INDEX INTO CACHE t", "CACHE INDEX t IN c",
		"SHOW CREATE USER x", "SHOW GRANTS FOR x", "SHOW BINARY LOGS", "SHOW ENGINE INNODB STATUS", "SHOW PROCESSLIST", "SELECT 1 INTO OUTFILE 'x'", "SELECT LOAD_FILE('x')", "LOCK INSTANCE FOR BACKUP", "USE mysql", "XA START 'x'", "ALTER TABLE t DISCARD TABLESPACE", "ALTER TABLE t IMPORT PARTITION p TABLESPACE",
	} {
		for _, around := range [][2]string{
			{"CREATE PROCEDURE p() ", ""},
			{"CREATE PROCEDURE p(IN a INT) COMMENT 'x' ", ""},
			{"CREATE FUNCTION f() RETURNS INT DETERMINISTIC BEGIN ", "; RETURN 1; END"},
			{"BEGIN NOT ATOMIC ", "; END"},
			{"BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR SQLEXCEPTION ", "; SELECT 1; END"},
			{"BEGIN NOT ATOMIC DECLARE EXIT HANDLER FOR 1062 ", "; SELECT 1; END"},
			{"CREATE EVENT e ON SCHEDULE EVERY 1 DAY DO ", ""},
			{"ALTER EVENT e DO ", ""},
			{"CREATE DEFINER=`table`@localhost EVENT e ON SCHEDULE EVERY 1 DAY DO ", ""},
			{"CREATE DEFINER = CURRENT_USER() TRIGGER t AFTER UPDATE ON u FOR EACH ROW ", ""},
			{"CREATE TRIGGER t AFTER UPDATE ON u FOR EACH ROW FOLLOWS v ", ""},
			{"BEGIN NOT ATOMIC IF 1 THEN UPDATE t SET a = 1; ELSE ", "; END IF; END"},
			{"BEGIN NOT ATOMIC l: WHILE 1 DO ", "; END WHILE l; END"},
			{"BEGIN NOT ATOMIC LOOP UPDATE t SET a = 1; ", "; END LOOP; END"},
			{"BEGIN NOT ATOMIC REPEAT ", "; UNTIL 1 END REPEAT; END"},
			{"BEGIN NOT ATOMIC CASE 1 WHEN 1 THEN ", "; END CASE; END"},
			{"SET STATEMENT max_statement_time = 1 FOR BEGIN NOT ATOMIC BEGIN ", "; END; END"},
			{"CREATE OR REPLACE PACKAGE BODY p AS PROCEDURE q AS BEGIN ", "; END; END"},
			{"CREATE PROCEDURE p AS BEGIN <<l>> ", "; END"},
		} {
			if r := reachOf(around[0]+body+around[1], "shop"); r.Server == "" {
				t.Errorf("%s%s%s passes", around[0], body, around[1])
			}
			for _, dynamic := range []string{"EXECUTE IMMEDIATE 'x'", "EXECUTE p", "EXECUTE `p` USING @a", "PREPARE p FROM 'x'", "PREPARE/**/p FROM @a", "DEALLOCATE PREPARE p", "execute/**/immediate CONCAT('x')"} {
				if r := reachOf(around[0]+dynamic+around[1], "shop"); r.Dynamic == "" {
					t.Errorf("%s%s%s passes", around[0], dynamic, around[1])
				}
			}
		}
	}
	for _, text := range []string{
		"xa: BEGIN NOT ATOMIC SELECT 1; END", "handler: LOOP CREATE USER x; END LOOP", "IF 1 THEN CREATE USER x; END IF", "CREATE USER x", "SHOW GRANTS", "SET GLOBAL a = 1", "CREATE TABLESPACE x", "CREATE NOVELTY x", "NOVELTY x", "EXPLAIN FOR CONNECTION 1", "`select` 1",
		"<<l>> BEGIN SELECT 1; END", "BEGIN SELECT 1; END", "DECLARE x INT; BEGIN SELECT 1; END", "ALTER INSTANCE x", "FLUSH LOGS", "KILL 1", "LOCK INSTANCE FOR BACKUP",
	} {
		if r := reachOf(text, "shop"); r.Passes {
			t.Errorf("%s passes", text)
		}
	}
}

func TestReachOfFiles(t *testing.T) {
	for _, text := range []string{
		"CREATE OR REPLACE TABLE t (a INET6) DATA DIRECTORY = '/tmp'", "ALTER TABLE t NOWAIT DATA/**/DIRECTORY '/tmp'", "CREATE OR REPLACE TABLE t (a INET6) INDEX DIRECTORY='/tmp'", "CREATE TABLE t (a INET6) PARTITION BY HASH (a) (PARTITION p DATA DIRECTORY = '/tmp')",
		"CREATE TABLE t (a INET6) ENGINE=CONNECT", "CREATE TABLE t (a INET6) ENGINE `Federated`", "CREATE TABLE t (a INET6) ENGINE 'CSV'", "CREATE TABLE t (a INET6) ENGINE=NOVELTY", "CREATE TABLE t (a INET6) PARTITION BY HASH (a) (PARTITION p ENGINE = SPIDER)",
		"CREATE TABLE t (a INT) TABLE_TYPE=DOS FILE_NAME='/etc/passwd'", "CREATE TABLE t (a INT) FILE_NAME='/etc/passwd'", "CREATE OR REPLACE TABLE t (a INET6) CONNECTION='x'", "CREATE SEQUENCE s ENGINE=CONNECT", "BEGIN NOT ATOMIC CREATE TABLE t (a INT) DATA DIRECTORY '/tmp'; END",
		"CREATE PROCEDURE p() CREATE TABLE t (a INT) ENGINE=CONNECT", "CREATE PROCEDURE p() ALTER TABLE t DATA DIRECTORY='/tmp'",
	} {
		if r := reachOf(text, "shop"); r.Files == "" {
			t.Errorf("%s passes", text)
		}
	}
}
