package fleet

import (
	"maps"
	"testing"

	"locus/internal/test/servers"
	"locus/test/product"
)

// A proxy is drained and replaced by another version under load, and keys of order
// numbers are rotated twice, and no statement fails; and rotated again while nodes of
// etcd, a proxy and the command are killed.
func TestReplacedAndRotatedUnderLoad(t *testing.T) {
	f := start(t, servers.MariaDB)
	l := f.load()
	l.goesOn(t, 100)
	f.replace(2)
	l.goesOn(t, 100)
	for _, to := range []int{41, 31} { // there, and back
		f.switchOver(1, to)
		l.goesOn(t, 100)
	}
	f.rotate(l)
	l.nothingFailed(t, 0)
	f.rotateThroughFaults(l)
	l.end()
	f.nothingIsLost(l)
	f.numbers(5_000, 50)
	f.noSecretIsTold()
}

// replace drains a proxy as an operator does, and starts the newer version in its
// place.
func (f *fleet) replace(i int) {
	f.t.Helper()
	before := f.card(i)
	f.locus(1, "proxies", "drain", before.ID, "--yes") // this process may be the only mover
	if err := f.proxies[i].Exit(f.t); err != nil {
		f.t.Errorf("%s, drained, ended with %v", f.proxies[i].Name, err)
	}
	f.proxies[i].Command[0] = newer
	f.proxies[i].Start(f.t)
	f.untilReady(i)
	if after := f.card(i); after.ID == before.ID || after.Version == before.Version {
		f.t.Errorf("%+v was replaced by %+v", before, after)
	}
}

// nothingIsLost compares the rows with what customers received: an acknowledged order is there exactly once,
// with its item, and a failed one may be there.
func (f *fleet) nothingIsLost(l *load) {
	f.t.Helper()
	for _, shard := range f.shards {
		product.Eventually(f.t, "no branch of a transaction is prepared", func() bool { return nothingIsPrepared(f.t, shard) })
	}
	orders, items := l.count(f.t, "SELECT order_id FROM test_order"), l.count(f.t, "SELECT order_id FROM order_item")
	begun := 2 * int(l.begun.Load())
	f.t.Logf("%d orders were begun, %d acknowledged; %d are there", begun, len(l.acknowledged), len(orders))
	if len(orders) > begun || len(l.acknowledged) == 0 {
		f.t.Errorf("%d orders are there, and %d were begun, %d acknowledged", len(orders), begun, len(l.acknowledged))
	}
	for _, order := range l.acknowledged {
		if orders[order] != 1 {
			f.t.Errorf("order %d was acknowledged, and is there %d times", order, orders[order])
		}
	}
	if !maps.Equal(orders, items) {
		f.t.Errorf("%d orders, items of %d: they are not of the same", len(orders), len(items))
	}
}

// nothingIsPrepared reports whether recovery has finished the transactions that were decided while a shard was
// down. Until then their rows are invisible.
func nothingIsPrepared(t *testing.T, shard *servers.Server) bool {
	t.Helper()
	conn, err := shard.Connect(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	branches, err := conn.Execute("XA RECOVER")
	if err != nil {
		t.Fatal(err)
	}
	return branches.RowNumber() == 0
}

// count returns how often each number occurs in the rows of all shards.
func (l *load) count(t *testing.T, query string) map[int64]int {
	t.Helper()
	rows, err := l.db.Query(query)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	times := map[int64]int{}
	for rows.Next() {
		var n int64
		if err := rows.Scan(&n); err != nil {
			t.Fatal(err)
		}
		times[n]++
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return times
}
