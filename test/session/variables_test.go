package session

import (
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/sysvars"
	"locus/test/shop"
)

// settable is a query for the names of the variables that a session can set.
var settable = map[servers.Engine]string{
	servers.MariaDB: "SELECT LOWER(VARIABLE_NAME) FROM information_schema.SYSTEM_VARIABLES WHERE VARIABLE_SCOPE LIKE 'SESSION%' AND READ_ONLY = 'NO'",
	servers.MySQL:   "SELECT LOWER(VARIABLE_NAME) FROM performance_schema.variables_metadata WHERE VARIABLE_SCOPE <> 'GLOBAL'",
}

// told contains variables that no session can set, although MySQL lists them with those that can be set.
const told = " error_count external_user gtid_owned proxy_user statement_id warning_count "

// TestEveryVariableIsClassified fails if a server has a new variable. A developer must then review its effects on routes,
// transactions, the binary log that moves read, and other shards, and classify it.
func TestEveryVariableIsClassified(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		plain := open(t, "plain", servers.Shared(t, engine, 1)[0].DB(t, ""))
		names := strings.Split(plain.say(settable[engine]), "\n")[1:]
		if len(names) < 100 {
			t.Fatalf("the server lists %d variables: %v", len(names), names)
		}
		for _, name := range names {
			if !sysvars.Classified(name) && !strings.Contains(told, " "+name+" ") {
				t.Errorf("%s has no class", name)
			}
		}
	})
}

func TestVariablesThatAreNotForSessions(t *testing.T) {
	pairs(t, shop.Options{}, func(t *testing.T, p *pair) {
		refused := []string{
			"SET completion_type = CHAIN", "SET @@completion_type = 2", "SET sql_auto_is_null = 1", "SET sql_log_off = 1", "SET rand_seed1 = 1",
		}
		if p.engine == servers.MySQL {
			refused = append(refused, "SET binlog_row_value_options = PARTIAL_JSON", "SET autocommit = 1, SESSION binlog_row_value_options = 'PARTIAL_JSON'",
				"SET original_commit_timestamp = 1", "SET resultset_metadata = NONE", "SET require_row_format = 1",
				"SET xa_detach_on_prepare = OFF", "SET @@session.binlog_transaction_compression = ON")
		} else {
			refused = append(refused, "SET default_master_connection = 'x'", "SET binlog_annotate_row_events = 0", "SET skip_replication = 1")
		}
		for _, statement := range refused {
			if got := p.proxy.say(statement); got != "error 1238 (HY000)" {
				t.Errorf("%s: %s", statement, got)
			}
		}
		p.proxy.must(t, "SET completion_type = 0, completion_type = 'NO_CHAIN', completion_type = DEFAULT, sql_auto_is_null = OFF")
		p.alike(t, "SET no_such_variable = 1", "SET no.such = 1", "SET max_connections = 3", "SET datadir = 1", "SET SESSION no_such_variable = DEFAULT", "SELECT @@completion_type, @@sql_auto_is_null")
	})
}
