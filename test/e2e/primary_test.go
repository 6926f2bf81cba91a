package e2e

import (
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/go-sql-driver/mysql"

	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
	"locus/test/shop"
)

// writer inserts orders of one buyer until it is stopped, and records the answer to each.
type writer struct {
	acknowledged []int64
	refused      []error
	last         atomic.Uint64 // statements that went well
}

// TestAPrimaryMovesUnderLoad makes a replica the primary: the old primary becomes read-only, the cluster declares the
// new one, and the old one dies.
func TestAPrimaryMovesUnderLoad(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		pair := servers.Start(t, engine, 2)
		before, after := pair[0], pair[1]
		after.Follow(t, before)
		readOnly, reset := "SET GLOBAL super_read_only = ON", "SET GLOBAL super_read_only = OFF"
		if engine == servers.MariaDB { // an account with all rights can still write there
			before.Exec(t, "REVOKE READ ONLY ADMIN ON *.* FROM "+before.User)
			readOnly, reset = "SET GLOBAL read_only = ON", "SET GLOBAL read_only = OFF"
		}
		s := shop.Start(t, engine, shop.Options{Servers: pair[:1], Shards: 1})
		db := s.DB(t, nil)

		stop := make(chan struct{})
		var tasks sync.WaitGroup
		writers := make([]writer, 4)
		for i := range writers {
			w := &writers[i]
			tasks.Go(func() {
				for paced(stop) {
					r, err := db.Exec("INSERT INTO test_order (buyer_uid) VALUES (?)", i)
					if err != nil {
						w.refused = append(w.refused, err)
						continue
					}
					id, _ := r.LastInsertId()
					w.acknowledged = append(w.acknowledged, id)
					w.last.Add(1)
				}
			})
		}
		progress := func(what string) {
			t.Helper()
			for i := range writers {
				from := writers[i].last.Load()
				until(t, what, func() bool { return writers[i].last.Load() >= from+20 })
			}
		}
		progress("orders are inserted")
		before.Exec(t, readOnly)
		old, next := before.DB(t, s.Schema), after.DB(t, s.Schema)
		rows := number(t, old, "SELECT COUNT(*) FROM test_order")
		until(t, "the new primary has all", func() bool { return number(t, next, "SELECT COUNT(*) FROM test_order") == rows })
		after.Unfollow(t)

		changed := *s.Cluster
		shard := s.Cluster.Shards["s0"]
		shard.Address = after.Addr()
		changed.Shards = map[router.ShardName]cluster.Shard{"s0": shard}
		s.Apply(&changed)
		progress("orders are inserted at the new primary")
		// No statement is sent to the old primary any more, whether or not it runs.
		before.Exec(t, reset)
		if err := before.Kill(); err != nil {
			t.Fatal(err)
		}
		failures := s.Proxy.Status().Counts.Failed.Load()
		progress("orders are inserted with the old primary dead")
		close(stop)
		tasks.Wait()
		if now := s.Proxy.Status().Counts.Failed.Load(); now != failures {
			t.Errorf("%d statements failed after the old primary had died", now-failures)
		}

		var have []int64
		found, err := next.Query("SELECT order_id FROM test_order")
		if err != nil {
			t.Fatal(err)
		}
		defer found.Close()
		for found.Next() {
			var id int64
			if err := found.Scan(&id); err != nil {
				t.Fatal(err)
			}
			have = append(have, id)
		}
		slices.Sort(have)
		total := 0
		for i := range writers {
			for _, id := range writers[i].acknowledged {
				total++
				if _, there := slices.BinarySearch(have, id); !there {
					t.Errorf("order %d was acknowledged and is not at the new primary", id)
				}
			}
			for _, err := range writers[i].refused {
				var e *mysql.MySQLError
				if !errors.As(err, &e) || e.Number != 1290 {
					t.Errorf("refused with %v, want MySQL's 1290: read-only", err)
				}
			}
		}
		if total != len(have) {
			t.Errorf("%d orders, %d were acknowledged", len(have), total)
		}
		before.Restart(t) // its database is dropped at the end
	})
}
