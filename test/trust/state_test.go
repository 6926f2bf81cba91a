package trust

import (
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy/backend"
	"locus/test/shop"
)

// kind is a kind of session state: the statement that creates it, in a form that stored programs allow too, and
// the query that shows it.
type kind struct {
	name, make, look string
}

// kinds of state. Those that no body may have are made by texts alone: the servers
// refuse the others.
var kinds = []kind{
	{"user variable", "SET @mx = 7", "SELECT @mx"},
	{"user variable, by a query", "SELECT 8 INTO @mx", "SELECT @mx, CHARSET(@mx)"},
	{"user variable, by two", "SET @mx = 'a', @my = CONCAT(@mx, 'b')", "SELECT @mx, @my"},
	{"system variable", "SET SESSION group_concat_max_len = 4321", "SELECT @@group_concat_max_len"},
	{"time zone", "SET time_zone = '+05:00'", "SELECT @@session.time_zone, TIMEDIFF(NOW(), UTC_TIMESTAMP())"},
	{"character set", "SET NAMES latin1", "SELECT @@character_set_client, @@character_set_results, @@collation_connection"},
	{"profiling", "SET profiling = 1", "SELECT @@profiling"},
	{"isolation level", "SET SESSION TRANSACTION ISOLATION LEVEL READ COMMITTED", "SELECT @@{isolation}"},
	{"read only", "SET SESSION TRANSACTION READ ONLY", "DELETE FROM mbase WHERE a = 99"},
	{"the next transaction", "SET TRANSACTION READ ONLY", "DELETE FROM mbase WHERE a = 99"},
	{"temporary table", "CREATE TEMPORARY TABLE mtt (a INT)", "SELECT COUNT(*) FROM mtt"},
	{"named lock", "DO GET_LOCK('{schema}', 20)", "SELECT IS_USED_LOCK('{schema}') <=> CONNECTION_ID() AS mine"},
	{"named lock, with rows", "SELECT GET_LOCK('{schema}', 20)", "SELECT IS_USED_LOCK('{schema}') <=> CONNECTION_ID() AS mine"},
	{"table lock", "LOCK TABLES mbase READ", "SELECT COUNT(*) FROM mother"},
	{"handler", "HANDLER mbase OPEN", "HANDLER mbase READ FIRST"},
	{"prepared text", "PREPARE mp FROM 'SELECT 5'", "EXECUTE mp"},
	{"last insert ID", "INSERT INTO mauto (b) VALUES (1)", "SELECT LAST_INSERT_ID() > 0"},
	{"last insert ID, by hand", "DO LAST_INSERT_ID(77)", "SELECT LAST_INSERT_ID()"},
	{"found rows", "SELECT SQL_CALC_FOUND_ROWS a FROM mbase LIMIT 1", "SELECT FOUND_ROWS()"},
	{"warnings", "DO 1 + 'x'", "SHOW COUNT(*) WARNINGS"},
	{"default schema", "USE information_schema", "SELECT DATABASE() = 'information_schema'"},
	{"open transaction", "START TRANSACTION", "SELECT COUNT(*) FROM mbase WHERE a = 5"},
	{"autocommit", "SET autocommit = 0", "SELECT @@autocommit"},
	{"role", "SET ROLE NONE", "SELECT CURRENT_ROLE()"},
}

// way is a way to run a statement: the texts, in which {make} is the statement and {n} distinguishes the
// objects of the kinds, and the objects that must exist.
type way struct {
	name    string
	objects []string
	say     []string
	binary  bool
}

var ways = []way{
	{name: "text", say: []string{"{make}"}},
	{name: "behind comments", say: []string{"/* app=web */ -- x\n# y\n/* z */ {make}"}},
	{name: "several in one text", say: []string{"SELECT 1; {make}; SELECT 2"}},
	{name: "prepared", say: []string{"{make}"}, binary: true},
	{name: "prepared as a text", say: []string{"PREPARE w FROM '{quoted}'", "EXECUTE w"}},
	{name: "prepared from a variable", say: []string{"SET @w = '{quoted}'", "PREPARE w FROM @w", "EXECUTE w", "SET @w = NULL"}},
	{name: "at once", say: []string{"EXECUTE IMMEDIATE '{quoted}'"}},
	{name: "compound", say: []string{"BEGIN NOT ATOMIC {make}; END"}},
	{
		name: "function", say: []string{"SELECT mf{n}()"},
		objects: []string{"CREATE FUNCTION {schema}.mf{n}() RETURNS INT DETERMINISTIC BEGIN {make}; RETURN 1; END"},
	},
	{name: "function, prepared", say: []string{"SELECT mf{n}() + 0"}, binary: true},
	{name: "function, in SET", say: []string{"SET @other = mf{n}(), @other = NULL"}},
	{name: "function, in DO", say: []string{"DO mf{n}()"}},
	{name: "function, in a condition", say: []string{"SELECT COUNT(*) FROM mother WHERE mf{n}() = 1"}},
	{name: "function, by an INSERT", say: []string{"INSERT INTO mother VALUES (mf{n}())"}},
	{name: "function, explained and run", say: []string{"{analyze} SELECT mf{n}() FROM mother"}},
	{
		name: "view", say: []string{"SELECT * FROM mv{n}"},
		objects: []string{"CREATE VIEW {schema}.mv{n} AS SELECT {schema}.mf{n}() AS a"},
	},
	{name: "view, prepared", say: []string{"SELECT a FROM mv{n}"}, binary: true},
	{name: "view, in a text that is prepared", say: []string{"PREPARE w FROM 'SELECT * FROM mv{n} WHERE 1 = ?'", "SET @one = 1", "EXECUTE w USING @one"}},
	{
		name: "view over a function over a function", say: []string{"SELECT * FROM mw{n}"},
		objects: []string{
			"CREATE FUNCTION {schema}.mg{n}() RETURNS INT DETERMINISTIC RETURN {schema}.mf{n}()",
			"CREATE VIEW {schema}.mw{n} AS SELECT {schema}.mg{n}() AS a",
		},
	},
	{
		name: "trigger", say: []string{"INSERT INTO mt{n} VALUES (1)"},
		objects: []string{
			"CREATE TABLE {schema}.mt{n} (a INT)",
			"CREATE TRIGGER {schema}.mr{n} BEFORE INSERT ON {schema}.mt{n} FOR EACH ROW BEGIN {make}; END",
		},
	},
	{name: "trigger, prepared", say: []string{"INSERT INTO mt{n} VALUES (2)"}, binary: true},
	{
		name: "procedure", say: []string{"CALL mp{n}()"},
		objects: []string{"CREATE PROCEDURE {schema}.mp{n}() BEGIN {make}; END"},
	},
	{name: "procedure, prepared", say: []string{"CALL mp{n}( )"}, binary: true},
	{
		name: "procedure, with dynamic SQL", say: []string{"CALL md{n}()"},
		objects: []string{"CREATE PROCEDURE {schema}.md{n}() BEGIN PREPARE z FROM '{quoted}'; EXECUTE z; END"},
	},
	{
		name: "procedure that fails", say: []string{"CALL me{n}()"},
		objects: []string{"CREATE PROCEDURE {schema}.me{n}() BEGIN {make}; SELECT nothing FROM mother; END"},
	},
}

// bases are tables that the statements name.
var bases = []string{
	"CREATE TABLE {schema}.mbase (a INT PRIMARY KEY)", "INSERT INTO {schema}.mbase VALUES (1), (2), (3)",
	"CREATE TABLE {schema}.mother (a INT)", "CREATE TABLE {schema}.mauto (id INT AUTO_INCREMENT PRIMARY KEY, b INT)",
}

// matrix is the state of all kinds, made in all ways.
type matrix struct {
	*shop.Shop
	engine servers.Engine
	plain  *servers.Server
	schema string
	made   map[string]bool // objects that the server has taken
	first  int             // the first of the combinations that are tried; see oneOfSoMany
}

// oneOfSoMany is the number of combinations of kinds and ways of which one is tried. The short scale tries each
// kind in some ways, and each way with some kinds.
var oneOfSoMany = scale.Of(8, 1)

// tries reports whether a combination is tried.
func (m *matrix) tries(kind, way int) bool { return (kind+way)%oneOfSoMany == m.first%oneOfSoMany }

// needs reports whether the objects of a kind and a way are needed. Functions are also used by other ways.
func (m *matrix) needs(kind, way int) bool {
	for i, w := range ways {
		if m.tries(kind, i) && (i == way || uses(w, ways[way])) {
			return true
		}
	}
	return false
}

// uses reports whether a way uses the function or the view of another way.
func uses(w, of way) bool {
	text := strings.Join(w.say, " ") + strings.Join(w.objects, " ")
	return of.name == "function" && (strings.Contains(text, "mf{n}") || strings.Contains(text, "mv{n}")) || of.name == "view" && strings.Contains(text, "mv{n}") ||
		of.name == "trigger" && strings.Contains(text, "mt{n}") || of.name == "procedure" && strings.Contains(text, "mp{n}")
}

// newMatrix finds out which objects the plain server can create, and creates them on a shard too.
func newMatrix(t *testing.T, engine servers.Engine, limits backend.Limits) *matrix {
	t.Helper()
	m := &matrix{engine: engine, plain: servers.Shared(t, engine, 2)[1], made: map[string]bool{}, first: limits.MaxOpen}
	m.schema = servers.Database(t, m.plain)
	admin := login{m.plain.Addr(), m.plain.User, m.plain.Password, m.schema}.open(t, "admin")
	objects := bases
	for n, k := range kinds {
		for i, w := range ways {
			for _, object := range w.objects {
				if object = m.text(object, n, k); m.excluded(k, w) || !m.needs(n, i) {
					continue
				}
				if admin.say(strings.ReplaceAll(object, "{schema}", m.schema)).err == nil {
					m.made[object] = true
					objects = append(objects, object)
				}
			}
		}
	}
	admin.must(t, strings.Split(strings.ReplaceAll(strings.Join(bases, ";"), "{schema}", m.schema), ";")...)
	track(t, engine, servers.Shared(t, engine, 2))
	m.Shop = shop.Start(t, engine, shop.Options{Shards: 1, Tables: objects, Backends: limits})
	foreseenBy(t, m.Shop)
	return m
}

// excluded reports functions and triggers that crash MariaDB: an INSERT that runs SET TRANSACTION READ ONLY
// does.
func (m *matrix) excluded(k kind, w way) bool {
	return m.engine == servers.MariaDB && strings.HasSuffix(k.make, "TRANSACTION READ ONLY") && (w.name == "function" || w.name == "trigger")
}

// text fills in a template for a kind, except for {schema}.
func (m *matrix) text(template string, n int, k kind) string {
	isolation, analyze := "tx_isolation", "ANALYZE"
	if m.engine == servers.MySQL {
		isolation, analyze = "transaction_isolation", "EXPLAIN ANALYZE"
	}
	return strings.NewReplacer(
		"{make}", k.make, "{quoted}", strings.ReplaceAll(k.make, "'", "''"), "{n}", fmt.Sprint(n), "{isolation}", isolation, "{analyze}", analyze,
	).Replace(template)
}

// on returns a text for a session in a schema.
func on(schema, text string) string { return strings.ReplaceAll(text, "{schema}", schema) }

// possible reports whether all objects exist that a way needs.
func (m *matrix) possible(n int, k kind, w way) bool {
	for _, use := range []struct{ in, object string }{
		{"mf{n}", ways[8].objects[0]}, {"mv{n}", "CREATE VIEW {schema}.mv{n} AS SELECT {schema}.mf{n}() AS a"},
	} {
		if strings.Contains(strings.Join(w.say, " "), use.in) && !m.made[m.text(use.object, n, k)] {
			return false
		}
	}
	for _, object := range w.objects {
		if !m.made[m.text(object, n, k)] {
			return false
		}
	}
	return true
}

// run creates the state in two sessions, and returns the answers about it in each.
func (m *matrix) run(t *testing.T, n int, k kind, w way, proxy, plain *session) (got, want string, refused bool) {
	t.Helper()
	var args []any
	if w.binary {
		args = []any{nothing{}}
	}
	for _, text := range w.say {
		text = m.text(text, n, k)
		a, b := proxy.say(on(m.Schema, text), args...), plain.say(on(m.schema, text), args...)
		if b.err == nil && a.err != nil {
			t.Logf("%s, %s: refused: %v", k.name, w.name, a.err)
			refused = true
		}
	}
	look := m.text(k.look, n, k)
	seen := proxy.say(on(m.Schema, look))
	refused = refused || seen.number() == erUnknownText // the proxy doesn't know a text that a procedure has prepared
	stored := len(w.objects) > 0 || strings.Contains(w.say[len(w.say)-1], "{n}")
	refused = refused || stored && k.name == "found rows" // the proxy doesn't query it after stored code, because that would lose the warnings
	return told(seen), told(plain.say(on(m.schema, look))), refused
}

const erUnknownText = 1243

// told returns an answer without the parts that differ between servers.
func told(a answer) string {
	if a.err != nil {
		return fmt.Sprintf("error %d", a.number())
	}
	return a.String()
}

// stateOfAll goes through the combinations of kinds and ways.
func stateOfAll(t *testing.T, m *matrix, limits backend.Limits) {
	stranger := login{m.Addr, shop.User, shop.Password, m.Schema}.open(t, "stranger")
	fresh := login{m.plain.Addr(), m.plain.User, m.plain.Password, m.schema}.open(t, "fresh")
	tried := 0
	for n, k := range kinds {
		look := m.text(k.look, n, k)
		pristine := told(fresh.say(on(m.schema, look)))
		for i, w := range ways {
			if !m.tries(n, i) || !m.possible(n, k, w) {
				continue
			}
			tried++
			what := k.name + ", " + w.name
			m.within(t, func(proxy, plain *session) {
				got, want, refused := m.run(t, n, k, w, proxy, plain)
				if !refused && got != want {
					t.Errorf("%s: who made it sees %s, and on one server %s", what, got, want)
				}
				if limits.MaxOpen == 1 {
					return
				}
				if seen := told(stranger.say(on(m.Schema, look))); seen != pristine {
					t.Errorf("%s: another one sees %s, want %s", what, seen, pristine)
				}
			})
			if seen := told(stranger.say(on(m.Schema, look))); seen != pristine {
				t.Errorf("%s: another one sees afterwards %s, want %s", what, seen, pristine)
			}
		}
	}
	t.Logf("%d combinations", tried)
}

// within calls f with two sessions that end afterwards.
func (m *matrix) within(t *testing.T, f func(proxy, plain *session)) {
	t.Helper()
	proxy, err := login{m.Addr, shop.User, shop.Password, m.Schema}.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = proxy.Close() }()
	plain, err := login{m.plain.Addr(), m.plain.User, m.plain.Password, m.schema}.dial()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = plain.Close() }()
	f(&session{proxy, "proxy"}, &session{plain, "plain"})
}

// A session's state, of any kind and created in any way, is the same as on one server. No other session has it,
// neither at the same time nor afterwards.
func TestStateIsOfOneSession(t *testing.T) {
	for name, limits := range map[string]backend.Limits{"one connection": {MaxOpen: 1}, "some connections": {MaxOpen: 6}} {
		t.Run(name, func(t *testing.T) {
			servers.Engines(t, func(t *testing.T, engine servers.Engine) {
				stateOfAll(t, newMatrix(t, engine, limits), limits)
			})
		})
	}
}
