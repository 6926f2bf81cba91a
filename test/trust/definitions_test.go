package trust

import (
	"regexp"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/test/shop"
)

// leavingNothing are statements after which a connection is lent again without a reset.
var leavingNothing = []string{
	"CREATE TABLE d1 (a INT PRIMARY KEY AUTO_INCREMENT, b INT DEFAULT 7, KEY (b))", "INSERT INTO d1 VALUES (NULL, 1)",
	"ALTER TABLE d1 ADD COLUMN c INT DEFAULT 5, CONVERT TO CHARACTER SET latin1", "CREATE INDEX j ON d1 (b, c)",
	"CREATE VIEW dv AS SELECT a, b FROM d1", "DESCRIBE dv", "SHOW CREATE TABLE d1",
	"CREATE FUNCTION df(x INT) RETURNS INT DETERMINISTIC BEGIN INSERT INTO d1 (b) VALUES (x); RETURN x + 1; END",
	"CREATE PROCEDURE dp() BEGIN SET @dx = 1; SET SESSION sort_buffer_size = 65536; END",
	"CREATE TRIGGER dt BEFORE INSERT ON d1 FOR EACH ROW SET NEW.b = 3", "INSERT INTO d1 (b) VALUES (1)",
	"SELECT df(4)", "DO df(5)", "EXPLAIN SELECT * FROM d1", "DO SLEEP(0)",
	"TRUNCATE TABLE d1", "DROP VIEW dv", "DROP TABLE IF EXISTS d1, d2",
}

// Definitions, and functions whose bodies leave no state, cost no reset. The next session of the connection
// finds the state of a fresh one.
func TestDefinitionsLeaveNothing(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		track(t, engine, servers.Shared(t, engine, 1))
		const open = 2 // one for the session with the definition, and one for the session that reads the result
		s := shop.Start(t, engine, shop.Options{Shards: 1, Backends: backend.Limits{MaxOpen: open}})
		foreseenBy(t, s)
		app := login{s.Addr, shop.User, shop.Password, s.Schema}.open(t, "app")
		var strangers []*session // they have one connection each, which are all connections
		for range open {
			strangers = append(strangers, login{s.Addr, shop.User, shop.Password, s.Schema}.open(t, "stranger"))
		}
		resets := func() (n uint64) {
			for _, pool := range s.Proxy.Status().Pools {
				n += pool.Resets
			}
			return n
		}
		pristine := variablesOf(t, strangers[0])
		for _, text := range leavingNothing {
			before := resets()
			app.must(t, on(s.Schema, text))
			if n := resets() - before; n > 0 {
				t.Errorf("%s: %d resets", text, n)
			}
		}
		for _, stranger := range strangers {
			stranger.must(t, "BEGIN", "SELECT COUNT(*) FROM counted")
			for name, value := range variablesOf(t, stranger) {
				if was := pristine[name]; was != value {
					t.Errorf("another one has %s %s, and not %s", name, value, was)
				}
			}
		}
	})
}

// variablesOf returns the session variables of the connection that serves a session, without those that change
// all the time.
func variablesOf(t *testing.T, s *session) map[string]string {
	t.Helper()
	found := map[string]string{}
	all := s.say("SHOW SESSION VARIABLES")
	if all.err != nil {
		t.Fatalf("%s: show variables: %v", s.who, all.err)
	}
	for _, row := range all.results[0].rows {
		name, value, _ := strings.Cut(row, "|")
		if name = strings.Trim(name, `"`); !momentary.MatchString(name) {
			found[name] = value
		}
	}
	return found
}

var momentary = regexp.MustCompile(`^(timestamp|rand_seed[12]|statement_id|pseudo_thread_id|in_transaction|.*gtid.*)$`)
