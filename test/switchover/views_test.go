package switchover

import (
	"slices"
	"testing"
	"time"

	"locus/control/declared"
	"locus/internal/test/servers"
	"locus/proxy/health"
)

// sees returns the states of servers as a proxy reports them. A server that the proxy doesn't reach is reported
// as away.
func (s *stand) sees(proxy string, list []health.Status) []health.Status {
	missed, _ := s.blind.Load(proxy)
	list = slices.Clone(list)
	for i := range list {
		if list[i].Addr == missed {
			list[i].State, list[i].Silent, list[i].Why = health.Away, time.Second, "no route to host"
		}
	}
	return list
}

// misses makes a server unreachable for the given number of proxies.
func (s *stand) misses(server, proxies int) {
	for _, p := range s.proxies[:proxies] {
		s.blind.Store(p.Addr, s.addr(server))
	}
}

// If one of three proxies doesn't reach the primary, nothing is done, and nothing fails. If two don't, but the
// third one and the watchers of the shard do, another server is promoted, and it has everything that the third
// proxy has written until then.
func TestWhatMostProxiesSee(t *testing.T) {
	servers.Mostly(t, servers.MySQL, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := promoting(t, engine)
		s.serve(t)
		l := s.load(t)
		l.more(t, 50)
		first := s.primary(t)
		before, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		must(t, err)
		s.misses(first, 1)
		for began := time.Now(); time.Since(began) < 2*before.Cluster.Shards["s0"].PatienceWithPrimary(); {
			l.more(t, 50)
		}
		after, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		must(t, err)
		if after.Server != before.Server || after.Epoch != before.Epoch {
			t.Errorf("one of three proxies doesn't reach %s: the document said %s and says %s", s.addr(first), before.Encode(), after.Encode())
		}
		if failed := l.failed.Load(); failed > 0 {
			t.Errorf("%d writes failed: %v", failed, l.first)
		}
		s.misses(first, 2)
		s.wantAnother(t, l, first)
		s.blind.Clear()
		s.wantJoined(t, first)
		l.end()
		s.wantAcknowledged(t, l)
	})
}
