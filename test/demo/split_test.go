package demo

import (
	"context"
	"database/sql"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/cmd/dbserver"
	"locus/test/product"
)

// shown is a job in the output of `locus jobs -o json`.
type shown struct {
	ID, Phase string
	Percent   float64
	State     struct{ Why string }
}

// job returns the only job.
func (d *demo) job() shown {
	d.t.Helper()
	var jobs []shown
	if err := json.Unmarshal([]byte(d.must("jobs", "-o", "json")), &jobs); err != nil || len(jobs) != 1 {
		d.t.Fatalf("%d jobs, %v", len(jobs), err)
	}
	return jobs[0]
}

// until waits until the only job is in a phase with the given share at the target.
func (d *demo) until(phase string, percent float64) {
	d.t.Helper()
	var id string
	var jobs int
	if err := d.db().QueryRow("SELECT id, COUNT(*) OVER () FROM locus.jobs").Scan(&id, &jobs); err != nil || jobs != 1 {
		d.t.Fatalf("%d jobs, %v", jobs, err)
	}
	d.comes(id, phase, percent)
}

// comes is like until, for one of several jobs.
func (d *demo) comes(id, phase string, percent float64) {
	d.t.Helper()
	db := d.db()
	product.Eventually(d.t, fmt.Sprintf("job %s is %s at %v %%", id, phase, percent), func() bool {
		var at, why string
		var done float64
		if err := db.QueryRow("SELECT phase, percent, COALESCE(why, '') FROM locus.jobs WHERE id = ?", id).Scan(&at, &done, &why); err != nil {
			d.t.Fatal(err)
		}
		if at == "failed" || at == "paused" && phase != "paused" {
			d.t.Fatalf("the job is %s: %s\n%s", at, why, d.must("jobs", id))
		}
		return at == phase && done >= percent-1 && done <= percent+1
	})
}

// orders is the load of a shop: it inserts, updates, deletes and counts orders until it is stopped.
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
			pace := time.NewTicker(20 * time.Millisecond) // leaves room for the job
			defer pace.Stop()
			for rng := rand.New(rand.NewPCG(1, uint64(i))); ctx.Err() == nil; <-pace.C {
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

// one inserts, changes and deletes one order, without retries.
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

// operator sends the commands of a split, by the command line or in SQL.
type operator interface {
	split() (said string)
	mirror(percent string)
	cutover(percent, step, everySeconds string)
	rollback(percent, step string)
	finish()
}

// shell is an operator at a command line.
type shell struct{ *demo }

func (o shell) split() string {
	said := o.must("split", "--from", "s0", "--to", "s2", "--half")
	o.must("wait", "split-1", "--timeout", "5m")
	return said
}

func (o shell) mirror(percent string) { o.must("mirror", "split-1", "--percent", percent) }

func (o shell) cutover(percent, step, everySeconds string) {
	o.must("cutover", "split-1", "--to", percent, "--step", step, "--every", everySeconds+"s", "--yes")
}

func (o shell) rollback(percent, step string) {
	o.must("rollback", "split-1", "--to", percent, "--step", step, "--yes")
}

func (o shell) finish() {
	o.must("finish", "split-1", "--yes")
	o.must("wait", "split-1", "--for", "done", "--timeout", "5m")
}

// client is a DBA with a MySQL client.
type client struct {
	*demo
	db *sql.DB
}

func (d *demo) asDBA(dir string) client {
	d.t.Helper()
	secret, err := os.ReadFile(filepath.Join(dir, "secrets", "users", "dba"))
	if err != nil {
		d.t.Fatal(err)
	}
	db, err := sql.Open("mysql", fmt.Sprintf("dba:%s@tcp(%s)/", strings.TrimSpace(string(secret)), d.Proxies[0].Addr))
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(func() { _ = db.Close() })
	return client{d, db}
}

// call runs a CALL, and returns its answer.
func (o client) call(text string, args ...any) string {
	o.t.Helper()
	var id, phase, percent, told string
	if err := o.db.QueryRow("CALL locus."+text, args...).Scan(&id, &phase, &percent, &told); err != nil {
		o.t.Fatalf("CALL locus.%s: %v", text, err)
	}
	if id != "split-1" {
		o.t.Errorf("CALL locus.%s is of job %s", text, id)
	}
	return told
}

func (o client) split() string         { return o.call("split('s0', 's2', 'half', 'it''s full')") }
func (o client) mirror(percent string) { o.call("mirror('split-1', " + percent + ")") }
func (o client) cutover(percent, step, everySeconds string) {
	o.call("cutover(?, ?, ?, ?)", "split-1", percent, step, everySeconds)
}

func (o client) rollback(percent, step string) {
	o.call("rollback('split-1', " + strings.TrimSuffix(percent, "%") + ", '" + step + "')")
}
func (o client) finish() { o.call("finish('split-1')") }

// refusals makes mistakes that a DBA may make. None changes anything.
func (o client) refusals() {
	o.t.Helper()
	for _, c := range []struct{ text, want string }{
		{"cutover('split-9', 100)", "Error 1644 (45000): job split-9: no such job"},
		{"cutover('split-1')", "Error 1318 (42000): Incorrect number of arguments for PROCEDURE locus.cutover; got 1, and it is locus.cutover(job, percent [, step_percent, every_seconds, on_breach])"},
		{"cutover('split-1', 101)", `Error 1210 (HY000): Incorrect arguments to locus.cutover: 101 is no percentage; use a number from 0 to 100`},
		{"cutover('split-1', 50, 5, 1, 'shout')", `Error 1210 (HY000): Incorrect arguments to locus.cutover: the reaction "shout" to a breach is unknown; use pause, step-back or roll-back`},
		{"cutover('split-1', 50 + 1)", "Error 1210 (HY000): Incorrect arguments to locus.cutover: argument 2 is no plain text or number"},
		{"cutover('split-1', '')", `Error 1210 (HY000): Incorrect arguments to locus.cutover: argument 2: "" is not a number`},
		{"cutover('split-1', NULL)", "Error 1210 (HY000): Incorrect arguments to locus.cutover: argument 2: NULL"},
		{"split(NULL, 's2', 'half')", "Error 1210 (HY000): Incorrect arguments to locus.split: argument 1: NULL"},
		{"finish('split-1')", "Error 1644 (45000): "},
		{"split('s0', 's9', 'half')", "Error 1644 (45000): shard s9 is not registered"},
		{"split('s0', 's2', 'some')", `Error 1210 (HY000): Incorrect arguments to locus.split: genes "some"`},
		{"explode('split-1')", "Error 1305 (42000): PROCEDURE locus.explode does not exist"},
	} {
		if _, err := o.db.Exec("CALL locus." + c.text); err == nil || !strings.HasPrefix(err.Error(), c.want) {
			o.t.Errorf("CALL locus.%s: %v, want %s", c.text, err, c.want)
		}
	}
	o.previews()
	if _, err := o.demo.db().Exec("CALL locus.pause('split-1')"); err == nil || !strings.Contains(err.Error(), "1370 (42000): execute command denied to user 'app'@'%' for routine 'locus.pause'") {
		o.t.Errorf("a user without admin: %v", err)
	}
}

// TestASplitAsAnOperatorDoesIt moves half of a shard's genes to another shard while orders are written, there,
// back and there again. No statement fails.
func TestASplitAsAnOperatorDoesIt(t *testing.T) {
	for _, engine := range []dbserver.Engine{dbserver.MariaDB, dbserver.MySQL} {
		t.Run(string(engine), func(t *testing.T) {
			dir := t.TempDir()
			d := start(t, engine, dir, "--orders-per-second", "0")
			var o operator = shell{d}
			if engine == dbserver.MySQL {
				o = d.asDBA(dir)
			}
			db := d.db()
			d.order(db)
			before := work(t, db, 2)
			before.inserted.Add(1)
			product.Eventually(t, "there are some orders", func() bool { return before.inserted.Load() > 300 || before.failure.Load() != nil })
			if out := o.split(); !strings.Contains(out, "16384 genes from s0 to s2") {
				t.Errorf("split says %s", out)
			}
			d.until("ready", 0)
			if dba, is := o.(client); is {
				dba.refusals()
			}
			d.mirrors(t, db, o)
			o.cutover("40%", "5%", "0.2")
			d.until("cutting", 40)
			o.rollback("0%", "100%")
			d.until("ready", 0)
			o.cutover("100%", "5%", "0")
			d.until("cut", 100)
			o.rollback("0%", "25%")
			d.until("ready", 0)
			o.cutover("100%", "10%", "0")
			d.until("cut", 100)
			o.finish()
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
