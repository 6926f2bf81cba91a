package session

import (
	"testing"

	"locus/internal/test/servers"
	"locus/test/shop"
)

func TestSignal(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t, "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'own words', MYSQL_ERRNO = 5001", "SHOW WARNINGS",
			"SIGNAL SQLSTATE '01000' SET MESSAGE_TEXT = 'only a warning'", "SHOW WARNINGS", "RESIGNAL", "SELECT 1")
	})
}

func TestInsertIDThatWasSet(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"CREATE TABLE i (id INT PRIMARY KEY AUTO_INCREMENT, v INT)", "CREATE TABLE without (v INT)",
			"SET INSERT_ID = 60", "INSERT INTO i (v) VALUES (1), (2)", "SELECT * FROM i", "SELECT LAST_INSERT_ID()", "INSERT INTO i (v) VALUES (3)", "SELECT * FROM i",
			"SET insert_id = 'x'", "BEGIN", "SET insert_id = 80", "INSERT INTO i (v) VALUES (4)", "COMMIT", "SELECT * FROM i", "SELECT LAST_INSERT_ID()",
			"SET timestamp = 1700000000", "SELECT NOW() = FROM_UNIXTIME(1700000000), @@timestamp", "SET timestamp = DEFAULT", "SELECT NOW() > FROM_UNIXTIME(1700000000)",
			"SET auto_increment_increment = 10, auto_increment_offset = 7", "INSERT INTO i (v) VALUES (5), (6)", "SELECT * FROM i", "SET auto_increment_increment = DEFAULT",
		)
		p.proxy.must(t, "SET insert_id = 5")
		p.proxy.must(t, "INSERT INTO without VALUES (1)")
		other := open(t, "another", p.shop.DB(t, nil))
		for range 3 { // whatever connection it gets
			other.must(t, "INSERT INTO i (v) VALUES (7)")
		}
		if got := other.value(t, "SELECT COUNT(*) FROM i WHERE id < 60"); got != "0" {
			t.Errorf("%s rows have the number of another session", got)
		}
	})
}

func TestShowVariablesAndStatus(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t,
			"SHOW VARIABLES LIKE 'sql_mo%'", "SHOW GLOBAL VARIABLES LIKE 'autocommit'", "SHOW VARIABLES WHERE Variable_name IN ('sql_mode', 'time_zone')",
			"SHOW VARIABLES WHERE Variable_name = 'autocommit' AND Value = 'ON'", "SHOW VARIABLES LIKE 'no_such_thing'", "SELECT FOUND_ROWS()",
			"SHOW STATUS LIKE 'ssl_cipher'", "SHOW SESSION STATUS LIKE 'Com_stmt_re%'", "SHOW GLOBAL STATUS LIKE 'max_statement_time%'", "SHOW VARIABLES WHERE nothing = 1",
			"SHOW LOCAL VARIABLES LIKE 'last_insert_id'",
		)
		if got := p.proxy.say("SHOW VARIABLES LIKE 'version'"); got != "Variable_name|Value\nversion|"+p.proxy.value(t, "SELECT VERSION()") {
			t.Errorf("version: %s", got)
		}
		p.proxy.must(t, "SET wait_timeout = 77")
		if got := p.proxy.say("SHOW VARIABLES LIKE 'wait_timeout'"); got != "Variable_name|Value\nwait_timeout|77" {
			t.Errorf("wait_timeout: %s", got)
		}
	})
}

func TestWordsOfTheServers(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		p.alike(t, "SET NAMES no_such_set", "SHOW WARNINGS", "SET CHARACTER SET no_such_set", "SHOW WARNINGS", "SET NAMES utf8mb4")
		if p.engine == servers.MariaDB {
			p.alike(t, "SET profiling = 1", "SELECT 1", "SELECT QUERY_ID, COUNT(*) FROM information_schema.PROFILING WHERE STATE = 'Starting' GROUP BY QUERY_ID", "SET profiling = 0")
		}
	})
}

// MySQL has the tables of variables in performance_schema alone.
func TestTablesThatAServerLacks(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		for _, table := range []string{"global_variables", "SESSION_STATUS"} {
			p.alike(t, "SELECT COUNT(*) > 1 FROM information_schema."+table)
		}
		if p.engine == servers.MySQL {
			p.alike(t, "SELECT COUNT(*) > 1 FROM performance_schema.global_variables")
		}
	})
}

func TestLockIsFoundWrongWhenPrepared(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		if p.engine == servers.MySQL { // MariaDB prepares it
			p.alike(t, "PREPARE p FROM 'LOCK TABLES nowhere WRITE'", "PREPARE p FROM 'LOCK TABLES information_schema.nowhere WRITE'", "PREPARE p FROM 'LOCK TABLES'", "SELECT 1")
		}
	})
}
