package cluster

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-sql-driver/mysql"
)

// CountersSQL and CountersTables are the table that [Counters] write, for [Options]. It has a row for each of many owners.
const (
	CountersSQL    = "CREATE TABLE counter (uid BIGINT NOT NULL PRIMARY KEY, n BIGINT NOT NULL, gene SMALLINT UNSIGNED NOT NULL, KEY (gene))"
	CountersTables = "  shop.counter: {kind: sharded, owner: uid, gene: gene}\n"
)

// perClient is how many owners each client writes.
const perClient = 8

// Counters are clients that add 1 to rows, each client to rows of its own, and read them. The model of a row is a range: it has every
// addition that was acknowledged, none that was refused, and perhaps those whose outcome the client doesn't know.
type Counters struct {
	c       *Cluster
	stop    context.CancelFunc
	running sync.WaitGroup

	mu     sync.Mutex // guards what follows
	rows   map[int64]*counted
	acked  int
	failed int
	first  error    // that a client got
	wrong  []string // what contradicts the model
}

// counted contains one client's bounds for the value of its row.
type counted struct{ least, most int64 }

// RunCounters creates the rows through the first proxy, and starts clients. They run until [Counters.Stop], or until the test ends.
func (c *Cluster) RunCounters(clients int) *Counters {
	c.t.Helper()
	all := &Counters{c: c, rows: map[int64]*counted{}}
	var values []string
	for uid := range int64(clients * perClient) {
		all.rows[uid] = &counted{}
		values = append(values, fmt.Sprintf("(%d, 0)", uid))
	}
	if _, err := c.DB(0).Exec("INSERT INTO counter (uid, n) VALUES " + strings.Join(values, ", ")); err != nil {
		c.t.Fatal(err)
	}
	var ctx context.Context
	ctx, all.stop = context.WithCancel(c.t.Context())
	for i := range clients {
		all.running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for ctx.Err() == nil {
				all.connect(ctx, int64(i), random)
			}
		})
	}
	c.t.Cleanup(all.Stop)
	return all
}

// Stop ends the clients.
func (k *Counters) Stop() {
	k.stop()
	k.running.Wait()
}

// pace is between two statements of a client: the servers are tested, not the machine.
const pace = 4 * time.Millisecond

// connect uses one proxy until its connection fails, or for a while.
func (k *Counters) connect(ctx context.Context, client int64, random *rand.Rand) {
	addr := k.c.Proxies[random.IntN(len(k.c.Proxies))].Addr()
	between := time.NewTicker(pace)
	defer between.Stop()
	if addr == "" { // no process is running at the moment
		<-between.C
		return
	}
	config := Config(addr)
	config.InterpolateParams = random.IntN(2) == 0
	db := Open(config)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		k.fail(ctx, err)
		<-between.C
		return
	}
	defer conn.Close()
	for range 100 {
		if ctx.Err() != nil || !k.turn(ctx, conn, client*perClient+random.Int64N(perClient)) {
			return
		}
		<-between.C
	}
}

// turn adds 1 to a row and reads it. It reports whether the connection can still be used.
func (k *Counters) turn(ctx context.Context, conn *sql.Conn, uid int64) bool {
	// The test's end must not cut an addition short: its outcome would be unknown.
	_, err := conn.ExecContext(context.WithoutCancel(ctx), "UPDATE counter SET n = n + 1 WHERE uid = ?", uid)
	k.added(uid, err)
	if err != nil {
		return k.fail(ctx, err)
	}
	var n int64
	if err := conn.QueryRowContext(context.WithoutCancel(ctx), "SELECT n FROM counter WHERE uid = ?", uid).Scan(&n); err != nil {
		return k.fail(ctx, err)
	}
	k.read(uid, n, "a client reads")
	return true
}

func (k *Counters) added(uid int64, err error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	row := k.rows[uid]
	switch {
	case err == nil:
		row.least++
		row.most++
		k.acked++
	case !refused(err):
		row.most++
	}
}

// refused reports whether an error says that the statement took no effect.
func refused(err error) bool {
	var e *mysql.MySQLError
	return errors.As(err, &e) && (e.Number == 1213 || e.Number == 1205 || strings.Contains(e.Message, "not run") || strings.Contains(e.Message, "rolled back"))
}

// fail records an error. It reports whether the connection can still be used.
func (k *Counters) fail(ctx context.Context, err error) bool {
	if ctx.Err() != nil {
		return false
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	k.failed++
	if k.first == nil {
		k.first = err
	}
	var e *mysql.MySQLError
	return errors.As(err, &e)
}

// read compares a value with the model. Once an addition with an unknown outcome was seen, it must stay.
func (k *Counters) read(uid, n int64, who string) {
	k.mu.Lock()
	defer k.mu.Unlock()
	row := k.rows[uid]
	if row == nil || n < row.least || n > row.most {
		k.wrong = append(k.wrong, fmt.Sprintf("%s %d in row %d, which has %+v", who, n, uid, row))
		return
	}
	row.least, row.most = n, n
}

// More waits until so many further additions are acknowledged.
func (k *Counters) More(n int) {
	k.c.t.Helper()
	want := k.count() + n
	Until(k.c.t, fmt.Sprintf("%d further writes", n), func() (bool, error) { return k.count() >= want, k.error() })
}

func (k *Counters) count() int {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.acked
}

func (k *Counters) error() error {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.first
}

// NothingFailed fails the test if a client has got an error.
func (k *Counters) NothingFailed(t *testing.T) {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.failed > 0 {
		t.Errorf("%d statements failed, the first: %v", k.failed, k.first)
	}
}

// Check stops the clients and compares all shards' rows with the model: each row is there once, on the shard that owns it, and has every
// acknowledged addition once.
func (k *Counters) Check(t *testing.T) {
	t.Helper()
	k.Stop()
	seen := map[int64]bool{}
	db := k.c.DB(0)
	rows, err := db.QueryContext(t.Context(), "SELECT uid, n FROM counter")
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		var uid, n int64
		if err := rows.Scan(&uid, &n); err != nil {
			t.Fatal(err)
		}
		if seen[uid] {
			t.Errorf("row %d is there twice", uid)
		}
		seen[uid] = true
		k.read(uid, n, "at the end there is")
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	if len(seen) != len(k.rows) {
		t.Errorf("%d rows, want %d", len(seen), len(k.rows))
	}
	for _, w := range k.wrong {
		t.Error(w)
	}
	t.Logf("%d additions were acknowledged, %d statements failed", k.acked, k.failed)
}
