package trust

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/router/cluster"
	"locus/test/shop"
)

// stand is a proxy in front of three shards, and a plain server with the same rows.
type stand struct {
	*shop.Shop
	engine servers.Engine
	server *servers.Server // the plain one

	admins     []*session // one for each shard, the last one for the plain server
	app, plain *session   // they prepare and clean up; each test has its own
	rows       map[string]string
	changed    *cluster.Cluster // with the users
	objects    []string         // the initial objects of each server
	told       uint64           // number of connections whose server reported a change: see foreseen
	lasting    *lasting
}

const shards = 3

// standing contains the stands that the tests share, by engine.
var standing = map[servers.Engine]*stand{}

// stands runs a test on each engine. The test finds the rows and the objects of a new stand, and must leave no
// other objects.
func stands(t *testing.T, test func(t *testing.T, s *stand)) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := standing[engine]
		if s == nil {
			l := &lasting{}
			l.serve(t)
			s = newStand(l, engine)
			standing[engine] = s
		} else {
			s.lasting.serve(t)
		}
		t.Cleanup(func() { s.leave(t) }) // once the test's sessions have ended
		s.app, s.plain = s.proxied(t, shop.User), s.direct(t, shop.User)
		test(t, s)
	})
}

// leave checks that a test leaves nothing behind that affects the next one.
func (s *stand) leave(t *testing.T) {
	s.foreseen(t)
	if !maps.Equal(s.rowsNow(t, nil), s.rows) {
		s.app, s.plain = s.proxied(t, shop.User), s.direct(t, shop.User)
		s.restore(t)
	}
	if left := s.objectsNow(t); !slices.Equal(left, s.objects) {
		delete(standing, s.engine)
		t.Cleanup(func() { s.lasting.end() })
		t.Errorf("%s: the test leaves other objects than it found: %q, and not %q any more", s.engine, without(left, s.objects), without(s.objects, left))
	}
}

// undeclared are the undeclared tables on the first shard.
var undeclared = []string{
	"CREATE TABLE plain (id INT NOT NULL PRIMARY KEY, note VARCHAR(64)) DEFAULT CHARSET utf8mb4",
	"CREATE TABLE secret (a INT NOT NULL PRIMARY KEY, hidden VARCHAR(64)) DEFAULT CHARSET utf8mb4",
}

// stamped replaces, for the plain server, the columns that a proxy stamps by columns that fill themselves.
var stamped = strings.NewReplacer(
	"order_id BIGINT NOT NULL PRIMARY KEY", "order_id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT",
	"item_id BIGINT NOT NULL PRIMARY KEY", "item_id BIGINT NOT NULL PRIMARY KEY AUTO_INCREMENT",
	"order_no BIGINT NOT NULL", "order_no BIGINT NOT NULL DEFAULT 0",
	"version BIGINT NOT NULL", "version BIGINT NOT NULL DEFAULT 1",
)

// tables are the tables whose rows are compared, with the columns that can be equal on both sides.
var tables = map[string]string{
	"test_order": "buyer_uid, amount, status",
	"order_item": "product_id, quantity, price",
	"product":    "*",
	"setting":    "*",
	"counted":    "*",
	"plain":      "*",
	"secret":     "*",
}

// password is the password of all users, on the plain server too.
const password = shop.Password

func newStand(t *lasting, engine servers.Engine) *stand {
	s := standOf(t, engine, shop.Options{}, nil)
	s.lasting = t
	return s
}

// standOf returns a stand with further options, and with further tables on the plain server.
func standOf(t testing.TB, engine servers.Engine, o shop.Options, more []string) *stand {
	t.Helper()
	s := &stand{engine: engine}
	if engine == servers.MySQL {
		for _, server := range servers.Shared(t, engine, shards+1) {
			server.Exec(t, "SET GLOBAL innodb_parallel_read_threads = 1") // else each COUNT(*) starts threads
		}
	}
	track(t, engine, servers.Shared(t, engine, shards+1))
	o.Shards, o.User = shards, ", scatter_writes: allow"
	s.Shop = shop.Start(t, engine, o)
	if own, ok := t.(*testing.T); ok {
		foreseenBy(own, s.Shop)
	}
	s.server = servers.Shared(t, engine, shards+1)[shards]
	s.server.Exec(t, "CREATE DATABASE "+s.Schema)
	t.Cleanup(func() {
		if err := s.server.Execute(context.WithoutCancel(t.Context()), "DROP DATABASE "+s.Schema); err != nil {
			t.Error(err)
		}
	})
	for _, sql := range slices.Concat(shop.Tables, shop.Single, more) {
		s.server.Exec(t, stamped.Replace(strings.ReplaceAll(sql, "{schema}", s.Schema)))
	}
	for _, server := range append(slices.Clone(s.Servers), s.server) {
		s.admins = append(s.admins, login{server.Addr(), server.User, server.Password, s.Schema}.open(t, "admin"))
	}
	s.users(t)
	s.app, s.plain = s.proxied(t, shop.User), s.direct(t, shop.User)
	s.app.must(t, undeclared...)
	s.plain.must(t, undeclared...)
	s.fill(t)
	s.objects = s.objectsNow(t)
	return s
}

// track makes servers report changes of a session's state. MySQL reports them only to clients that negotiate
// capabilities that a proxy does not use.
func track(t testing.TB, engine servers.Engine, all []*servers.Server) {
	if engine != servers.MariaDB {
		return
	}
	for _, server := range all {
		server.Exec(t, "SET GLOBAL session_track_state_change = ON")
	}
}

// foreseen checks that, since the last check, no connection was lent again without a reset although its server had reported a
// change.
func (s *stand) foreseen(t *testing.T) {
	t.Helper()
	if n := s.unforeseen(t); n > 0 {
		t.Errorf("%s: %d connections were changed, and lent on as clean", s.engine, n)
	}
}

// unforeseen returns the number of such connections of the stand.
func (s *stand) unforeseen(t *testing.T) uint64 {
	t.Helper()
	now := unforeseen(t, s.Shop)
	before := s.told
	s.told = now
	return now - before
}

// unforeseen waits until all connections of a shop have been returned. It returns how many were lent again
// without a reset although their server had reported a change.
func unforeseen(t *testing.T, s *shop.Shop) (n uint64) {
	t.Helper()
	between := time.NewTicker(time.Millisecond)
	defer between.Stop()
	for deadline := time.After(time.Minute); ; {
		lent := 0
		n = 0
		for _, pool := range s.Proxy.Status().Pools {
			lent += pool.Lent
			n += pool.Unforeseen
		}
		if lent == 0 {
			return n
		}
		select {
		case <-between.C:
		case <-deadline:
			t.Fatalf("%d connections are lent for a minute", lent)
		}
	}
}

// foreseenBy holds it of a shop of the test's own, at its end.
func foreseenBy(t *testing.T, s *shop.Shop) {
	t.Cleanup(func() {
		if n := unforeseen(t, s); n > 0 {
			t.Errorf("%d connections were changed, and lent on as clean", n)
		}
	})
}

// objectsNow returns the tables with their columns, constraints and indexes, the views, programs, triggers,
// events and databases on the servers.
func (s *stand) objectsNow(t testing.TB) (objects []string) {
	t.Helper()
	for i, admin := range s.admins {
		a := admin.say("SELECT 'table', TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE FROM information_schema.TABLES WHERE TABLE_SCHEMA = DATABASE() " +
			"UNION SELECT 'column', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = DATABASE() " +
			"UNION SELECT 'constraint', TABLE_NAME, CONSTRAINT_NAME, CONSTRAINT_TYPE FROM information_schema.TABLE_CONSTRAINTS WHERE TABLE_SCHEMA = DATABASE() " +
			"UNION SELECT 'index', TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE TABLE_SCHEMA = DATABASE() " +
			"UNION SELECT 'routine', ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE FROM information_schema.ROUTINES WHERE ROUTINE_SCHEMA = DATABASE() " +
			"UNION SELECT 'trigger', TRIGGER_SCHEMA, TRIGGER_NAME, '' FROM information_schema.TRIGGERS WHERE TRIGGER_SCHEMA = DATABASE() " +
			"UNION SELECT 'event', EVENT_SCHEMA, EVENT_NAME, '' FROM information_schema.EVENTS WHERE EVENT_SCHEMA = DATABASE() " +
			"UNION SELECT 'database', '', SCHEMA_NAME, '' FROM information_schema.SCHEMATA WHERE SCHEMA_NAME NOT LIKE 'test\\_%'")
		if a.err != nil {
			t.Fatal(a.err)
		}
		for _, row := range a.results[0].rows {
			objects = append(objects, fmt.Sprintf("%d: %s", i, row))
		}
	}
	return objects
}

// users creates the same users on the proxy and on the plain server.
func (s *stand) users(t testing.TB) {
	t.Helper()
	no := false
	declared := map[string]cluster.User{
		"narrow":   {Tables: []string{s.Schema + ".test_order", s.Schema + ".product"}},
		"database": {Databases: []string{s.Schema}},
		"reader":   {ReadOnly: true},
		"dml":      {DDL: &no},
		"careful":  {Unfiltered: cluster.GuardRefuse},
	}
	granted := map[string][]string{
		shop.User:  {"ALL PRIVILEGES ON *.*"},
		"narrow":   {"ALL PRIVILEGES ON {schema}.test_order", "ALL PRIVILEGES ON {schema}.product"},
		"database": {"ALL PRIVILEGES ON {schema}.*"},
		"reader":   {"SELECT ON *.*"},
		"dml":      {"SELECT, INSERT, UPDATE, DELETE ON *.*"},
		"careful":  {"ALL PRIVILEGES ON *.*"},
	}
	changed := *s.Cluster
	changed.Users = maps.Clone(s.Cluster.Users)
	for name, u := range declared {
		u.Secret, u.ScatterWrites = "app", cluster.GuardAllow
		changed.Users[name] = u
	}
	s.changed = &changed
	s.Apply(&changed)
	for name, grants := range granted {
		s.server.Exec(t, fmt.Sprintf("CREATE USER IF NOT EXISTS '%s'@'%%' IDENTIFIED BY '%s'", name, password))
		for _, grant := range grants {
			s.server.Exec(t, fmt.Sprintf("GRANT %s TO '%s'@'%%'", strings.ReplaceAll(grant, "{schema}", s.Schema), name))
		}
	}
}

// proxied opens a connection of a user's to the proxy.
func (s *stand) proxied(t testing.TB, user string) *session {
	t.Helper()
	return login{s.Addr, user, password, s.Schema}.open(t, "proxy")
}

// direct opens one to the plain server.
func (s *stand) direct(t testing.TB, user string) *session {
	t.Helper()
	return login{s.server.Addr(), user, password, s.Schema}.open(t, "plain")
}

const buyers = 40

// fill inserts rows through the proxy, which stamps them, and copies them to the
// plain server.
func (s *stand) fill(t testing.TB) {
	t.Helper()
	var orders, items []string
	for i := range 3 * buyers {
		orders = append(orders, fmt.Sprintf("(%d, %d.50, 'old')", i%buyers+1, i))
	}
	s.app.must(t, "INSERT INTO test_order (buyer_uid, amount, status) VALUES "+strings.Join(orders, ", "))
	for _, id := range s.app.say("SELECT order_id FROM test_order ORDER BY order_id").results[0].rows {
		items = append(items, fmt.Sprintf("(%s, %d, 2, 1.25)", id, len(items)%5+1))
	}
	s.app.must(t,
		"INSERT INTO order_item (order_id, product_id, quantity, price) VALUES "+strings.Join(items, ", "),
		"INSERT INTO product VALUES (1, 'cup', 1), (2, 'pot', 2), (3, 'tea', 3), (4, 'spoon', 4), (5, 'sugar', 5)",
		"INSERT INTO setting VALUES ('currency', 'EUR'), ('country', 'DE')",
		"INSERT INTO counted (note) VALUES ('a'), ('b')",
		"INSERT INTO plain VALUES (1, 'one'), (2, 'two'), (3, 'three')",
		"INSERT INTO secret VALUES (1, 'hidden')",
	)
	for name := range tables {
		s.copy(t, name)
	}
	s.rows = s.rowsNow(t, nil)
}

// copy copies the rows of a table from the shards to the plain server.
func (s *stand) copy(t testing.TB, name string) {
	t.Helper()
	s.plain.must(t, "DELETE FROM "+name)
	for _, i := range s.homes(name) {
		r, err := s.admins[i].Execute("SELECT * FROM " + name)
		if err != nil {
			t.Fatal(err)
		}
		var rows []string
		for _, values := range r.Values {
			literals := make([]string, len(values))
			for j, v := range values {
				if literals[j] = "NULL"; v.Value() != nil {
					literals[j] = "'" + v.String() + "'"
				}
				literals[j] = strings.ReplaceAll(literals[j], "''", "'")
			}
			rows = append(rows, "("+strings.Join(literals, ", ")+")")
		}
		if len(rows) > 0 {
			s.plain.must(t, "INSERT INTO "+name+" VALUES "+strings.Join(rows, ", "))
		}
	}
}

// homes returns the shards that have a table's rows. For a global table one is enough.
func (s *stand) homes(name string) []int {
	if name == "test_order" || name == "order_item" {
		return []int{0, 1, 2}
	}
	return []int{0}
}

// rowsNow returns each table's rows on the shards. It calls unlike for tables whose rows differ from the plain
// server's, or between shards that should have the same.
func (s *stand) rowsNow(t testing.TB, unlike func(name, shards, plain string)) map[string]string {
	t.Helper()
	now := map[string]string{}
	have := make([]map[string][]string, len(s.admins))
	for i := range s.admins {
		have[i] = s.all(i)
	}
	for name := range tables {
		var rows []string
		for _, i := range s.homes(name) {
			rows = append(rows, have[i][name]...)
		}
		slices.Sort(rows)
		now[name] = strings.Join(rows, "\n")
		if unlike == nil {
			continue
		}
		others := []int{shards}
		if name == "product" {
			others = []int{1, 2, shards}
		}
		for _, i := range others {
			if theirs := strings.Join(have[i][name], "\n"); theirs != now[name] {
				unlike(name, now[name], theirs)
			}
		}
	}
	return now
}

// all returns the rows of all tables of a server.
func (s *stand) all(server int) map[string][]string {
	var names, texts []string
	for name, columns := range tables {
		if server == 0 || server == shards || name == "product" || len(s.homes(name)) > 1 {
			names, texts = append(names, name), append(texts, "SELECT "+columns+" FROM "+name)
		}
	}
	a := s.admins[server].say(strings.Join(texts, ";"))
	rows := map[string][]string{}
	for i, name := range names {
		if i < len(a.results) {
			rows[name] = a.results[i].rows
		} else {
			rows[name] = []string{a.err.Error()}
		}
	}
	return rows
}

// restore gives all servers their initial rows.
func (s *stand) restore(t testing.TB) {
	t.Helper()
	for name := range tables {
		for _, admin := range s.admins {
			_ = admin.say("DELETE FROM " + name)
		}
	}
	s.fill(t)
}
