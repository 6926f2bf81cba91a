//go:build long

package switchover

import (
	"errors"
	"strings"
	"testing"
	"time"

	clientv3 "go.etcd.io/etcd/client/v3"

	"locus/control/declared"
	"locus/control/switchover"
	"locus/internal/test/servers"
)

// Etcd and the primary fail at the same moment. While etcd is down no server is promoted. When it is back,
// another server is, and all acknowledged writes are there.
func TestEtcdIsAwayWithThePrimary(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := promoting(t, engine)
		l := s.load(t)
		l.more(t, 50)
		first := s.primary(t)
		before, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
		must(t, err)
		s.Etcd.Link.Swallow()
		must(t, s.servers[first].Kill())
		for began := time.Now(); time.Since(began) < 2*before.Cluster.Shards["s0"].PatienceWithPrimary(); {
			l.fails(t, 1)
		}
		s.Etcd.Link.Deliver()
		s.wantAnother(t, l, first)
		s.servers[first].Restart(t)
		s.wantJoined(t, first)
		l.end()
		s.wantAcknowledged(t, l)
	})
}

// The process that promotes a server loses its leases during the promotion, so that two processes promote at
// the same time. One server becomes the primary, and all acknowledged writes are there.
func TestTheLeaseIsLostWhilePromoting(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := promoting(t, engine)
		l := s.load(t)
		l.more(t, 50)
		first := s.primary(t)
		must(t, s.servers[first].Kill())
		lost := 0
		servers.Eventually(t, "another server is the primary", func() error {
			p, err := declared.ReadPrimary(t.Context(), s.kv, "s0")
			if err != nil {
				return err
			}
			if p.Server != s.addr(first) && p.Next == "" {
				return nil
			}
			if p.Next != "" && lost < 3 {
				lost += s.loseLeases(t)
			}
			return errors.New(string(p.Encode()))
		})
		t.Logf("%d leases were lost", lost)
		if lost == 0 {
			t.Error("no lease was lost while a server was promoted")
		}
		l.more(t, 20)
		s.servers[first].Restart(t)
		s.wantJoined(t, first)
		l.end()
		s.wantAcknowledged(t, l)
	})
}

// loseLeases revokes the leases of all processes that watch the shards or carry out an order, and returns their
// number.
func (s *stand) loseLeases(t *testing.T) (lost int) {
	t.Helper()
	client, err := clientv3.New(clientv3.Config{Endpoints: []string{s.Etcd.Link.Addr()}, DialTimeout: 5 * time.Second})
	must(t, err)
	defer client.Close()
	all, err := client.Get(t.Context(), "/locus/test/", clientv3.WithPrefix())
	must(t, err)
	for _, kv := range all.Kvs {
		key := strings.TrimPrefix(string(kv.Key), "/locus/test/")
		if kv.Lease != 0 && (strings.HasPrefix(key, "failover/watches/") || strings.HasPrefix(key, switchover.ClaimPrefix)) {
			if _, err := client.Revoke(t.Context(), clientv3.LeaseID(kv.Lease)); err == nil {
				lost++
			}
		}
	}
	return lost
}

// fails waits until so many more writes had no answer or failed.
func (l *load) fails(t *testing.T, n int64) {
	t.Helper()
	want := l.failed.Load() + l.blind.Load() + n
	servers.Eventually(t, "writes fail", func() error {
		if l.failed.Load()+l.blind.Load() < want {
			return errors.New("they don't")
		}
		return nil
	})
}
