package session

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/test/shop"
)

func TestWhatTheProxySaysOfItself(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		c := p.proxy
		version := c.value(t, "SELECT VERSION()")
		if !strings.HasSuffix(version, "-locus") {
			t.Errorf("version %q", version)
		}
		id := c.value(t, "SELECT CONNECTION_ID()")
		for statement, want := range map[string]string{
			"SELECT @@version":                                       "@@version\n" + version,
			"select  @@session.`version` , 1 AS one":                 "@@session.`version`|one\n" + version + "|1",
			"SELECT @@GLOBAL.version v":                              "v\n" + version,
			"SHOW VARIABLES LIKE 'version'":                          "Variable_name|Value\nversion|" + version,
			"SHOW GLOBAL VARIABLES WHERE Variable_name = 'version'":  "Variable_name|Value\nversion|" + version,
			"SELECT CONNECTION_ID() + 0, 'x' FROM (SELECT 1) AS one": "CONNECTION_ID() + 0|x\n" + id + "|x",
			"SELECT @@pseudo_thread_id":                              "@@pseudo_thread_id\n" + id,
			"SELECT CURRENT_USER":                                    "CURRENT_USER\napp@%",
			"SELECT current_user(), USER( ) AS u, session_user()":    "current_user()|u|session_user()\napp@%|app@127.0.0.1|app@127.0.0.1",
			"SELECT UPPER((SELECT user()))":                          "UPPER((SELECT user()))\nAPP@127.0.0.1",
			"SELECT 'version()', `v` FROM (SELECT 1 AS v) t":         "version()|v\nversion()|1",
			"SELECT @@hostname":                                      "@@hostname\n" + hostname(t),
			"SELECT @@port":                                          "@@port\n" + p.shop.Addr[strings.LastIndex(p.shop.Addr, ":")+1:],
			"SHOW VARIABLES LIKE 'port'":                             "Variable_name|Value\nport|" + p.shop.Addr[strings.LastIndex(p.shop.Addr, ":")+1:],
		} {
			if got := c.say(statement); got != want {
				t.Errorf("%s\n got %s\nwant %s", statement, got, want)
			}
			if got := c.say(statement+" # ?", 1)[:5]; got != "error" {
				t.Errorf("%s: prepared with a value too many: %s", statement, got)
			}
		}
		for statement, want := range map[string]string{
			"SELECT CONNECTION_ID(), ?":                   "CONNECTION_ID()|?\n" + id + "|7",
			"SELECT VERSION() = ? AS no":                  "no\n0",
			"SELECT ? + (SELECT @@pseudo_thread_id) AS x": fmt.Sprintf("x\n%s", c.value(t, "SELECT CONNECTION_ID() + 7")),
		} {
			if got := c.say(statement, 7); got != want && strings.Split(got, "\n")[1] != strings.Split(want, "\n")[1]+"e+00" {
				t.Errorf("%s, prepared\n got %s\nwant %s", statement, got, want)
			}
		}
		c.must(t, "CREATE TABLE who (id INT, name VARCHAR(64))")
		c.must(t, "INSERT INTO who VALUES (CONNECTION_ID(), CURRENT_USER())")
		if got := c.say("SELECT * FROM who WHERE id = CONNECTION_ID() AND name = CURRENT_USER"); got != "id|name\n"+id+"|app@%" {
			t.Errorf("a row of the session's: %s", got)
		}
	})
}

func hostname(t *testing.T) string {
	name, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	return name
}

// The first query of Connector/J.
const connectorJ = `/* mysql-connector-j-8.3.0 (Revision: 05db5c0) */SELECT  @@session.auto_increment_increment AS auto_increment_increment, ` +
	`@@character_set_client AS character_set_client, @@character_set_connection AS character_set_connection, @@character_set_results AS character_set_results, ` +
	`@@character_set_server AS character_set_server, @@collation_server AS collation_server, @@collation_connection AS collation_connection, ` +
	`@@init_connect AS init_connect, @@lower_case_table_names AS lower_case_table_names, @@net_write_timeout AS net_write_timeout, ` +
	`@@performance_schema AS performance_schema, @@sql_mode AS sql_mode, @@system_time_zone AS system_time_zone, ` +
	`@@time_zone AS time_zone, @@transaction_isolation AS transaction_isolation, @@wait_timeout AS wait_timeout`

func TestVariables(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		isolation := "transaction_isolation"
		first := connectorJ
		if p.engine == servers.MariaDB {
			isolation = "tx_isolation"
			first = strings.ReplaceAll(first, "transaction_isolation", "tx_isolation")
		}
		p.alike(t,
			first,
			"SELECT @@"+isolation+", @@autocommit, @@session.autocommit",
			"SET SESSION transaction_isolation = 'REPEATABLE-READ'",
			"SET @@transaction_read_only = 0",
			"SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE",
			"SELECT @@"+isolation,
			"SHOW VARIABLES LIKE '"+isolation+"'",
			"SHOW SESSION VARIABLES WHERE Variable_name IN ('autocommit', 'sql_mode') AND Value <> ''",
			"SHOW VARIABLES LIKE 'auto\\_increment\\_%'",
			"SET autocommit = 0",
			"SELECT @@autocommit",
			"SHOW VARIABLES LIKE 'autocommit'",
			"SET autocommit = DEFAULT",
			"SELECT @@autocommit",
			"SET wait_timeout = 77, @@session.net_write_timeout = 88",
			"SELECT @@wait_timeout, @@session.net_write_timeout + 1, @@global.wait_timeout",
			"SHOW VARIABLES LIKE 'wait_timeout'",
			"SHOW GLOBAL VARIABLES LIKE 'wait_timeout'",
			"SET wait_timeout = DEFAULT",
			"SELECT @@wait_timeout",
			"SET wait_timeout = 'soon'",
			"SET sql_mode = CONCAT(@@sql_mode, ',ANSI_QUOTES'), @old = @@sql_mode",
			"SELECT @@sql_mode LIKE '%ANSI_QUOTES%', @old LIKE '%ANSI_QUOTES%'",
			"SET sql_mode = @old",
			"SET @id = 5, @n = @id + 2",
			"SELECT @id, @n",
			"SET version = '5'",
			"SET @@version_comment = '5'",
			"SET nothing_like_it = 1",
			"SELECT @@nothing_like_it",
			"SET max_connections = 5",
			"SET sql_log_bin = 1",
			"SET auto_increment_increment = 1",
			"SET optimizer_switch = 'mrr=on'",
			"SET optimizer_switch = 'index_merge=off'",
			"SELECT @@optimizer_switch LIKE '%mrr=on%', @@optimizer_switch LIKE '%index_merge=off%'",
			"SET @schemata = (SELECT COUNT(*) > 2 FROM information_schema.schemata)",
			"SELECT @schemata",
			"SELECT CAST('a' AS SIGNED)",
			"SHOW COUNT(*) WARNINGS",
			"SHOW WARNINGS",
			"SHOW WARNINGS LIMIT 1, 5",
			"SHOW ERRORS",
			"SELECT * FROM no_such_table",
			"SHOW COUNT(*) ERRORS",
			"SELECT @@error_count",
		)
		for statement, code := range map[string]string{
			"SET sql_log_bin = 0": "1238", "SET @n = (SELECT COUNT(*) FROM test_order), @m = 1": "1235", "SET pseudo_thread_id = 5": "1238",
			"SET GLOBAL wait_timeout = 5": "1227",
		} {
			if got := p.proxy.say(statement); !strings.HasPrefix(got, "error "+code) {
				t.Errorf("%s: %s, want %s", statement, got, code)
			}
		}
	})
}

func TestProcessList(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		other := open(t, "another", p.shop.DB(t, nil))
		id := other.value(t, "SELECT CONNECTION_ID()")
		for _, statement := range []string{"SHOW PROCESSLIST", "SHOW FULL PROCESSLIST"} {
			got := p.proxy.say(statement)
			if !strings.HasPrefix(got, "Id|User|Host|db|Command|Time|State|Info") || !strings.Contains(got, "\n"+id+"|app|127.0.0.1:") ||
				!strings.Contains(got, "|"+p.shop.Schema+"|Query|0||"+statement) {
				t.Errorf("%s: %s", statement, got)
			}
		}
		if got := p.proxy.say("SELECT user AS user, command AS command FROM information_schema.processlist AS p WHERE p.id = " + id); got != "user|command\napp|Sleep" {
			t.Errorf("information_schema: %s", got)
		}
		if got := p.proxy.say("SELECT COUNT(*) FROM `information_schema`.PROCESSLIST WHERE id = ?", id); !strings.HasSuffix(got, "\n1") {
			t.Errorf("prepared: %s", got)
		}
		if got := p.proxy.say("SHOW STATUS LIKE 'Threads_connected'"); got != "Variable_name|Value\nThreads_connected|2" {
			t.Errorf("threads: %s", got)
		}
		if got := p.proxy.say("SHOW GRANTS"); !strings.HasPrefix(got, "Grants for app@%\nGRANT ") || strings.Contains(got, "IDENTIFIED") || !strings.Contains(got, "`app`@`%`") {
			t.Errorf("grants: %s", got)
		}
	})
}

func TestTheClientsOwnTLS(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		if got := p.proxy.value(t, "SHOW STATUS LIKE 'Ssl_cipher'"); !strings.HasSuffix(got, "|") {
			t.Errorf("without TLS: %s", got)
		}
		encrypted := open(t, "encrypted", p.shop.DB(t, func(c *mysql.Config) { c.TLSConfig = "skip-verify" }))
		if got := encrypted.value(t, "SHOW STATUS LIKE 'Ssl_cipher'"); !strings.Contains(got, "|TLS_") {
			t.Errorf("cipher: %s", got)
		}
		if got := encrypted.value(t, "SHOW SESSION STATUS WHERE Variable_name = 'Ssl_version'"); !strings.HasSuffix(got, "|TLSv1.3") {
			t.Errorf("version: %s", got)
		}
	})
}
