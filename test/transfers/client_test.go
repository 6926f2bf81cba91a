package transfers

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locus/test/cluster"
)

// outcome is the outcome that a client received for a transfer.
type outcome uint8

const (
	unknown    outcome = iota // the connection was lost, or the error states that
	committed                 // OK
	rolledBack                // the error states that, or occurred before COMMIT
)

// clients make transfers until they are stopped.
type clients struct {
	bank    bank
	running sync.WaitGroup
	last    atomic.Int64 // transfer

	mu       sync.Mutex
	outcomes map[int64]outcome
}

func (c *clients) start(ctx context.Context, n int) {
	c.outcomes = map[int64]outcome{}
	for i := range n {
		c.running.Go(func() {
			random := rand.New(rand.NewPCG(uint64(i), 1))
			for ctx.Err() == nil {
				c.session(ctx, random)
			}
		})
	}
}

// most is how many transfers a connection makes, so that clients return to a proxy that was down.
const most = 10

// session makes transfers by one connection.
func (c *clients) session(ctx context.Context, random *rand.Rand) {
	addr := c.bank.Proxies[random.IntN(len(c.bank.Proxies))].Addr()
	if addr == "" {
		pause(ctx, 10*time.Millisecond)
		return
	}
	db := client(addr)
	defer db.Close()
	conn, err := db.Conn(ctx)
	if err != nil {
		pause(ctx, 10*time.Millisecond)
		return
	}
	defer conn.Close()
	for range most {
		if ctx.Err() != nil {
			return
		}
		id := c.last.Add(1)
		o, alive := transfer(conn, id, random)
		c.mu.Lock()
		c.outcomes[id] = o
		c.mu.Unlock()
		if !alive {
			return
		}
	}
}

func client(addr string) *sql.DB {
	config := cluster.Config(addr)
	config.InterpolateParams = true
	return cluster.Open(config)
}

// pause is for a proxy to come back.
func pause(ctx context.Context, d time.Duration) {
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// transfer moves money between two accounts, and records the transfer in the journal, in one transaction. If the connection
// breaks before the commit, all of it is rolled back.
func transfer(conn *sql.Conn, id int64, random *rand.Rand) (o outcome, alive bool) {
	from, to, amount := random.IntN(accounts), random.IntN(accounts), 1+random.IntN(20)
	if from == to {
		to = (to + 1) % accounts
	}
	ctx := context.Background()
	run := func(query string, args ...any) bool {
		_, err := conn.ExecContext(ctx, query, args...)
		return err == nil
	}
	done := run("BEGIN") &&
		run("UPDATE account SET balance = balance - ? WHERE uid = ?", amount, from) &&
		run("INSERT INTO journal (transfer, uid, peer, amount) VALUES (?, ?, ?, ?)", id, from, to, amount) &&
		run("UPDATE account SET balance = balance + ? WHERE uid = ?", amount, to)
	if !done {
		return rolledBack, run("ROLLBACK")
	}
	_, err := conn.ExecContext(ctx, "COMMIT")
	switch {
	case err == nil:
		return committed, true
	case strings.Contains(err.Error(), "rolled back"):
		return rolledBack, run("ROLLBACK")
	}
	return unknown, run("ROLLBACK")
}
