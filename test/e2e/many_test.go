package e2e

import (
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"locus/proxy"
	"locus/test/servers"
	"locus/test/shop"
)

// descriptors makes room for both ends of so many connections in this process.
func descriptors(t *testing.T, clients int) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	before, need := limit, uint64(2*clients+1000)
	if limit.Cur >= need {
		return
	}
	limit.Cur, limit.Max = need, max(limit.Max, need)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatalf("%d open files are needed, and %d is the limit, which can't be raised: %v", need, before.Max, err)
	}
}

// TestManyClientsOnFewConnections keeps many sessions, each with state of its own,
// that run a statement now and then.
func TestManyClientsOnFewConnections(t *testing.T) {
	descriptors(t, manyClients)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		const most = 20
		o := shop.Options{Options: func(o *proxy.Options) { o.MaxConnections = manyClients + 10 }}
		o.Backends.MaxOpen = most
		s := shop.Start(t, engine, o)
		db := s.DB(t, nil)
		clients := make([]client, manyClients)
		everyone := func(f func(i int)) {
			var tasks sync.WaitGroup
			var next atomic.Int64
			for range 16 {
				tasks.Go(func() {
					for i := int(next.Add(1)) - 1; i < manyClients; i = int(next.Add(1)) - 1 {
						f(i)
					}
				})
			}
			tasks.Wait()
		}
		everyone(func(i int) {
			conn, err := db.Conn(t.Context())
			if err != nil {
				t.Errorf("client %d: %v", i, err)
				return
			}
			clients[i] = client{conn}
			if _, err := clients[i].Exec("INSERT INTO test_order (buyer_uid, amount) VALUES (?, 1)", i); err != nil {
				t.Errorf("client %d: %v", i, err)
			}
		})
		if t.Failed() {
			return
		}
		defer everyone(func(i int) { _ = clients[i].Close() })
		if got := s.Proxy.Status().Sessions; got != manyClients {
			t.Errorf("%d sessions, want %d", got, manyClients)
		}
		until(t, "idle clients hold no connection", func() bool {
			for _, pool := range s.Proxy.Status().Pools {
				if pool.Lent > 0 {
					return false
				}
			}
			return true
		})
		everyone(func(i int) {
			var n int
			if err := clients[i].QueryRow("SELECT COUNT(*) FROM test_order WHERE buyer_uid = ?", i).Scan(&n); err != nil || n != 1 {
				t.Errorf("client %d: %d rows, %v", i, n, err)
			}
		})
		for name, pool := range s.Proxy.Status().Pools {
			if pool.Open > most || pool.Exhausted > 0 {
				t.Errorf("shard %s: %d connections, and %d statements that got none", name, pool.Open, pool.Exhausted)
			}
		}
	})
}
