package demo

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"locus/cmd/dbserver"
	"locus/test/product"
)

// shown is what `locus jobs -o json` tells of a job.
type shown struct {
	ID, Phase string
	Percent   float64
	State     struct{ Why string }
}

// job gives the only job.
func (d *demo) job() shown {
	d.t.Helper()
	var jobs []shown
	if err := json.Unmarshal([]byte(d.must("jobs", "-o", "json")), &jobs); err != nil || len(jobs) != 1 {
		d.t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	return jobs[0]
}

// until waits for the only job to come to a phase with that share at the target.
func (d *demo) until(phase string, percent float64) {
	d.t.Helper()
	db := d.db()
	product.Eventually(d.t, fmt.Sprintf("the job is %s at %v %%", phase, percent), func() bool {
		var id, at, why string
		var jobs int
		var done float64
		err := db.QueryRow("SELECT id, phase, percent, COALESCE(why, ''), COUNT(*) OVER () FROM locus.jobs").Scan(&id, &at, &done, &why, &jobs)
		if err != nil || jobs != 1 {
			d.t.Fatalf("%d jobs, %v", jobs, err)
		}
		if at == "failed" || at == "paused" && phase != "paused" {
			d.t.Fatalf("the job is %s: %s\n%s", at, why, d.must("jobs", id))
		}
		return at == phase && done >= percent-1 && done <= percent+1
	})
}

// orders is a shop at work: it inserts, updates, deletes and counts until it is
// told to stop.
type orders struct {
	db        *sql.DB
	cancel    context.CancelFunc
	working   sync.WaitGroup
	inserted  atomic.Int64 // acknowledged, less those deleted
	failure   atomic.Pointer[error]
	statement atomic.Int64
}

func work(t *testing.T, db *sql.DB, clients int) *orders {
	ctx, cancel := context.WithCancel(context.Background())
	o := &orders{db: db, cancel: cancel}
	for i := range clients {
		o.working.Go(func() {
			for rng := rand.New(rand.NewPCG(1, uint64(i))); ctx.Err() == nil; {
				if err := o.one(rng, i); err != nil {
					err = fmt.Errorf("client %d: %w", i, err)
					o.failure.CompareAndSwap(nil, &err)
					return
				}
			}
		})
	}
	t.Cleanup(o.stop)
	return o
}

func (o *orders) stop() {
	o.cancel()
	o.working.Wait()
}

// one is one order's life. Nobody retries anything.
func (o *orders) one(rng *rand.Rand, client int) error {
	buyer := rng.Int64N(5000)
	r, err := o.db.Exec("INSERT INTO test_order (buyer_uid, amount, status) VALUES (?, ?, 'new')", buyer, rng.IntN(100))
	if err != nil {
		return err
	}
	o.inserted.Add(1)
	id, err := r.LastInsertId()
	if err != nil {
		return err
	}
	tx, err := o.db.Begin()
	if err != nil {
		return err
	}
	for range 2 {
		if _, err := tx.Exec("UPDATE test_order SET amount = amount + 1 WHERE order_id = ?", id); err != nil {
			return err
		}
	}
	if err := tx.Commit(); err != nil {
		return err
	}
	var version int64
	if err := o.db.QueryRow("SELECT version FROM test_order WHERE order_id = ? AND buyer_uid = ?", id, buyer).Scan(&version); err != nil {
		return fmt.Errorf("read order %d back: %w", id, err)
	}
	if version != 3 {
		return fmt.Errorf("order %d has version %d after two updates, want 3", id, version)
	}
	if rng.IntN(4) == 0 {
		if r, err = o.db.Exec("DELETE FROM test_order WHERE order_id = ?", id); err != nil {
			return err
		}
		if n, _ := r.RowsAffected(); n != 1 {
			return fmt.Errorf("%d rows deleted of order %d", n, id)
		}
		o.inserted.Add(-1)
	}
	o.statement.Add(5)
	return nil
}

// TestASplitAsAnOperatorDoesIt takes half of a shard's genes to another one while
// orders flow, there and back and there again. No statement fails.
func TestASplitAsAnOperatorDoesIt(t *testing.T) {
	for _, engine := range []dbserver.Engine{dbserver.MariaDB, dbserver.MySQL} {
		t.Run(string(engine), func(t *testing.T) {
			d := start(t, engine, t.TempDir(), "--orders-per-second", "0")
			db := d.db()
			before := work(t, db, 2)
			product.Eventually(t, "there are some orders", func() bool { return before.inserted.Load() > 300 || before.failure.Load() != nil })
			out := d.must("split", "--from", "s0", "--to", "s2", "--half")
			if !strings.Contains(out, "16384 genes from s0 to s2") {
				t.Errorf("split says %s", out)
			}
			d.until("ready", 0)
			d.must("cutover", "split-1", "--to", "40%", "--step", "5%", "--every", "200ms", "--yes")
			d.until("cutting", 40)
			d.must("rollback", "split-1", "--yes")
			d.until("ready", 0)
			d.must("cutover", "split-1", "--to", "100%", "--step", "5%", "--yes")
			d.until("cut", 100)
			d.must("rollback", "split-1", "--to", "0%", "--step", "25%", "--yes")
			d.until("ready", 0)
			d.must("cutover", "split-1", "--to", "100%", "--step", "10%", "--yes")
			d.until("cut", 100)
			d.must("finish", "split-1", "--yes")
			d.until("done", 100)
			before.stop()
			if err := before.failure.Load(); err != nil {
				t.Errorf("%v\n%s", *err, d.must("jobs", "split-1"))
			}
			var total, shards int64
			for i := range 3 {
				var n int64
				if err := d.shard(i).QueryRow("SELECT COUNT(*) FROM shop.test_order").Scan(&n); err != nil {
					t.Fatal(err)
				}
				total += n
				if n > 0 {
					shards++
				}
			}
			if want := before.inserted.Load(); total != want || d.query("SELECT COUNT(*) FROM test_order") != fmt.Sprint(want) || shards != 3 {
				t.Errorf("%d rows on %d shards, the proxy counts %s, %d are to be there", total, shards, d.query("SELECT COUNT(*) FROM test_order"), want)
			}
			if out := d.must("routes", "show"); !strings.Contains(out, "0x4000..0x7fff  s2") {
				t.Errorf("the map at the end is\n%s", out)
			}
			t.Logf("%d statements while genes moved", before.statement.Load())
		})
	}
}
