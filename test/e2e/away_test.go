package e2e

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/control/generators"
	"locus/idgen/gene"
	"locus/internal/test/link"
	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/health"
	"locus/proxy/txn"
	"locus/test/shop"
)

// outage is a shop in which a shard fails. The first shard has all undeclared tables.
type outage struct {
	*shop.Shop
	db     *sql.DB
	buyers [3]int // one of each shard
	struck atomic.Int64
	client []string // the engine's own, as a command line
	ways   [3]*link.Link
}

// fault is a way in which a server fails.
type fault struct {
	name      string
	goes      func(shard int)
	comesBack func(shard int)
	state     health.State // the state in which the proxy must report the server
}

// strike is one failure of one shard.
type strike struct {
	shard int
	fault string
}

// strikes returns the faults for the shards of an engine: two in the short scale, different ones for each engine.
func strikes(engine servers.Engine, faults []fault) []strike {
	switch {
	case scale.Long():
		return allStrikes(faults)
	case engine == servers.MariaDB:
		return []strike{{0, "stopped"}, {1, "swallowed"}}
	}
	return []strike{{0, "killed"}, {2, "cut off"}}
}

// allStrikes returns every fault of each shard, twice.
func allStrikes(faults []fault) (list []strike) {
	for range 2 {
		for shard := range 3 {
			for _, f := range faults {
				list = append(list, strike{shard, f.name})
			}
		}
	}
	return list
}

// awayRuns is the number of runs of each statement that does not need the shard while it is down.
var awayRuns = scale.Of[int64](8, 150)

// TestAShardIsAway stops, cuts off and kills shards under load. Statements that don't need the shard never fail.
// Statements that need it fail with an error that names it. None hangs, and everything works again once the shard is
// back.
func TestAShardIsAway(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		o := newOutage(t, engine)
		faults := o.faults(t)
		for _, s := range strikes(engine, faults) {
			i := slices.IndexFunc(faults, func(f fault) bool { return f.name == s.fault })
			t.Run(fmt.Sprintf("s%d is %s", s.shard, s.fault), func(t *testing.T) { o.strike(t, s.shard, faults[i]) })
		}
	})
}

func newOutage(t *testing.T, engine servers.Engine) *outage {
	t.Helper()
	trio := servers.Start(t, engine, 3)
	o := &outage{client: append(servers.Program(t, engine, string(engine)), "--no-defaults")}
	if engine == servers.MySQL {
		o.client = append(o.client, "--commands") // such as status
	}
	for i, s := range trio {
		o.ways[i] = link.New(t, s.Addr())
	}
	numbers := generators.New(generators.Options{KV: shop.Segments(), Name: "test"})
	t.Cleanup(func() { _ = numbers.Close() })
	options := shop.Options{
		Servers: trio, Shards: 3, Spanning: txn.XA, Backends: backend.Limits{RestartWait: 500 * time.Millisecond},
		Address:      func(s *servers.Server) string { return o.ways[slices.Index(trio, s)].Addr() },
		Options:      func(o *proxy.Options) { o.Stall, o.Generators = 2*time.Second, numbers },
		Declarations: "generators:\n  seq: {kind: segment}\n",
	}
	for i := range o.buyers {
		options.Tables = append(options.Tables, fmt.Sprintf("CREATE TABLE {schema}.own_%d (name VARCHAR(8) NOT NULL PRIMARY KEY, value VARCHAR(8))", i))
		options.Declarations = fmt.Sprintf("  {schema}.own_%d: {kind: single, shard: s%d}\n", i, i) + options.Declarations
	}
	o.Shop = shop.Start(t, engine, options)
	o.db = o.DB(t, nil)
	o.db.SetMaxOpenConns(80)
	o.db.SetMaxIdleConns(80)
	o.fill(t)
	t.Cleanup(func() {
		for _, s := range trio {
			_ = s.Resume()
		}
	})
	return o
}

// fill gives each shard a row that is never changed, and global rows.
func (o *outage) fill(t *testing.T) {
	t.Helper()
	m := o.Cluster.Routes
	for i := range o.buyers {
		for m.Lookup(gene.OfInt(int64(o.buyers[i]), gene.W16)) != i || o.buyers[i] == 0 {
			o.buyers[i]++
		}
		exec(t, o.db, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'fixed')", o.buyers[i])
		exec(t, o.db, fmt.Sprintf("INSERT INTO own_%d VALUES ('a', 'b')", i))
	}
	exec(t, o.db, "INSERT INTO product VALUES (1, 'cup', 9), (2, 'bowl', 12)")
}

func (o *outage) faults(t *testing.T) []fault {
	must := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	return []fault{
		{"stopped", func(i int) { must(o.Servers[i].Pause()) }, func(i int) { must(o.Servers[i].Resume()) }, health.Frozen},
		{"swallowed", func(i int) { o.ways[i].Swallow() }, func(i int) { o.ways[i].Deliver() }, health.Frozen},
		{"killed", func(i int) { must(o.Servers[i].Kill()) }, func(i int) { o.Servers[i].Restart(t) }, health.Away},
		{"cut off", func(i int) { o.ways[i].Lead("") }, func(i int) { o.ways[i].Lead(o.Servers[i].Addr()) }, health.Away},
	}
}

// strike makes a shard fail and return, under load.
func (o *outage) strike(t *testing.T, shard int, f fault) {
	o.struck.Store(int64(shard))
	pinned, kept := o.pinned(t), o.keeping(t)
	all := o.tasks()
	var others, needs []*task
	for _, one := range all {
		if one.needs(shard) {
			needs = append(needs, one)
		} else {
			others = append(others, one)
		}
	}
	endOthers := load(t, others, func(one *task, err error) { t.Errorf("%s: %v", one.name, err) })
	defer endOthers()
	endNeeds := load(t, needs, func(one *task, err error) { o.names(t, one, err) })
	defer endNeeds()
	grows(t, "load", all, succeeded, 3)
	before := taken(others)
	_ = taken(needs)
	f.goes(shard)
	back := sync.OnceFunc(func() { f.comesBack(shard) })
	defer back()
	began := time.Now()
	grows(t, "what needs it fails", needs, failed, 3)
	until(t, "its state is known", func() bool { return o.health(shard) == f.state })
	grows(t, "what doesn't need it goes on", others, succeeded, awayRuns)
	o.whileAway(t, shard, pinned, kept)
	while, failing := taken(others), taken(needs)
	t.Logf("what doesn't need it: p50 %v, p99 %v, most %v before; p50 %v, p99 %v, most %v in %v without it; what does fails after %v at most",
		part(before, 0.5), part(before, 0.99), part(before, 1), part(while, 0.5), part(while, 0.99), part(while, 1), time.Since(began).Round(time.Millisecond), part(failing, 1))
	back()
	began = time.Now()
	until(t, "it is well", func() bool { return o.health(shard) == health.Well })
	grows(t, "what needs it succeeds", needs, succeeded, 3)
	t.Logf("all is well %v after it is back", time.Since(began).Round(time.Millisecond))
	grows(t, "load after it", others, succeeded, 3)
	endOthers()
	endNeeds()
	o.isWhole(t)
}

// names fails the test if an error of a statement that needs the shard doesn't name the shard.
func (o *outage) names(t *testing.T, one *task, err error) {
	refusal := new(mysql.MySQLError)
	name := fmt.Sprintf("shard s%d", o.struck.Load())
	if !errors.As(err, &refusal) || !slices.Contains([]uint16{1158, 1180}, refusal.Number) || !strings.Contains(refusal.Message, name) {
		t.Errorf("%s: %v, which is to be 1158 or 1180 and to name %s", one.name, err, name)
	}
}

// taken returns the durations of all tasks since the last call, in order.
func taken(tasks []*task) (all []time.Duration) {
	for _, one := range tasks {
		all = append(all, one.take()...)
	}
	slices.SortFunc(all, cmp.Compare[time.Duration])
	return all
}

// part is the duration below which that share of the statements ended.
func part(sorted []time.Duration, share float64) time.Duration {
	if len(sorted) == 0 {
		return 0
	}
	return sorted[min(len(sorted)-1, int(share*float64(len(sorted))))].Round(100 * time.Microsecond)
}

func (o *outage) health(i int) health.State {
	for _, s := range o.Proxy.Servers() {
		if string(s.Shard) == fmt.Sprintf("s%d", i) {
			return s.State
		}
	}
	return health.Away
}

// conn opens a connection that is not used after the test, because its session is changed.
func (o *outage) conn(t *testing.T) *sql.Conn {
	t.Helper()
	conn, err := o.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Raw(func(any) error { return driver.ErrBadConn }) })
	return conn
}

// on runs a text on one connection.
func on(t *testing.T, conn *sql.Conn, text string, args ...any) error {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	_, err := conn.ExecContext(ctx, text, args...)
	return err
}

func one(t *testing.T, conn *sql.Conn, query string) (got string, err error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), hang)
	defer cancel()
	err = conn.QueryRowContext(ctx, query).Scan(&got)
	return got, err
}

// pinned is a session that keeps a connection to the first shard.
func (o *outage) pinned(t *testing.T) *sql.Conn {
	conn := o.conn(t)
	if err := on(t, conn, "CREATE TEMPORARY TABLE kept AS SELECT 1 AS n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// keeping is a session whose state can be carried from connection to connection.
func (o *outage) keeping(t *testing.T) *sql.Conn {
	conn := o.conn(t)
	for _, text := range []string{"SET @mine = 'kept', SESSION sql_select_limit = DEFAULT, time_zone = '+03:00'", "SET locus_partial = 'on'"} {
		if err := on(t, conn, text); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// whileAway lists the statements that are refused, and those that are answered in part.
func (o *outage) whileAway(t *testing.T, shard int, pinned, kept *sql.Conn) {
	t.Helper()
	name := fmt.Sprintf("shard s%d", shard)
	switch got, err := one(t, pinned, "SELECT n FROM kept"); {
	case shard == 0 && err == nil:
		t.Errorf("a temporary table of the shard that is away gives %q", got)
	case shard == 0:
		refused(t, err, 1158, name)
	case err != nil || got != "1":
		t.Errorf("a temporary table of a shard that is there: %q, %v", got, err)
	}
	if got, err := one(t, kept, "SELECT CONCAT(@mine, @@time_zone)"); err != nil || got != "kept+03:00" {
		t.Errorf("what a session carries: %q, %v", got, err)
	}
	for _, query := range []string{
		"SELECT COUNT(*) FROM test_order WHERE status = 'fixed'", "SELECT COUNT(*) AS n FROM test_order WHERE status = 'fixed' AND amount >= 0",
	} {
		got, err := one(t, kept, query)
		if err != nil || got != "2" {
			t.Errorf("in part, %s: %q, %v", query, got, err)
			continue
		}
		var level, code, text string
		if err := kept.QueryRowContext(t.Context(), "SHOW WARNINGS").Scan(&level, &code, &text); err != nil || !strings.Contains(text, name) {
			t.Errorf("%s warns %q, %v", query, text, err)
		}
	}
	conn := o.conn(t)
	for _, text := range []string{
		"ALTER TABLE test_order ADD COLUMN half INT", "CREATE DATABASE " + o.Schema + "_half", "UPDATE product SET name = 'half'",
	} {
		refused(t, on(t, conn, text), 1158, name)
	}
	if shard == 0 {
		refused(t, on(t, conn, "SHOW TABLES"), 1158, name) // the first shard has databases and tables of its own to list
	}
	if err := on(t, kept, "BEGIN"); err != nil {
		t.Error(err)
	}
	if got, err := one(t, kept, "SELECT COUNT(*) FROM test_order WHERE status = 'fixed'"); err == nil {
		t.Errorf("in part within a transaction: %q", got)
	}
}

// isWhole checks whether a statement took effect on some shards only.
func (o *outage) isWhole(t *testing.T) {
	t.Helper()
	for i := range o.Servers {
		for query, want := range map[string]int{
			"SELECT COUNT(*) FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '" + o.Schema + "' AND COLUMN_NAME = 'half'": 0,
			"SELECT COUNT(*) FROM information_schema.SCHEMATA WHERE SCHEMA_NAME = '" + o.Schema + "_half'":                     0,
			"SELECT COUNT(*) FROM product WHERE name = 'half'":                                                                 0,
			"SELECT COUNT(*) FROM test_order WHERE status = 'fixed'":                                                           1,
		} {
			if got := number(t, o.Shard(t, i), query); got != int64(want) {
				t.Errorf("on s%d, %s: %d, want %d", i, query, got, want)
			}
		}
	}
	until(t, "all copies of a global row are the same", func() bool {
		prices := map[string]bool{}
		for i := range o.Servers {
			var price string
			if err := o.Shard(t, i).QueryRow("SELECT price FROM product WHERE product_id = 2").Scan(&price); err != nil {
				t.Error(err)
			}
			prices[price] = true
		}
		return len(prices) == 1
	})
}
