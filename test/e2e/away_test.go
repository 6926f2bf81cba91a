package e2e

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"

	"locus/idgen/gene"
	"locus/proxy"
	"locus/proxy/backend"
	"locus/proxy/health"
	"locus/test/link"
	"locus/test/servers"
	"locus/test/shop"
)

// hang is when a statement counts as one that never ends.
const hang = 2 * time.Minute

// outage is a shop of which the first shard, which has all that isn't declared, goes away.
type outage struct {
	*shop.Shop
	db     *sql.DB
	buyers [3]int // one of each shard
}

// TestTheFirstShardIsAway has the default shard stopped, cut off and killed under load: what doesn't need it never fails, what does
// fails and says so, nothing hangs, and all is as before once it is back.
func TestTheFirstShardIsAway(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		trio := servers.Start(t, engine, 3)
		way := link.New(t, trio[0].Addr())
		o := &outage{Shop: shop.Start(t, engine, shop.Options{
			Servers: trio, Shards: 3, Backends: backend.Limits{RestartWait: 500 * time.Millisecond},
			Address: func(s *servers.Server) string {
				if s == trio[0] {
					return way.Addr()
				}
				return s.Addr()
			},
			Options: func(o *proxy.Options) { o.Stall = 2 * time.Second },
		})}
		o.db = o.DB(t, nil)
		o.db.SetMaxOpenConns(50)
		o.fill(t)
		must := func(err error) {
			t.Helper()
			if err != nil {
				t.Fatal(err)
			}
		}
		t.Cleanup(func() { _ = trio[0].Resume() })
		for _, c := range []struct {
			name      string
			goes      func()
			comesBack func()
			state     health.State
		}{
			{"stopped", func() { must(trio[0].Pause()) }, func() { must(trio[0].Resume()) }, health.Frozen},
			{"cut off", way.Swallow, way.Deliver, health.Frozen},
			{"killed", func() { must(trio[0].Kill()) }, func() { trio[0].Restart(t) }, health.Away},
		} {
			t.Run(c.name, func(t *testing.T) { o.goes(t, c.goes, c.comesBack, c.state) })
		}
	})
}

// fill gives each shard a row that nothing changes, and global rows.
func (o *outage) fill(t *testing.T) {
	t.Helper()
	m := o.Cluster.Routes
	for i := range o.buyers {
		for m.Lookup(gene.OfInt(int64(o.buyers[i]), gene.W16)) != i || o.buyers[i] == 0 {
			o.buyers[i]++
		}
		exec(t, o.db, "INSERT INTO test_order (buyer_uid, status) VALUES (?, 'fixed')", o.buyers[i])
	}
	exec(t, o.db, "INSERT INTO product VALUES (1, 'cup', 9), (2, 'bowl', 12)")
	exec(t, o.db, "INSERT INTO setting VALUES ('a', 'b')")
}

// task is one kind of statement, run again and again.
type task struct {
	name string
	run  func(context.Context) error
	runs atomic.Int64 // that have succeeded
	ends atomic.Int64 // that have failed
}

// within are what needs the first shard.
func (o *outage) needs() []*task {
	return []*task{
		{name: "a read of its rows", run: func(ctx context.Context) error {
			return o.reads(ctx, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = ? AND status = 'fixed'", "1", o.buyers[0])
		}},
		{name: "a write of its rows", run: func(ctx context.Context) error {
			_, err := o.db.ExecContext(ctx, "INSERT INTO test_order (buyer_uid) VALUES (?)", o.buyers[0])
			return err
		}},
		{name: "a read of all shards", run: func(ctx context.Context) error {
			return o.reads(ctx, "SELECT COUNT(*) FROM test_order WHERE status = 'fixed'", "3")
		}},
		{name: "a write of a global table", run: func(ctx context.Context) error {
			_, err := o.db.ExecContext(ctx, "UPDATE product SET price = price + 1 WHERE product_id = 2")
			return err
		}},
		{name: "a table of its own", run: func(ctx context.Context) error {
			return o.reads(ctx, "SELECT value FROM setting WHERE name = 'a'", "b")
		}},
	}
}

// others are what doesn't.
func (o *outage) others() []*task {
	return []*task{
		{name: "a health check", run: o.db.PingContext},
		{name: "a login", run: o.login},
		{name: "SELECT 1", run: func(ctx context.Context) error { return o.reads(ctx, "SELECT 1", "1") }},
		{name: "SELECT of a parameter", run: func(ctx context.Context) error { return o.reads(ctx, "SELECT ?", "x", "x") }},
		{name: "a variable", run: func(ctx context.Context) error { return o.reads(ctx, "SELECT @@autocommit", "1") }},
		{name: "SHOW VARIABLES", run: func(ctx context.Context) error {
			return o.db.QueryRowContext(ctx, "SHOW VARIABLES LIKE 'version'").Scan(new(string), new(string))
		}},
		{name: "SHOW CHARACTER SET", run: func(ctx context.Context) error {
			return o.db.QueryRowContext(ctx, "SHOW CHARACTER SET LIKE 'utf8mb4'").Scan(new(string), new(string), new(string), new(string))
		}},
		{name: "a global table", run: func(ctx context.Context) error {
			return o.reads(ctx, "SELECT name FROM product WHERE product_id = 1", "cup")
		}},
		{name: "a prepared read of a global table", run: func(ctx context.Context) error {
			return o.reads(ctx, "SELECT name FROM product WHERE product_id = ?", "cup", 1)
		}},
		{name: "no row can match", run: func(ctx context.Context) error {
			return o.reads(ctx, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 1 AND buyer_uid IS NULL", "0")
		}},
		{name: "a session's state", run: o.state},
		{name: "a read of another shard", run: func(ctx context.Context) error {
			return o.reads(ctx, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = ? AND status = 'fixed'", "1", o.buyers[1])
		}},
		{name: "a transaction on another shard", run: o.transaction},
	}
}

func (o *outage) reads(ctx context.Context, query, want string, args ...any) error {
	var got string
	if err := o.db.QueryRowContext(ctx, query, args...).Scan(&got); err != nil {
		return err
	}
	if got != want {
		return fmt.Errorf("%s: %s, want %s", query, got, want)
	}
	return nil
}

// login is what a client's pool does for one more connection.
func (o *outage) login(ctx context.Context) error {
	c := o.Config()
	c.Params = map[string]string{"sql_mode": "'STRICT_ALL_TABLES'"}
	connector, err := mysql.NewConnector(c)
	if err != nil {
		return err
	}
	db := sql.OpenDB(connector)
	defer db.Close()
	return db.PingContext(ctx)
}

// state sets what a session can have, and asks for it.
func (o *outage) state(ctx context.Context) error {
	conn, err := o.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	r, err := conn.ExecContext(ctx, "INSERT INTO test_order (buyer_uid) VALUES (?)", o.buyers[2])
	if err != nil {
		return err
	}
	id, _ := r.LastInsertId()
	for _, text := range []string{"SET @a = CONCAT('x', 'y'), SESSION group_concat_max_len = 2048", "SET @b = 7", "USE " + o.Schema} {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	var got [5]string
	if err := conn.QueryRowContext(ctx, "SELECT LAST_INSERT_ID(), @a, @b, @@group_concat_max_len, DATABASE()").Scan(&got[0], &got[1], &got[2], &got[3], &got[4]); err != nil {
		return err
	}
	if want := [5]string{fmt.Sprint(id), "xy", "7", "2048", o.Schema}; got != want {
		return fmt.Errorf("the session has %v, want %v", got, want)
	}
	return nil
}

func (o *outage) transaction(ctx context.Context) error {
	tx, err := o.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	for _, text := range []string{
		"SELECT 1", "INSERT INTO test_order (buyer_uid) VALUES (" + fmt.Sprint(o.buyers[1]) + ")", "SELECT COUNT(*) FROM product WHERE product_id = 1",
	} {
		if _, err := tx.ExecContext(ctx, text); err != nil {
			return fmt.Errorf("%s: %w", text, err)
		}
	}
	return tx.Commit()
}

// load runs tasks until it is ended; err hears of their errors.
func load(t *testing.T, tasks []*task, err func(*task, error)) (end func()) {
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, one := range tasks {
		running.Go(func() {
			pace := time.NewTicker(10 * time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-stop:
					return
				case <-pace.C:
				}
				ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), hang)
				if e := one.run(ctx); e != nil {
					err(one, e)
					one.ends.Add(1)
				} else {
					one.runs.Add(1)
				}
				cancel()
			}
		})
	}
	var once sync.Once
	return func() {
		once.Do(func() { close(stop) })
		running.Wait()
	}
}

// each waits until a count of all tasks has grown.
func grows(t *testing.T, what string, tasks []*task, count func(*task) int64, by int64) {
	t.Helper()
	for _, one := range tasks {
		from := count(one)
		until(t, what+": "+one.name, func() bool { return count(one) >= from+by })
	}
}

func succeeded(one *task) int64 { return one.runs.Load() }
func failed(one *task) int64    { return one.ends.Load() }

// goes has the shard go and come back, under load.
func (o *outage) goes(t *testing.T, goes, comesBack func(), state health.State) {
	pinned, kept := o.pinned(t), o.keeping(t)
	others, needs := o.others(), o.needs()
	endOthers := load(t, others, func(one *task, err error) { t.Errorf("%s: %v", one.name, err) })
	defer endOthers()
	endNeeds := load(t, needs, func(one *task, err error) {
		refusal := new(mysql.MySQLError)
		named := errors.As(err, &refusal) && slices.Contains([]uint16{1158, 1180}, refusal.Number) && strings.Contains(refusal.Message, "shard s0")
		if !named && !errors.Is(err, mysql.ErrInvalidConn) {
			t.Errorf("%s: %v", one.name, err)
		}
	})
	defer endNeeds()
	grows(t, "load", slices.Concat(others, needs), succeeded, 3)
	goes()
	back := sync.OnceFunc(comesBack)
	defer back()
	grows(t, "what needs it fails", needs, failed, 3)
	until(t, "its state is known", func() bool { return o.health(0) == state })
	grows(t, "what doesn't need it goes on", others, succeeded, 3)
	o.whileAway(t, pinned, kept)
	back()
	until(t, "it is well", func() bool { return o.health(0) == health.Well })
	grows(t, "what needs it succeeds", needs, succeeded, 3)
	grows(t, "load after it", others, succeeded, 3)
	endOthers()
	endNeeds()
	o.isWhole(t)
}

func (o *outage) health(i int) health.State {
	for _, s := range o.Proxy.Servers() {
		if string(s.Shard) == fmt.Sprintf("s%d", i) {
			return s.State
		}
	}
	return health.Away
}

func (o *outage) conn(t *testing.T) *sql.Conn {
	t.Helper()
	conn, err := o.db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
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

// pinned is a session that has something on a connection to the shard.
func (o *outage) pinned(t *testing.T) *sql.Conn {
	conn := o.conn(t)
	if err := on(t, conn, "CREATE TEMPORARY TABLE kept AS SELECT 1 AS n"); err != nil {
		t.Fatal(err)
	}
	return conn
}

// keeping is one that has only what is carried from connection to connection.
func (o *outage) keeping(t *testing.T) *sql.Conn {
	conn := o.conn(t)
	for _, text := range []string{"SET @mine = 'kept', SESSION sql_select_limit = DEFAULT, time_zone = '+03:00'", "SET locus_partial = 'on'"} {
		if err := on(t, conn, text); err != nil {
			t.Fatal(err)
		}
	}
	return conn
}

// whileAway is what is refused, and what is answered in part.
func (o *outage) whileAway(t *testing.T, pinned, kept *sql.Conn) {
	t.Helper()
	if got, err := one(t, pinned, "SELECT n FROM kept"); err == nil {
		t.Errorf("a temporary table of the shard that is away gives %q", got)
	} else {
		named(t, err)
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
		if err := kept.QueryRowContext(t.Context(), "SHOW WARNINGS").Scan(&level, &code, &text); err != nil || !strings.Contains(text, "shard s0") {
			t.Errorf("%s warns %q, %v", query, text, err)
		}
	}
	conn := o.conn(t)
	defer conn.Close()
	for _, text := range []string{
		"ALTER TABLE test_order ADD COLUMN half INT", "CREATE DATABASE " + o.Schema + "_half", "UPDATE product SET name = 'half'",
	} {
		named(t, on(t, conn, text))
	}
	if err := on(t, kept, "BEGIN"); err != nil {
		t.Error(err)
	}
	if got, err := one(t, kept, "SELECT COUNT(*) FROM test_order WHERE status = 'fixed'"); err == nil {
		t.Errorf("in part within a transaction: %q", got)
	}
}

// named fails the test if an error doesn't name the shard.
func named(t *testing.T, err error) {
	t.Helper()
	refused(t, err, 1158, "shard s0")
}

// isWhole looks whether something was done on some shards.
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
