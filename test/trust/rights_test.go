package trust

import (
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router/plan"
	"locus/router/stmt"
)

// refusedBy is a list of attacks, each of one statement, that are refused by one of
// the codes.
func refusedBy(code string, statements ...string) (list []attack) {
	for _, text := range statements {
		list = append(list, attack{name: text, say: []string{text}, refused: strings.Fields(code)})
	}
	return list
}

// Statements that affect the server rather than tables, both such that the parser can read and such that it can't.
func TestStatementsOnTheServer(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t, refusedBy("1008",
			"CREATE USER evil IDENTIFIED BY 'x'", "/* app=web */ CREATE USER evil", "GRANT ALL ON *.* TO evil", "DROP USER IF EXISTS evil",
			"ALTER USER root@localhost IDENTIFIED BY 'x'", "SET PASSWORD = 'x'", "CREATE ROLE evil", "SET ROLE NONE", "RENAME USER a TO b",
			"CREATE SERVER s FOREIGN DATA WRAPPER mysql OPTIONS (HOST '127.0.0.1')", "DROP SERVER IF EXISTS s",
			"CREATE FUNCTION f RETURNS STRING SONAME 'udf.so'", "INSTALL PLUGIN p SONAME 'p.so'", "UNINSTALL PLUGIN p",
			"SHOW BINARY LOGS", "SHOW MASTER STATUS", "SHOW BINLOG EVENTS", "SHOW ENGINE INNODB STATUS", "SHOW CREATE USER CURRENT_USER()",
			"SHOW GRANTS FOR root@localhost", "FLUSH PRIVILEGES", "FLUSH LOGS", "PURGE BINARY LOGS TO 'x'", "SHUTDOWN",
			"SELECT LOAD_FILE('/etc/passwd')", "SET @x = LOAD_FILE('/etc/passwd')", "DO LOAD_FILE('/etc/passwd')",
			"INSERT INTO plain VALUES (8, LOAD_FILE('/etc/passwd'))", "SELECT * FROM plain INTO OUTFILE '/tmp/locus-never'",
			"SELECT j.a FROM JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) j INTO OUTFILE '/tmp/locus-never'",
			"SELECT LOAD_FILE(CONCAT('/etc/', j.a)) FROM JSON_TABLE('[\"passwd\"]', '$[*]' COLUMNS (a TEXT PATH '$')) j",
			"SELECT * FROM mysql.user", "SELECT COUNT(*) FROM mysql.db", "CREATE VIEW spy AS SELECT * FROM mysql.user", "HANDLER mysql.db OPEN", "CREATE TABLE spy AS SELECT * FROM mysql.user",
			"SELECT VERSION(), u.user FROM mysql.user u", "SELECT * FROM information_schema.INNODB_TRX",
			"CREATE PROCEDURE evil() CREATE USER evil", "CREATE PROCEDURE evil() BEGIN GRANT ALL ON *.* TO evil; END",
			"CREATE TRIGGER evil BEFORE INSERT ON plain FOR EACH ROW SET GLOBAL max_connections = 1",
			"CREATE EVENT evil ON SCHEDULE EVERY 1 DAY DO DROP USER root@localhost",
			"ALTER TABLE plain IMPORT TABLESPACE", "EXPLAIN FOR CONNECTION 1", "EXPLAIN FORMAT=JSON FOR CONNECTION 1",
			"SELECT /*+ SET_VAR(sql_select_limit=1) */ amount FROM test_order ORDER BY amount",
			"SELECT /*+ MAX_EXECUTION_TIME(1000) set_var( time_zone = '+09:00' ) */ NOW() FROM plain",
			"UPDATE /*+ RESOURCE_GROUP(rg) */ plain SET note = 'x'", "SELECT 1 FROM (SELECT /*+ SET_VAR(sql_mode='ANSI') */ 1 AS a) t",
		)...)
		s.try(t, refusedBy("1001 1003 1008",
			"UPDATE mysql.time_zone SET Use_leap_seconds = 'Y'", "DELETE FROM mysql.help_topic", "INSERT INTO mysql.help_topic SELECT * FROM mysql.help_topic",
			"SELECT * FROM mysql.user u, JSON_TABLE('[1]', '$[*]' COLUMNS (a INT PATH '$')) j",
		)...)
		s.try(t, only("mysql", refusedBy("1008",
			"CREATE USER evil IDENTIFIED BY 'x' DEFAULT ROLE locus", "ALTER USER root@localhost IDENTIFIED BY RANDOM PASSWORD",
			"CREATE USER evil IDENTIFIED BY RANDOM PASSWORD", "ALTER INSTANCE DISABLE INNODB REDO_LOG", "ALTER INSTANCE RELOAD TLS",
			"CREATE RESOURCE GROUP rg TYPE = USER", "SET RESOURCE GROUP rg", "CREATE UNDO TABLESPACE u ADD DATAFILE 'u.ibu'",
			"CREATE TABLESPACE ts ADD DATAFILE 'ts.ibd'", "CREATE LOGFILE GROUP lg ADD UNDOFILE 'u'", "CLONE LOCAL DATA DIRECTORY '/tmp/locus-never'",
			"IMPORT TABLE FROM 'x.sdi'", "CHANGE REPLICATION SOURCE TO SOURCE_HOST = 'x'", "START GROUP_REPLICATION", "RESET BINARY LOGS AND GTIDS",
			"RESET PERSIST", "INSTALL COMPONENT 'file://component_validate_password'", "LOCK INSTANCE FOR BACKUP", "SHOW BINARY LOG STATUS",
			"SHOW REPLICAS", "CALL sys.execute_prepared_stmt('CREATE USER evil')", "CALL sys.ps_setup_enable_instrument('x')", "RESTART",
			"SELECT * FROM performance_schema.events_statements_history", "SELECT * FROM performance_schema.data_locks",
			"SELECT * FROM sys.statement_analysis", "SELECT sys.ps_thread_stack(1, FALSE)", "SET DEFAULT ROLE ALL TO root@localhost",
		))...)
		s.try(t, only("mariadb", refusedBy("1008",
			"SELECT * FROM mysql.global_priv", "SHOW EXPLAIN FOR 1", "SHOW ANALYZE FOR 1", "BACKUP STAGE START", "CHANGE MASTER TO MASTER_HOST = 'x'",
			"SET STATEMENT sql_log_bin = 0 FOR INSERT INTO plain VALUES (8, 'x')", "SET STATEMENT max_statement_time = 1 FOR CREATE USER evil",
			"SET STATEMENT gtid_domain_id = 7 FOR INSERT INTO plain VALUES (8, 'x')", "BEGIN NOT ATOMIC CREATE USER evil; END",
			"BEGIN NOT ATOMIC SET GLOBAL max_connections = 1; END", "IF 1 THEN CREATE USER evil; END IF", "SHOW USER_STATISTICS",
			"CREATE OR REPLACE USER evil", "GRANT PROXY ON root@localhost TO evil", "RESET MASTER", "SET DEFAULT ROLE NONE",
			"SELECT MASTER_POS_WAIT('x', 4, 0)",
		))...)
		s.try(t,
			attack{name: "bounded, another connection's plan", user: "narrow", refused: []string{"1008", "#1142"}, say: []string{"EXPLAIN FORMAT=JSON FOR CONNECTION 1"}},
			attack{name: "bounded, an instance", user: "narrow", refused: []string{"1008", "#1142"}, say: []string{"ALTER INSTANCE RELOAD TLS"}},
			attack{name: "the current schema is mysql", refused: []string{"1008"}, say: []string{"USE mysql", "SELECT * FROM user"}},
			attack{name: "the current schema is mysql, unread", refused: []string{"1001", "1008"}, say: []string{"USE mysql", "HANDLER user OPEN"}},
			attack{name: "prepared", refused: []string{"1008"}, say: []string{"PREPARE p FROM 'CREATE USER evil'", "EXECUTE p"}},
			attack{name: "chained", refused: []string{"#1238"}, say: []string{"SET completion_type = CHAIN", "BEGIN", "INSERT INTO plain VALUES (8, 'x')", "COMMIT", "INSERT INTO plain VALUES (9, 'y')", "ROLLBACK"}},
			attack{name: "released", refused: []string{"#1238"}, say: []string{"SET @@completion_type = 2", "BEGIN", "COMMIT", "SELECT 1"}},
			attack{name: "partial JSON", on: "mysql", refused: []string{"#1238"}, say: []string{"SET binlog_row_value_options = PARTIAL_JSON"}},
		)
	})
}

// Statements that drivers, mappers, dumps and tools send remain allowed.
func TestStatementsThatStayAllowed(t *testing.T) {
	stands(t, func(t *testing.T, s *stand) {
		s.try(t,
			attack{name: "hints", say: []string{"SELECT /*+ SET_VAR(sort_buffer_size=262144) MAX_EXECUTION_TIME(100000) */ amount FROM test_order ORDER BY amount"}},
			attack{name: "unread", say: []string{
				"SELECT j.a FROM JSON_TABLE('[1, 2]', '$[*]' COLUMNS (a INT PATH '$')) j", "CHECKSUM TABLE plain", "HANDLER plain OPEN", "HANDLER plain READ FIRST",
				"HANDLER plain CLOSE", "CREATE FUNCTION twice(a INT) RETURNS INT DETERMINISTIC RETURN 2 * a", "SELECT twice(4)", "DROP FUNCTION twice",
				"SELECT * FROM (SELECT * FROM plain INTERSECT SELECT * FROM plain) t", "SELCT 1", "CREATE TABEL x (a INT)", "SHOW CREATE TRIGGER nothing",
				"SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'no'", "CHECK TABLE plain", "SELECT 'x", "SELECT 1 /* open",
			}},
			attack{name: "a trigger", say: []string{"CREATE TRIGGER up BEFORE INSERT ON plain FOR EACH ROW SET NEW.note = UPPER(NEW.note)", "INSERT INTO plain VALUES (10, 'x')", "DROP TRIGGER up", "SELECT * FROM plain"}},
			attack{name: "what dumps set", say: []string{
				"SET SESSION sql_mode = 'NO_AUTO_VALUE_ON_ZERO', foreign_key_checks = 0, unique_checks = 0, sql_notes = 0, time_zone = '+00:00'",
				"SET sql_quote_show_create = 1, character_set_results = NULL, net_write_timeout = 100, wait_timeout = 1000", "SET SQL_AUTO_IS_NULL = 0",
				"SELECT COUNT(*) FROM information_schema.tables WHERE table_name = 'plain'", "SHOW WARNINGS",
			}},
			attack{name: "MariaDB's own", on: "mariadb", say: []string{
				"SET STATEMENT max_statement_time = 100 FOR SELECT * FROM plain", "SET STATEMENT sql_select_limit = 1 FOR SELECT * FROM plain ORDER BY id",
				"BEGIN NOT ATOMIC DECLARE a INT DEFAULT 50; INSERT INTO plain VALUES (a, 'x'); END", "CREATE OR REPLACE TABLE addresses (a INET6)", "DROP TABLE addresses",
				"CREATE SEQUENCE numbers", "SELECT NEXT VALUE FOR numbers", "DROP SEQUENCE numbers", "ANALYZE FORMAT=JSON DELETE FROM plain WHERE FALSE AND id = (SELECT 1 FROM nothing)",
			}},
			attack{name: "MySQL's own", on: "mysql", say: []string{
				"INSERT INTO plain VALUES (1, 'n') AS new ON DUPLICATE KEY UPDATE note = new.note", "SELECT * FROM plain",
				"SELECT VARIABLE_NAME FROM performance_schema.session_variables WHERE VARIABLE_NAME = 'sql_mode'",
			}},
		)
	})
}

// TestServersOwnFunctionsAndTablesAreKnown fails if a server has a new one, which a developer must review.
func TestServersOwnFunctionsAndTablesAreKnown(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		server := servers.Shared(t, engine, 1)[0]
		plain := login{server.Addr(), server.User, server.Password, ""}.open(t, "plain")
		for what, check := range map[string]struct {
			names []string
			known func(string) bool
		}{
			"function": {listedFunctions(t, plain, engine), func(name string) bool { return stmt.KnownFunction(name) || listedOperators[name] }},
			"table": {namesIn(t, plain, "SELECT LOWER(TABLE_NAME) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'information_schema'"), func(name string) bool {
				return plan.InformationTables[name] || plan.HiddenTable(name)
			}},
		} {
			if len(check.names) < 60 {
				t.Errorf("the server lists %d of the kind %s", len(check.names), what)
			}
			for _, name := range check.names {
				if !check.known(name) {
					t.Errorf("%s %s: nobody has looked at it", what, name)
				}
			}
		}
	})
}

// listedOperators are listed among MySQL's functions.
var listedOperators = map[string]bool{"is": true, "like": true, "between": true, "mbr": true, "binary": true, "collate": true, "cast": true, "regexp": true}

func only(engine string, list []attack) []attack {
	for i := range list {
		list[i].on = engine
	}
	return list
}
