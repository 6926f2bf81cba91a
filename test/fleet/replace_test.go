package fleet

import (
	"testing"

	"locus/test/servers"
)

// A proxy is drained and replaced by another version under load, and no statement
// fails.
func TestAProxyIsReplacedUnderLoad(t *testing.T) {
	f := start(t, servers.MariaDB)
	l := f.load()
	l.goesOn(t, 100)
	f.replace(2)
	l.goesOn(t, 100)
	l.end()
	l.nothingFailed(t, 0)
	f.nothingIsLost(l)
	f.noSecretIsTold()
}

// replace drains a proxy as an operator does, and starts the newer version in its
// place.
func (f *fleet) replace(i int) {
	f.t.Helper()
	before := f.card(i)
	f.locus(1, "proxies", "drain", before.ID, "--yes") // it may be the only mover
	if err := f.proxies[i].exit(f.t); err != nil {
		f.t.Errorf("%s, drained, ended with %v", f.proxies[i].name, err)
	}
	f.proxies[i].command[0] = newer
	f.proxies[i].start(f.t)
	f.untilReady(i)
	if after := f.card(i); after.ID == before.ID || after.Version == before.Version {
		f.t.Errorf("%+v was replaced by %+v", before, after)
	}
}

// nothingIsLost compares what is there with what customers were told: what was
// acknowledged is there, and what failed may be.
func (f *fleet) nothingIsLost(l *load) {
	f.t.Helper()
	var orders, items int64
	if err := l.db.QueryRow("SELECT COUNT(*) FROM test_order").Scan(&orders); err != nil {
		f.t.Fatal(err)
	}
	if err := l.db.QueryRow("SELECT COUNT(*) FROM order_item i JOIN test_order o ON o.order_id = i.order_id").Scan(&items); err != nil {
		f.t.Fatal(err)
	}
	begun, done := 2*l.begun.Load(), 2*l.done.Load()
	f.t.Logf("%d orders were begun, %d acknowledged; %d and %d items are there", begun, done, orders, items)
	if orders < done || orders > begun || items != orders {
		f.t.Errorf("%d orders and %d items; %d were acknowledged, %d begun", orders, items, done, begun)
	}
}
