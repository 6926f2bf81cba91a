package demo

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"locus/config/etcd"
	"locus/control/failover"
	"locus/internal/test/servers"
	"locus/test/product"
)

// TestReplicas runs the steps that the demo with replicas suggests. Another server becomes the primary while orders are
// written, and is then killed. The orders continue, and a restart of everything changes nothing.
func TestReplicas(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		t.Parallel()
		dir := t.TempDir()
		args := []string{"--replicas", "1", "--shards", "1", "--spare", "0", "--orders-per-second", "20"}
		d := start(t, engine, dir, args...)
		first, other := d.Shards[0].Addr, d.Shards[0].Replicas[0].Addr
		d.moreOrders()
		if out := d.must("switchover", "s0", "--to", other, "--yes"); !strings.Contains(out, other+" is the primary of shard s0") {
			t.Errorf("switchover: %s", out)
		}
		d.moreOrders()
		d.untilSeen(other)
		text, err := os.ReadFile(filepath.Join(dir, "s0-replica-1", "server.pid"))
		if err != nil {
			t.Fatal(err)
		}
		pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
		if err == nil {
			err = syscall.Kill(pid, syscall.SIGKILL)
		}
		if err != nil {
			t.Fatal(err)
		}
		d.untilPrimary(first)
		d.moreOrders() // these orders wait until the killed server is started again
		d.untilWell()
		product.Eventually(t, "how far the replica is behind is told", func() bool {
			return d.query("SELECT COUNT(*) FROM locus.servers WHERE role = 'replica' AND address = '"+other+"' AND behind_ms IS NOT NULL AND errant IS NULL") == "1"
		})
		if out := d.must("status"); !strings.Contains(out, "REPLICA") || !strings.Contains(out, other) {
			t.Errorf("status lists no replica:\n%s", out)
		}
		orders, err := strconv.Atoi(d.query("SELECT COUNT(*) FROM test_order"))
		if err != nil {
			t.Fatal(err)
		}
		d.stop()

		d = start(t, engine, dir, args...)
		d.untilPrimary(first)
		d.moreOrders()
		d.untilWell()
		if got, _ := strconv.Atoi(d.query("SELECT COUNT(*) FROM test_order")); got <= orders {
			t.Errorf("%d orders after a restart, and there were %d", got, orders)
		}
	})
}

// moreOrders waits until orders were placed.
func (d *demo) moreOrders() {
	d.t.Helper()
	var before int
	if err := d.db().QueryRow("SELECT COUNT(*) FROM test_order").Scan(&before); err != nil {
		d.t.Fatal(err)
	}
	product.Eventually(d.t, "orders are placed", func() bool {
		var n int
		return d.db().QueryRow("SELECT COUNT(*) FROM test_order").Scan(&n) == nil && n > before
	})
}

// untilSeen waits until the watchers have seen a primary accept writes. A primary that is lost before that is not replaced,
// because it is unknown which writes it has acknowledged.
func (d *demo) untilSeen(addr string) {
	d.t.Helper()
	client, err := etcd.Open(etcd.Config{Endpoints: d.Etcd})
	if err != nil {
		d.t.Fatal(err)
	}
	defer client.Close()
	product.Eventually(d.t, addr+" was looked at", func() bool {
		records, err := failover.Records(d.t.Context(), client.Under("/locus/main/"))
		return err == nil && records["s0"].Primary == addr && records["s0"].Had != ""
	})
}

func (d *demo) untilPrimary(addr string) {
	d.t.Helper()
	db := d.db()
	product.Eventually(d.t, addr+" is the primary", func() bool {
		var now string
		err := db.QueryRow("SELECT address FROM locus.shards WHERE name = 's0'").Scan(&now)
		if err != nil && !strings.Contains(err.Error(), "cut off from etcd") { // on a busy machine a server may be cut off from etcd for a moment, and then executes nothing
			d.t.Fatal(err)
		}
		return now == addr
	})
}

func (d *demo) untilWell() {
	d.t.Helper()
	product.Eventually(d.t, "all is well", func() bool {
		_, err := d.locus("status")
		return err == nil
	})
}
