package e2e

import (
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router"
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

// TestAnAlteredTableIsReadAnew alters a declared table on every shard while the
// proxy runs.
func TestAnAlteredTableIsReadAnew(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := shop.Start(t, engine, shop.Options{Options: func(o *proxy.Options) { o.SchemaRefresh = 20 * time.Millisecond }})
		db := s.DB(t, nil)
		insert := "INSERT INTO test_order (buyer_uid, note) VALUES (42, 'x')"
		_, err := db.Exec(insert)
		refused(t, err, 1054, "note")
		for i := range s.Servers {
			exec(t, s.Shard(t, i), "ALTER TABLE test_order ADD note VARCHAR(20) FIRST")
		}
		for deadline := time.Now().Add(time.Minute); ; {
			if _, err = db.Exec(insert); err == nil {
				break
			}
			if time.Now().After(deadline) {
				t.Fatalf("still %v", err)
			}
		}
		// Without a list, the values are read by the columns' new order.
		exec(t, db, "INSERT INTO test_order VALUES ('first', NULL, NULL, 42, 1.5, 'new', NULL, '2026-01-02 03:04:05'), ('second', 0, 0, 0, 2.5, 'new', 0, '2026-01-02 03:04:05')")
		if got := rows(t, db, "SELECT note, buyer_uid FROM test_order WHERE buyer_uid IN (0, 42) ORDER BY note"); fmt.Sprint(got) != "[first 42 second 0 x 42]" {
			t.Errorf("rows %v", got)
		}
		if got := number(t, s.Shard(t, 1), "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 0"); got != 1 {
			t.Errorf("%d rows of buyer 0 on s1, want 1", got)
		}
	})
}

// TestAnAcknowledgementWaitsForOlderTransactions changes the map while a
// transaction is open that began under the one before.
func TestAnAcknowledgementWaitsForOlderTransactions(t *testing.T) {
	acknowledged := make(chan int64, 100)
	s := shop.Start(t, servers.MariaDB, shop.Options{Options: func(o *proxy.Options) {
		o.Acknowledge = func(version int64) error { acknowledged <- version; return nil }
	}})
	until := func(version int64) {
		t.Helper()
		for {
			select {
			case got := <-acknowledged:
				if got == version {
					return
				}
			case <-time.After(time.Minute):
				t.Fatalf("version %d is not acknowledged", version)
			}
		}
	}
	until(1)
	db := s.DB(t, nil)
	tx := begin(t, db)
	exec(t, tx, "INSERT INTO test_order (buyer_uid) VALUES (42)")
	next, err := s.Cluster.Routes.With(router.Change{Genes: gene.NewSet(gene.Range{First: 0x7000, Last: 0x7fff}), To: "s1"})
	if err != nil {
		t.Fatal(err)
	}
	changed := *s.Cluster
	changed.Routes = next
	s.Apply(&changed)
	for s.Proxy.Status().MapVersion != 2 { // the map is in force at once
		if number(t, db, "SELECT COUNT(*) FROM test_order") != 0 {
			t.Fatal("an uncommitted row is seen")
		}
	}
	for range 100 {
		number(t, db, "SELECT COUNT(*) FROM test_order WHERE buyer_uid = 1")
	}
	select {
	case version := <-acknowledged:
		t.Errorf("version %d was acknowledged while a transaction of version 1 was open", version)
	default:
	}
	if err := tx.Commit(); err != nil {
		t.Fatal(err)
	}
	until(2)
}
