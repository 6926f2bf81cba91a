package e2e

import (
	"database/sql"
	"fmt"
	"sync"
	"testing"
	"time"

	"locus/idgen/segment"
	"locus/proxy"
	"locus/test/shop"
)

// The number of counter groups is changed back and forth while clients insert through a proxy. Every INSERT succeeds,
// and no ID repeats.
func TestRegroupingWhileOrdersAreInserted(t *testing.T) {
	var kv segment.KV
	each(t, shop.Options{Options: func(o *proxy.Options) {
		kv = shop.Segments()
		o.Segments = kv
	}}, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		const clients, each, rows = 4, 8, 40
		regroupings := []int{1, 300, 7}
		store := segment.NewCASStore(kv, s.Schema+".test_order/", "operator", time.Now)
		done := make(chan struct{}, clients*each)
		var inserting sync.WaitGroup
		for c := range clients {
			inserting.Go(func() {
				for n := range each {
					list := ""
					for r := range rows {
						list += fmt.Sprintf(", (%d, %d)", 1000*c+40*n+r, n)
					}
					if _, err := db.Exec("INSERT INTO test_order (buyer_uid, amount) VALUES " + list[2:]); err != nil {
						t.Errorf("client %d: %v", c, err)
					}
					done <- struct{}{}
				}
			})
		}
		for _, groups := range regroupings {
			for range clients * each / (len(regroupings) + 1) {
				<-done
			}
			if err := store.Regroup(t.Context(), groups); err != nil {
				t.Fatal(err)
			}
		}
		inserting.Wait()
		if n := number(t, db, "SELECT COUNT(DISTINCT order_id) FROM test_order"); n != clients*each*rows {
			t.Errorf("%d orders, want %d", n, clients*each*rows)
		}
		if groups, err := store.Groups(t.Context()); err != nil || groups != regroupings[len(regroupings)-1] {
			t.Errorf("%d groups, %v", groups, err)
		}
		// The segments of the groups before are used up by now, or will be.
		exec(t, db, "INSERT INTO test_order (buyer_uid, amount) VALUES (1, 1)")
	})
}
