package e2e

import (
	"context"
	"database/sql"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/proxy"
	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/router"
)

// mirrored runs a test with a spare shard that has buyer 42's orders too, and receives copies of all reads.
func mirrored(t *testing.T, test func(f *fencing, db *sql.DB, orders []int64)) {
	stream := func(o *proxy.Options) { // nothing is left to apply, because no client writes
		o.Applied = func(context.Context, string, router.ShardName, router.ShardName) error { return nil }
	}
	fenced(t, func(f *fencing, db *sql.DB) {
		db.SetMaxOpenConns(1) // with one connection, the next statement has the session's state
		values := make([]string, 20)
		for i := range values {
			values[i] = fmt.Sprintf("(42, %d)", i)
		}
		exec(f.t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES "+strings.Join(values, ", "))
		f.copies()
		f.mirror(100)
		var orders []int64
		for _, id := range rows(f.t, f.Shard(f.t, 0), "SELECT order_id FROM test_order WHERE buyer_uid = 42 ORDER BY order_id") {
			n, err := strconv.ParseInt(id, 10, 64)
			if err != nil {
				f.t.Fatal(err)
			}
			orders = append(orders, n)
		}
		test(f, db, orders)
	}, stream)
}

// copies copies the moving orders of the source to the target.
func (f *fencing) copies() {
	f.t.Helper()
	const columns = "order_id, order_no, buyer_uid, amount, version"
	for _, row := range rows(f.t, f.Shard(f.t, 0), "SELECT CONCAT_WS(', ', "+columns+") FROM test_order WHERE buyer_uid = 42") {
		exec(f.t, f.Shard(f.t, 2), "INSERT INTO test_order ("+columns+") VALUES ("+row+")")
	}
}

// mirror sets the share of the reads that are mirrored.
func (f *fencing) mirror(percent int) {
	f.t.Helper()
	next, err := f.routes.Step([]router.Move{{
		Job: "1", Genes: gene.NewSet(gene.Range{First: 0x3000, Last: 0x3fff}), From: "s0", To: "s2", Mirror: percent,
	}})
	if err != nil {
		f.t.Fatal(err)
	}
	f.apply(next)
}

// compared waits until every read so far is settled, and returns the outcomes.
func (f *fencing) compared(db *sql.DB) mirror.Report {
	f.t.Helper()
	exec(f.t, db, "DO 0") // the session has completed its earlier work
	for deadline := time.Now().Add(time.Minute); ; {
		r := f.Proxy.Mirrored()["1"]
		if r.Sampled == r.Compared+r.Dropped+r.TooLong+r.Unsent+r.Late+r.Failed && r.Looking == 0 {
			return r
		}
		if time.Now().After(deadline) {
			f.t.Fatalf("not settled: %+v", r)
		}
		<-time.After(10 * time.Millisecond)
	}
}

const (
	orderByID   = "SELECT buyer_uid, amount, version FROM test_order WHERE order_id = ?"
	orderByUser = "SELECT order_id, amount FROM test_order WHERE buyer_uid = ? ORDER BY amount"
)

// Every difference in the target's answers is found, for every kind of statement, and equal answers are not reported.
func TestMirroredReads(t *testing.T) {
	mirrored(t, func(f *fencing, db *sql.DB, orders []int64) {
		for _, id := range orders {
			rows(f.t, db, orderByID, id)
		}
		rows(f.t, db, orderByUser, 42)
		rows(f.t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?", 42)
		asked := uint64(len(orders) + 2)
		if r := f.compared(db); r.Compared != asked || r.Different > 0 || r.Lag > 0 || r.Failed > 0 {
			f.t.Errorf("of equal rows: %+v", r)
		}
		// None of these statements may be mirrored: their answers depend on the session, or may differ each time.
		exec(f.t, db, "SET @a = 1")
		for _, query := range []string{
			"SELECT order_id, NOW(6) FROM test_order WHERE buyer_uid = ?",
			"SELECT order_id, RAND() FROM test_order WHERE buyer_uid = ?",
			"SELECT order_id, @a FROM test_order WHERE buyer_uid = ?",
			"SELECT order_id FROM test_order WHERE buyer_uid = ? FOR UPDATE",
			"SELECT GROUP_CONCAT(order_id) FROM test_order WHERE buyer_uid = ?",
		} {
			rows(f.t, db, query, 42)
			if r := f.compared(db); r.Sampled != asked {
				f.t.Fatalf("mirrored: %s", query)
			}
		}
		exec(f.t, db, "BEGIN")
		rows(f.t, db, orderByUser, 42)
		exec(f.t, db, "COMMIT")
		if r := f.compared(db); r.Sampled != asked {
			f.t.Error("mirrored: a read in a transaction")
		}
		rows(f.t, db, orderByUser, 1)
		if r := f.compared(db); r.Sampled != asked {
			f.t.Error("mirrored: a read of another gene")
		}
		rows(f.t, db, "SELECT COUNT(*) FROM test_order")
		if r := f.compared(db); r.Sampled != asked {
			f.t.Errorf("%d reads more are mirrored", r.Sampled-asked)
		}
		// Parts that the session answers itself are written into the text, and so into the copy.
		rows(f.t, db, "SELECT order_id, CONNECTION_ID() FROM test_order WHERE buyer_uid = ?", 42)
		if r := f.compared(db); r.Different > 0 {
			f.t.Errorf("%+v", r.Differences)
		}
		exec(f.t, f.Shard(f.t, 2), fmt.Sprintf("UPDATE test_order SET amount = amount + 0.01 WHERE order_id = %d", orders[3]))
		exec(f.t, f.Shard(f.t, 2), fmt.Sprintf("DELETE FROM test_order WHERE order_id = %d", orders[5]))
		exec(f.t, f.Shard(f.t, 2), fmt.Sprintf("UPDATE test_order SET version = 7 WHERE order_id = %d", orders[8]))
		for _, id := range orders {
			rows(f.t, db, orderByID, id)
		}
		rows(f.t, db, orderByUser, 42)
		r := f.compared(db)
		if r.Different != 4 || r.Lag > 0 || r.Unsettled > 0 || len(r.Differences) != 4 {
			f.t.Errorf("of four that were planted: %+v", r)
		}
		for _, d := range r.Differences {
			if d.Gene != gene42.Format(gene.W16) || d.SourceHash == d.TargetHash || !strings.Contains(d.Statement, "test_order") {
				f.t.Errorf("%+v", d)
			}
		}
		exec(f.t, f.Shard(f.t, 2), "ALTER TABLE test_order DROP COLUMN version")
		rows(f.t, db, orderByID, orders[0])
		if r = f.compared(db); r.Different != 5 || r.Differences[0].Code != 1054 {
			f.t.Errorf("of a column that is not there: %+v", r)
		}
		f.mirror(0)
		rows(f.t, db, orderByUser, 42)
		if later := f.compared(db); later.Sampled != r.Sampled {
			f.t.Error("mirrored after the end")
		}
	})
}

// A target without the index has a longer duration. If the target does not answer, no client waits: each gets its
// answer, and mirrored reads that don't fit into the queue are dropped.
func TestMirrorShowsASlowTarget(t *testing.T) {
	mirrored(t, func(f *fencing, db *sql.DB, _ []int64) {
		target := f.Shard(f.t, 2)
		for _, shard := range []*sql.DB{f.Shard(f.t, 0), target} {
			for i := range 10 { // 20,000 rows
				exec(f.t, shard, fmt.Sprintf("INSERT INTO test_order (order_id, order_no, buyer_uid, version) SELECT order_id + %d, order_no, 9, 1 FROM test_order", 1000<<i))
			}
		}
		exec(f.t, target, "ALTER TABLE test_order DROP KEY buyer_uid")
		for range 25 {
			rows(f.t, db, orderByUser, 42)
		}
		r := f.compared(db)
		half := func(t meter.Tally) time.Duration { return meter.Quantile(t.Times, 0.5) }
		if r.Compared != 25 || r.Different > 0 || half(r.Target) <= half(r.Source) {
			f.t.Errorf("half of the reads took %v at the target, which has no index, and %v at the source: %+v", half(r.Target), half(r.Source), r.Counts)
		}
		locked, _ := connect(f.t, target)
		exec(f.t, locked, "LOCK TABLES test_order WRITE")
		for range 300 {
			if got := rows(f.t, db, orderByUser, 42); len(got) != 20 {
				f.t.Fatalf("%d rows", len(got))
			}
		}
		if r = f.Proxy.Mirrored()["1"]; r.Dropped == 0 {
			f.t.Errorf("nothing is dropped: %+v", r.Counts)
		}
		exec(f.t, locked, "UNLOCK TABLES")
		f.compared(db)
	})
}
