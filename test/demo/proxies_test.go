//go:build long

package demo

import (
	"encoding/json"
	"testing"

	"locus/cmd/dbserver"
	"locus/test/product"
)

// TestProxiesAreToldToStop: one proxy waits for the end of a transaction before it stops, another one doesn't.
// The third gets no request, and continues.
func TestProxiesAreToldToStop(t *testing.T) {
	d := start(t, dbserver.MariaDB, t.TempDir(), "--orders-per-second", "0", "--proxies", "3")
	ids := map[string]string{}
	var listed []struct{ ID, Addr string }
	if err := json.Unmarshal([]byte(d.must("proxies", "list", "-o", "json")), &listed); err != nil || len(listed) != 3 {
		t.Fatalf("%v, %v", listed, err)
	}
	for _, p := range listed {
		ids[p.Addr] = p.ID
	}
	for i, order := range []string{"drain", "evict"} {
		tx, err := d.dbAt(i).Begin()
		if err != nil {
			t.Fatal(err)
		}
		if _, err := tx.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (42, 1)"); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() {
			_, err := d.locus("proxies", order, ids[d.Proxies[i].Addr], "--yes")
			ended <- err
		}()
		if order == "drain" {
			product.Eventually(t, "it takes no more clients", func() bool { return d.dbAt(i).Ping() != nil })
			if err := tx.Commit(); err != nil {
				t.Errorf("a transaction under way does not end: %v", err)
			}
		}
		if err := <-ended; err != nil {
			t.Errorf("%s: %v", order, err)
		}
		if order == "evict" && tx.Commit() == nil {
			t.Error("a transaction of a proxy that was evicted is committed")
		}
	}
	var n int
	if err := d.dbAt(2).QueryRow("SELECT COUNT(*) FROM test_order").Scan(&n); err != nil || n != 1 {
		t.Errorf("%d orders, %v; want the drained proxy's", n, err)
	}
}
