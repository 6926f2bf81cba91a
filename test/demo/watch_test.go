package demo

import (
	"context"
	"database/sql"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/test/product"
)

// fault changes, on one shard and without its binary log, the function that the applications' updates call, so
// that it does something more. A trigger would be found before a step.
func (d *demo) fault(shard int, what string) {
	d.t.Helper()
	d.atShard(shard, "SET SESSION sql_log_bin = 0", "DROP FUNCTION IF EXISTS shop.one",
		"CREATE FUNCTION shop.one() RETURNS INT DETERMINISTIC BEGIN "+what+"; RETURN 1; END")
}

// mend restores the function.
func (d *demo) mend(shard int) {
	d.t.Helper()
	d.fault(shard, "DO 0")
}

// atShard runs statements on one connection to a shard.
func (d *demo) atShard(shard int, statements ...string) {
	d.t.Helper()
	c, err := d.shard(shard).Conn(d.t.Context())
	if err != nil {
		d.t.Fatal(err)
	}
	defer c.Close()
	for _, s := range statements {
		if _, err := c.ExecContext(d.t.Context(), s); err != nil {
			d.t.Fatalf("%s: %v", s, err)
		}
	}
}

// update lets clients update orders, whatever the results, until stop is called.
func update(t *testing.T, db *sql.DB, clients int, ids []int64) (stop func()) {
	t.Helper()
	ctx, cancel := context.WithCancel(context.Background())
	var working sync.WaitGroup
	for i := range clients {
		working.Go(func() {
			pace := time.NewTicker(30 * time.Millisecond) // slow enough that the test detects a target that fails or is slow, and not a busy machine
			defer pace.Stop()
			for rng := rand.New(rand.NewPCG(2, uint64(i))); ctx.Err() == nil; <-pace.C {
				_, _ = db.ExecContext(ctx, "UPDATE test_order SET amount = amount + shop.one() WHERE order_id = ?", ids[rng.IntN(len(ids))])
			}
		})
	}
	stop = sync.OnceFunc(func() { cancel(); working.Wait() })
	t.Cleanup(stop)
	return stop
}

// TestACutOverThatMakesThingsWorse: if statements fail or are slow at the target only, a cut-over in steps
// stops and remains at the step.
func TestACutOverThatMakesThingsWorse(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // the test waits more than it works
		d := start(t, engine, t.TempDir(), "--orders-per-second", "0")
		db := d.db()
		for shard := range 3 {
			d.mend(shard)
		}
		var ids []int64
		for n := range 200 {
			// Rows of the upper half of s0's genes.
			r, err := db.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", buyerAfter(int64(n)*1000))
			if err != nil {
				t.Fatal(err)
			}
			id, err := r.LastInsertId()
			if err != nil {
				t.Fatal(err)
			}
			ids = append(ids, id)
		}
		d.must("split", "--from", "s0", "--to", "s2", "--half")
		defer update(t, db, 8, ids)()
		d.until("ready", 0)
		// A step is not judged by its times before there are enough measurements of the usual times.
		enough := func() bool { return number(t, db, "SELECT SUM(version) FROM test_order") > 2000 }
		product.Eventually(t, "there are statements to compare with", enough)

		d.fault(2, "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the target has a fault'")
		d.must("cutover", "split-1", "--to", "100%", "--step", "25%", "--every", "20s", "--on-breach", "roll-back", "--yes")
		d.until("ready", 0)
		if out := d.must("jobs", "split-1"); !strings.Contains(out, "failed at the target since the last step") || strings.Contains(out, "(50 %)") {
			t.Errorf("after a fault that raises errors:\n%s", out)
		}

		d.fault(2, "DO SLEEP(3)")
		d.must("cutover", "split-1", "--to", "100%", "--step", "25%", "--every", "1h", "--on-breach", "pause", "--yes")
		d.until("paused", 25)
		if why := d.job().State.Why; !strings.Contains(why, "took longer than") {
			t.Errorf("after a fault that takes time: %s", why)
		}

		d.mend(2)
		d.must("cutover", "split-1", "--to", "50%", "--step", "25%", "--every", "1s", "--on-breach", "step-back", "--yes")
		d.until("cutting", 50)
		d.fault(2, "SIGNAL SQLSTATE '45000' SET MESSAGE_TEXT = 'the target has a fault'")
		d.must("cutover", "split-1", "--to", "100%", "--step", "25%", "--every", "1h", "--on-breach", "step-back", "--yes")
		d.until("cutting", 50)
		product.Eventually(t, "the step is taken and taken back", func() bool {
			return strings.Contains(d.must("jobs", "split-1"), "cut over → rolling-back") || strings.Contains(d.must("jobs", "split-1"), "roll back: ")
		})
		d.until("cutting", 50)
		d.mend(2)
		d.must("rollback", "split-1", "--yes")
		d.until("ready", 0)
	})
}

func number(t *testing.T, db *sql.DB, query string) (n int) {
	t.Helper()
	if err := db.QueryRow(query).Scan(&n); err != nil {
		t.Fatalf("%s: %v", query, err)
	}
	return n
}

// buyerAfter returns the next buyer whose gene is moved.
func buyerAfter(uid int64) int64 {
	for {
		uid++
		if g := gene.OfInt(uid, gene.W16); 0x4000 <= g && g <= 0x7fff {
			return uid
		}
	}
}
