package e2e

import (
	"sync/atomic"
	"testing"

	"locus/router"
	"locus/router/gene"
	"locus/test/servers"
	"locus/test/shop"
)

// TestTheMapIsReplacedUnderLoad hands genes without rows to and fro while clients
// insert and read by owner, by ID and over all shards.
func TestTheMapIsReplacedUnderLoad(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{})
		db := s.DB(t, nil)
		stop := make(chan struct{})
		var inserted atomic.Int64
		done := make(chan struct{})
		go func() {
			defer close(done)
			for {
				select {
				case <-stop:
					return
				default:
				}
				for _, b := range buyers {
					r, err := db.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", b.uid)
					if err != nil {
						t.Errorf("insert: %v", err)
						return
					}
					id, _ := r.LastInsertId()
					n := inserted.Add(1)
					if got := number(t, db, "SELECT COUNT(*) FROM test_order WHERE order_id = ?", id); got != 1 {
						t.Errorf("order %d is found %d times", id, got)
						return
					}
					if got := number(t, db, "SELECT COUNT(*) FROM test_order"); got != n {
						t.Errorf("%d orders, %d were inserted", got, n)
						return
					}
				}
			}
		}()
		current := s.Cluster.Routes
		for i := range 100 {
			to := router.ShardName([]string{"s1", "s0"}[i%2])
			next, err := current.With(router.Change{Genes: gene.NewSet(gene.Range{First: 0x7000, Last: 0x7fff}), To: to})
			if err != nil {
				t.Fatal(err)
			}
			changed := *s.Cluster
			changed.Routes = next
			s.Apply(&changed)
			current = next
		}
		close(stop)
		<-done
		if inserted.Load() == 0 {
			t.Error("nothing was inserted meanwhile")
		}
	})
}

