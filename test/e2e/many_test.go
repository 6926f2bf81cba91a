package e2e

import (
	"testing"

	"golang.org/x/sys/unix"

	"locus/internal/test/scale"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/test/shop"
)

var manyClients = scale.Of(2000, 10_000)

// descriptors makes room for so many connections in this process, and in those
// that it starts.
func descriptors(t *testing.T, clients int) {
	t.Helper()
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatal(err)
	}
	before, need := limit, uint64(clients+1000)
	if limit.Cur >= need {
		return
	}
	limit.Cur, limit.Max = need, max(limit.Max, need)
	if err := unix.Setrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Fatalf("%d open files are needed, and %d is the limit, which can't be raised: %v", need, before.Max, err)
	}
}

// TestManyClientsOnFewConnections keeps many sessions that run a statement now and
// then.
func TestManyClientsOnFewConnections(t *testing.T) {
	descriptors(t, manyClients)
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		const most = 50 // maximum for each of two shards
		o := shop.Options{Options: func(o *proxy.Options) { o.MaxConnections = manyClients + 10 }}
		o.Backends.MaxOpen = most
		s := shop.Start(t, engine, o)
		everybody := gather(t, s, manyClients)
		everybody("connect")
		everybody("insert")
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
		everybody("read")
		for name, pool := range s.Proxy.Status().Pools {
			if pool.Open > most || pool.Exhausted > 0 {
				t.Errorf("shard %s: %d connections, and %d statements that got none", name, pool.Open, pool.Exhausted)
			}
		}
	})
}
