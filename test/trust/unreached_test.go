package trust

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/test/shop"
)

// TestRandomStatementsReachNothingOfTheServer holds that random statements of users without admin change nothing in the schema
// locus, no account, no global variable and no file, on any shard. LOCUS_STATEMENTS is the number of statements on each engine,
// LOCUS_SEED the seed.
func TestRandomStatementsReachNothingOfTheServer(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		count, seed := int(fromEnvironment(t, "LOCUS_STATEMENTS", scale.Of[uint64](1000, 100_000))), fromEnvironment(t, "LOCUS_SEED", 1) //nolint:gosec // a number of statements
		r := newRaid(t, engine, seed)
		for said := 0; said < count; said += raidLength {
			r.round(t)
			if t.Failed() {
				break
			}
		}
		r.report(t)
	})
}

// raidLength is the number of statements between two comparisons, raiders the number of concurrent senders, perSession the number
// of statements of one session.
const raidLength, raiders, perSession = 800, 8, 50

// raid sends random statements through a proxy.
type raid struct {
	*shop.Shop
	engine  servers.Engine
	dir     string // no statement may leave a file in it
	admins  []*session
	before  []string
	raiders []*generator
	counts
}

// counts are the outcomes of statements.
type counts struct {
	said                                int
	passed, refused, failed             int // by the proxy; failed: the server's own error
	sampled, valid, guilty, guiltyValid int // of a sample: how many texts the server accepts, and the same for those that must be refused
	codes                               map[string]int
}

func (c *counts) add(o *counts) {
	c.said, c.passed, c.refused, c.failed = c.said+o.said, c.passed+o.passed, c.refused+o.refused, c.failed+o.failed
	c.sampled, c.valid, c.guilty, c.guiltyValid = c.sampled+o.sampled, c.valid+o.valid, c.guilty+o.guilty, c.guiltyValid+o.guiltyValid
	for code, n := range o.codes {
		c.codes[code] += n
	}
}

// newRaid makes a shop whose schema locus has an object of each kind, on every shard.
func newRaid(t *testing.T, engine servers.Engine, seed uint64) *raid {
	t.Helper()
	r := &raid{engine: engine, dir: t.TempDir(), counts: counts{codes: map[string]int{}}}
	if err := os.Chmod(r.dir, 0o777); err != nil { //nolint:gosec // servers of other users may write there, if anything lets them
		t.Fatal(err)
	}
	r.Shop = shop.Start(t, engine, shop.Options{})
	for _, server := range r.Servers {
		admin := login{server.Addr(), server.User, server.Password, r.Schema}.open(t, "admin")
		admin.must(t, "CREATE DATABASE IF NOT EXISTS locus", "CREATE TABLE locus.kept (txn VARCHAR(64) NOT NULL PRIMARY KEY, committed INT, shards INT)",
			"INSERT INTO locus.kept VALUES ('a', 1, 1), ('b', 0, 2)", "CREATE VIEW locus.seen AS SELECT txn FROM locus.kept",
			"CREATE PROCEDURE locus.kept() SELECT 1", "CREATE TRIGGER locus.kept BEFORE UPDATE ON locus.kept FOR EACH ROW SET NEW.shards = 7", "SET GLOBAL event_scheduler = ON")
		if engine == servers.MariaDB {
			admin.must(t, "CREATE SEQUENCE locus.numbers")
		}
		r.admins = append(r.admins, admin)
		t.Cleanup(func() { r.clear(t, server) })
	}
	app := r.session(t, shop.User)
	for i := range raiders {
		r.raiders = append(r.raiders, &generator{raid: r, number: i, rand: rand.New(rand.NewPCG(seed, uint64(i)))}) //nolint:gosec // a seed makes it repeatable
		app.must(t, fmt.Sprintf("CREATE TABLE t%d (id INT NOT NULL PRIMARY KEY, note VARCHAR(64), locus INT) DEFAULT CHARSET utf8mb4", i), fmt.Sprintf("INSERT INTO t%d VALUES (1, 'a', 2), (2, 'b', 3)", i))
	}
	if engine == servers.MariaDB {
		app.must(t, "CREATE SEQUENCE locus")
	}
	_ = app.Close()
	r.before = r.snapshot(t)
	return r
}

// clear removes the objects of a raid from a server.
func (r *raid) clear(t *testing.T, server *servers.Server) {
	statements := []string{"DROP TABLE IF EXISTS locus.kept", "DROP VIEW IF EXISTS locus.seen", "DROP PROCEDURE IF EXISTS locus.kept", "DROP DATABASE IF EXISTS " + r.Schema + "_other"}
	if r.engine == servers.MariaDB {
		statements = append(statements, "DROP SEQUENCE IF EXISTS locus.numbers", "SET GLOBAL event_scheduler = OFF")
	}
	if err := server.Execute(context.WithoutCancel(t.Context()), statements...); err != nil {
		t.Error(err)
	}
}

func (r *raid) session(t testing.TB, user string) *session {
	return login{r.Addr, user, shop.Password, r.Schema}.open(t, user)
}

// round sends statements from all raiders, then compares the snapshots.
func (r *raid) round(t *testing.T) {
	t.Helper()
	texts := make([][]string, raiders)
	var all sync.WaitGroup
	for i, g := range r.raiders {
		all.Go(func() { texts[i] = g.visit(t) })
	}
	all.Wait()
	for _, g := range r.raiders {
		r.add(&g.counts)
		g.counts = counts{}
	}
	if now := r.snapshot(t); !slices.Equal(now, r.before) {
		t.Errorf("%s: these changed %q into %q:\n%s", r.engine, without(r.before, now), without(now, r.before), strings.Join(slices.Concat(texts...), "\n"))
	}
	files, err := os.ReadDir(r.dir)
	if err != nil || len(files) > 0 {
		t.Errorf("%s: files %v were made, %v:\n%s", r.engine, files, err, strings.Join(slices.Concat(texts...), "\n"))
	}
}

// visit sends a raider's share of a round, on several sessions in turn, and returns it.
func (g *generator) visit(t *testing.T) (texts []string) {
	g.codes = map[string]int{}
	direct, err := login{g.Servers[0].Addr(), g.Servers[0].User, g.Servers[0].Password, g.Schema}.dial()
	if err != nil {
		t.Error(err)
		return nil
	}
	defer direct.Close()
	for len(texts) < raidLength/raiders {
		c, err := login{g.Addr, shop.User, shop.Password, g.Schema}.dial()
		if err != nil {
			t.Error(err)
			break
		}
		s := &session{c, "raider"}
		g.begin(s)
		for range perSession {
			guilty, text := g.statement()
			texts = append(texts, text)
			g.sample(&session{direct, "sample"}, guilty, text)
			if !g.say(s, text) {
				break
			}
		}
		_ = c.Close()
	}
	g.said = len(texts)
	return texts
}

// say sends a text, sometimes as a prepared statement. It returns false if the session has ended.
func (g *generator) say(s *session, text string) bool {
	var a answer
	if g.one(6) {
		a = s.say(text, nothing{})
	} else {
		a = s.say(text)
	}
	var e *mysql.MyError
	switch {
	case a.err == nil:
		g.passed++
	case code.MatchString(a.err.Error()) || slices.Contains(alwaysRefusals, a.number()):
		g.refused++
		g.codes[strconv.Itoa(int(a.number()))+code.FindString(a.err.Error())]++
	case errors.As(a.err, &e):
		g.failed++
	default:
		return false
	}
	return true
}

// sample asks a server whether it accepts a text. A text of a kind that the server does not prepare has passed its parser.
func (g *generator) sample(s *session, guilty bool, text string) {
	if !g.one(8) {
		return
	}
	g.sampled++
	if guilty {
		g.guilty++
	}
	p, err := s.Prepare(text)
	var e *mysql.MyError
	if err != nil && (!errors.As(err, &e) || e.Code != mysql.ER_UNSUPPORTED_PS) {
		return
	}
	if err == nil {
		_ = p.Close()
	}
	g.valid++
	if guilty {
		g.guiltyValid++
	}
}

// report logs the outcomes. The test proves nothing if servers accept too few of the statements.
func (r *raid) report(t *testing.T) {
	t.Helper()
	t.Logf("%s: of %d statements %d were done; %d were refused %v; %d failed at the server. Of %d a server was asked: it accepts %d; of %d that must be refused among them, %d",
		r.engine, r.counts.said, r.passed, r.refused, r.codes, r.failed, r.sampled, r.valid, r.guilty, r.guiltyValid)
	if r.passed*10 < r.said*2 || r.valid*2 < r.sampled || r.guiltyValid*2 < r.guilty {
		t.Errorf("%s: too few of the statements are ones that servers accept", r.engine)
	}
}

// unchanged are queries for everything that no statement may change: the schema locus, accounts and global variables.
var unchanged = []string{
	"SELECT 'table', TABLE_SCHEMA, TABLE_NAME, TABLE_TYPE, ENGINE, CREATE_OPTIONS, TABLE_COMMENT FROM information_schema.TABLES WHERE LOWER(TABLE_SCHEMA) = 'locus'",
	"SELECT 'column', TABLE_NAME, COLUMN_NAME, COLUMN_TYPE, COLUMN_DEFAULT FROM information_schema.COLUMNS WHERE LOWER(TABLE_SCHEMA) = 'locus'",
	"SELECT 'index', TABLE_NAME, INDEX_NAME, COLUMN_NAME FROM information_schema.STATISTICS WHERE LOWER(TABLE_SCHEMA) = 'locus'",
	"SELECT 'key', TABLE_SCHEMA, TABLE_NAME, CONSTRAINT_NAME FROM information_schema.KEY_COLUMN_USAGE WHERE LOWER(REFERENCED_TABLE_SCHEMA) = 'locus'",
	"SELECT 'view', TABLE_SCHEMA, TABLE_NAME, VIEW_DEFINITION FROM information_schema.VIEWS WHERE LOWER(TABLE_SCHEMA) = 'locus'",
	"SELECT 'routine', ROUTINE_SCHEMA, ROUTINE_NAME, ROUTINE_TYPE, ROUTINE_DEFINITION FROM information_schema.ROUTINES WHERE LOWER(ROUTINE_SCHEMA) = 'locus'",
	"SELECT 'trigger', TRIGGER_SCHEMA, TRIGGER_NAME, EVENT_OBJECT_TABLE, ACTION_STATEMENT FROM information_schema.TRIGGERS WHERE LOWER(TRIGGER_SCHEMA) = 'locus' OR LOWER(EVENT_OBJECT_SCHEMA) = 'locus'",
	"SELECT 'event', EVENT_SCHEMA, EVENT_NAME, EVENT_DEFINITION FROM information_schema.EVENTS WHERE LOWER(EVENT_SCHEMA) = 'locus'",
	"SELECT 'schema', SCHEMA_NAME, DEFAULT_CHARACTER_SET_NAME, DEFAULT_COLLATION_NAME FROM information_schema.SCHEMATA WHERE LOWER(SCHEMA_NAME) = 'locus'",
	"SELECT 'row', k.* FROM locus.kept k", "SELECT 'db', d.* FROM mysql.db d", "SELECT 'right', p.* FROM mysql.tables_priv p", "SELECT 'routine right', p.* FROM mysql.procs_priv p",
	"SELECT 'server', s.* FROM mysql.servers s", "SELECT 'function', f.* FROM mysql.func f", "SELECT 'plugin', p.* FROM mysql.plugin p", "SELECT 'proxy', p.* FROM mysql.proxies_priv p",
}

// unchangedOf are further ones of an engine.
var unchangedOf = map[servers.Engine][]string{
	servers.MariaDB: {
		"SELECT 'account', p.* FROM mysql.global_priv p", "SELECT 'role', m.* FROM mysql.roles_mapping m", "SELECT 'number', next_not_cached_value FROM locus.numbers",
		"SELECT 'variable', VARIABLE_NAME, VARIABLE_VALUE FROM information_schema.GLOBAL_VARIABLES WHERE VARIABLE_NAME NOT LIKE 'GTID%' AND VARIABLE_NAME NOT LIKE '%TIMESTAMP'",
	},
	servers.MySQL: {
		"SELECT 'account', u.* FROM mysql.user u", "SELECT 'role', e.* FROM mysql.role_edges e", "SELECT 'default role', d.* FROM mysql.default_roles d", "SELECT 'grant', g.* FROM mysql.global_grants g",
		"SELECT 'component', c.* FROM mysql.component c", "SELECT 'schema', SCHEMA_NAME, OPTIONS FROM information_schema.SCHEMATA_EXTENSIONS WHERE LOWER(SCHEMA_NAME) = 'locus'",
		"SELECT 'variable', VARIABLE_NAME, VARIABLE_VALUE FROM performance_schema.global_variables WHERE VARIABLE_NAME NOT LIKE 'gtid%'", "SELECT 'persisted', p.* FROM performance_schema.persisted_variables p",
		"SELECT 'group', RESOURCE_GROUP_NAME FROM information_schema.RESOURCE_GROUPS", "SELECT 'tablespace', FILE_NAME FROM information_schema.FILES WHERE FILE_NAME NOT LIKE './test%' AND FILE_NAME NOT LIKE '%undo%' AND FILE_NAME NOT LIKE '%ibt%'",
	},
}

// snapshot returns the rows of these queries, from every shard.
func (r *raid) snapshot(t *testing.T) (all []string) {
	t.Helper()
	for i, admin := range r.admins {
		for _, query := range slices.Concat(unchanged, unchangedOf[r.engine]) {
			a := admin.say(query)
			if a.err != nil {
				all = append(all, fmt.Sprintf("%d: %s: %v", i, query, a.err))
				continue
			}
			for _, row := range a.results[0].rows {
				all = append(all, fmt.Sprintf("%d: %s", i, row))
			}
		}
	}
	return all
}
