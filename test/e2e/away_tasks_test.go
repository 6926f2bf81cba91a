package e2e

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"net"
	"os"
	osexec "os/exec"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// hang is the duration after which a statement is considered hanging.
const hang = 2 * time.Minute

// task is one kind of statement, run again and again.
type task struct {
	name string
	on   []int // shards that it can't do without
	run  func(context.Context) error
	runs atomic.Int64 // that have succeeded
	ends atomic.Int64 // that have failed

	mu   sync.Mutex // of what follows
	took []time.Duration
}

func (one *task) needs(shard int) bool { return slices.Contains(one.on, shard) }

// take returns the durations of the runs since the last call.
func (one *task) take() []time.Duration {
	one.mu.Lock()
	defer one.mu.Unlock()
	took := one.took
	one.took = nil
	return took
}

func (one *task) once(t *testing.T, err func(*task, error)) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(t.Context()), hang)
	defer cancel()
	began := time.Now()
	e := one.run(ctx)
	one.mu.Lock()
	one.took = append(one.took, time.Since(began))
	one.mu.Unlock()
	if e != nil {
		err(one, e)
		one.ends.Add(1)
		return
	}
	one.runs.Add(1)
}

// load runs tasks until it is ended, and passes their errors to err.
func load(t *testing.T, tasks []*task, err func(*task, error)) (end func()) {
	stop := make(chan struct{})
	var running sync.WaitGroup
	for _, one := range tasks {
		running.Go(func() {
			pace := time.NewTicker(60 * time.Millisecond)
			defer pace.Stop()
			for {
				select {
				case <-stop:
					return
				case <-pace.C:
					one.once(t, err)
				}
			}
		})
	}
	var once sync.Once
	return func() {
		once.Do(func() { close(stop) })
		running.Wait()
	}
}

// grows waits until the count of each task has grown.
func grows(t *testing.T, what string, tasks []*task, count func(*task) int64, by int64) {
	t.Helper()
	from := map[*task]int64{}
	for _, one := range tasks {
		from[one] = count(one)
	}
	for _, one := range tasks {
		for now := count(one); now < from[one]+by; now = count(one) { // however slow it is, as long as it makes progress
			until(t, what+": "+one.name, func() bool { return count(one) > now })
		}
	}
}

func succeeded(one *task) int64 { return one.runs.Load() }
func failed(one *task) int64    { return one.ends.Load() }

// tasks are all kinds of statements that applications and their drivers send.
func (o *outage) tasks() []*task {
	list := slices.Concat(o.ofNoShard(), o.ofAllShards())
	for shard := range o.buyers {
		list = append(list, o.ofOneShard(shard)...)
	}
	return list
}

// ofNoShard are the tasks that any shard can answer.
func (o *outage) ofNoShard() []*task {
	scan := func(query string, columns int) func(context.Context) error {
		return func(ctx context.Context) error { return o.shows(ctx, query, columns) }
	}
	return []*task{
		{name: "a health check", run: o.db.PingContext},
		{name: "a login", run: o.login},
		{name: "the engine's own client", run: o.ownClient},
		{name: "SELECT 1", run: o.reading("SELECT 1", "1")},
		{name: "SELECT of a parameter", run: o.reading("SELECT ?", "x", "x")},
		{name: "a variable", run: o.reading("SELECT @@autocommit", "1")},
		{name: "a number of a generator", run: scan("SELECT NEXTVAL(seq)", 1)},
		{name: "SHOW VARIABLES", run: scan("SHOW VARIABLES LIKE 'version'", 2)},
		{name: "SHOW CHARACTER SET", run: scan("SHOW CHARACTER SET LIKE 'utf8mb4'", 4)},
		{name: "SHOW COLUMNS of a sharded table", run: scan("SHOW COLUMNS FROM test_order LIKE 'buyer_uid'", 6)},
		{name: "SHOW CREATE TABLE of a global one", run: scan("SHOW CREATE TABLE product", 2)},
		{name: "SHOW PROCESSLIST", run: o.processes("SHOW PROCESSLIST")},
		{name: "the table of sessions", run: o.processes("SELECT * FROM information_schema.PROCESSLIST WHERE USER = 'app'")},
		{name: "a global table", run: o.reading("SELECT name FROM product WHERE product_id = 1", "cup")},
		{name: "a prepared read of a global table", run: o.reading("SELECT name FROM product WHERE product_id = ?", "cup", 1)},
		{name: "no row can match", run: o.reading("SELECT COUNT(*) FROM test_order WHERE buyer_uid = NULL", "0")},
		{name: "a session's state", run: o.state},
	}
}

// ofAllShards are the tasks that need every shard.
func (o *outage) ofAllShards() []*task {
	all := []int{0, 1, 2}
	return []*task{
		{name: "a read of all shards", on: all, run: o.reading("SELECT COUNT(*) FROM test_order WHERE status = 'fixed'", "3")},
		{name: "rows of all shards in order", on: all, run: o.reading("SELECT status FROM test_order WHERE status = 'fixed' ORDER BY order_id LIMIT 1", "fixed")},
		{name: "rows of all shards gathered", on: all, run: o.reading("SELECT COUNT(DISTINCT buyer_uid) FROM test_order WHERE status = 'fixed'", "3")},
		{name: "a write of a global table", on: all, run: o.writing("UPDATE product SET price = price + 1 WHERE product_id = 2")},
	}
}

// ofOneShard are the tasks that need one shard, and a transaction of two.
func (o *outage) ofOneShard(shard int) []*task {
	buyer, next := o.buyers[shard], (shard+1)%len(o.buyers)
	named := func(what string) string { return fmt.Sprintf("s%d: %s", shard, what) }
	on := []int{shard}
	list := []*task{
		{name: named("a read"), on: on, run: o.reading(fmt.Sprintf("SELECT COUNT(*) FROM test_order WHERE buyer_uid = %d AND status = 'fixed'", buyer), "1")},
		{name: named("a prepared read"), on: on, run: o.reading("SELECT COUNT(*) FROM test_order WHERE buyer_uid = ? AND status = 'fixed'", "1", buyer)},
		{name: named("a write"), on: on, run: o.writing("INSERT INTO test_order (buyer_uid) VALUES (?)", buyer)},
		{name: named("a transaction"), on: on, run: o.transaction(buyer)},
		{name: named("a transaction of two shards"), on: []int{shard, next}, run: o.transaction(buyer, o.buyers[next])},
		{name: named("a table of its own"), on: on, run: o.reading(fmt.Sprintf("SELECT value FROM own_%d WHERE name = 'a'", shard), "b")},
	}
	if shard == 0 {
		list = append(list, &task{name: "a table that nobody declared", on: on, run: o.reading("SELECT COUNT(*) FROM counted", "0")})
	}
	return list
}

func (o *outage) reading(query, want string, args ...any) func(context.Context) error {
	return func(ctx context.Context) error {
		var got string
		if err := o.db.QueryRowContext(ctx, query, args...).Scan(&got); err != nil {
			return err
		}
		if got != want {
			return fmt.Errorf("%s: %s, want %s", query, got, want)
		}
		return nil
	}
}

func (o *outage) writing(text string, args ...any) func(context.Context) error {
	return func(ctx context.Context) error {
		_, err := o.db.ExecContext(ctx, text, args...)
		return err
	}
}

// shows reads a row with so many columns.
func (o *outage) shows(ctx context.Context, query string, columns int) error {
	into := make([]any, columns)
	for i := range into {
		into[i] = new(sql.RawBytes)
	}
	rows, err := o.db.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer rows.Close()
	if !rows.Next() {
		return fmt.Errorf("%s: no row: %w", query, rows.Err())
	}
	if err := rows.Scan(into...); err != nil {
		return err
	}
	return rows.Close()
}

// processes reads the list of sessions, which contains its own.
func (o *outage) processes(query string) func(context.Context) error {
	return func(ctx context.Context) error {
		rows, err := o.db.QueryContext(ctx, query)
		if err != nil {
			return err
		}
		defer rows.Close()
		n := 0
		for rows.Next() {
			n++
		}
		if err := rows.Err(); err != nil || n > 0 {
			return err
		}
		return fmt.Errorf("%s: nothing", query)
	}
}

// login logs in again, as a client's pool does for a new connection.
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

// ownClient starts the engine's command-line client, which sends its usual statements at the start.
func (o *outage) ownClient(ctx context.Context) error {
	host, port, err := net.SplitHostPort(o.Addr)
	if err != nil {
		return err
	}
	args := slices.Concat(o.client[1:], []string{
		"-h" + host, "-P" + port, "-uapp", "-D" + o.Schema,
		"-e", "SELECT @@version_comment LIMIT 1; SELECT DATABASE(), USER(); status; USE " + o.Schema + "; SELECT 1",
	})
	command := osexec.CommandContext(ctx, o.client[0], args...)
	command.Env = append(os.Environ(), "MYSQL_PWD=app")
	if out, err := command.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(out))
	}
	return nil
}

// state sets everything that a session can have, and reads it.
func (o *outage) state(ctx context.Context) error {
	conn, err := o.db.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	r, err := conn.ExecContext(ctx, "INSERT INTO test_order (buyer_uid) VALUES (?)", o.buyers[(o.struck.Load()+1)%3])
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

// transaction writes rows of the buyers.
func (o *outage) transaction(buyers ...int) func(context.Context) error {
	texts := []string{"SELECT 1"}
	for _, buyer := range buyers {
		texts = append(texts, fmt.Sprintf("INSERT INTO test_order (buyer_uid) VALUES (%d)", buyer))
	}
	texts = append(texts, "SELECT COUNT(*) FROM product WHERE product_id = 1")
	return func(ctx context.Context) error {
		tx, err := o.db.BeginTx(ctx, nil)
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }()
		for _, text := range texts {
			if _, err := tx.ExecContext(ctx, text); err != nil {
				return fmt.Errorf("%s: %w", text, err)
			}
		}
		return tx.Commit()
	}
}
