//go:build long

package switchover

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locus/control/failover"
	"locus/internal/test/servers"
)

// rounds is the number of rounds on each engine. The rounds don't include a primary that is stopped: when it
// continues, it executes statements that it had received, which nobody was told about, and then can't follow
// any more.
const rounds = 20

func TestPrimariesAreLostAgainAndAgain(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := start(t, engine)
		s.declare(t, "follow")
		for range 2 {
			s.lookAfter(t)
		}
		var took []time.Duration
		primary := 0
		for round := range rounds {
			l := s.load(t)
			l.more(t, 50)
			l.end()
			s.level(t)
			servers.Eventually(t, "the primary was looked at", func() error {
				records, err := failover.Records(t.Context(), s.kv)
				if r := records["s0"]; err == nil && (r.Primary != s.servers[primary].Addr() || r.Had == "") {
					err = fmt.Errorf("%+v", r)
				}
				return err
			})
			before := s.total(t)
			lost, next := s.servers[primary], 1-primary
			if err := lost.Kill(); err != nil {
				t.Fatal(err)
			}
			s.servers[next].Unfollow(t)
			s.readOnly(t, next, false)
			began := time.Now()
			s.wantNamed(t, next)
			took = append(took, time.Since(began))
			l = s.load(t)
			l.more(t, 50)
			lost.Restart(t)
			s.wantTrouble(t, "2 servers take writes")
			servers.Eventually(t, "the server that was lost follows", func() error { return s.to(next).Take(t.Context(), false) })
			l.end()
			if got := s.total(t) - before; got < l.acked.Load() {
				t.Errorf("round %d: %d writes were acknowledged, and there are %d", round, l.acked.Load(), got)
			}
			if n := l.failed.Load(); n != 0 {
				t.Errorf("round %d: %d writes failed though the primary was there, the first: %v", round, n, l.first)
			}
			s.wantPrimary(t, next)
			s.wantTrouble(t, "")
			primary = next
		}
		slices.Sort(took)
		t.Logf("followed after %v (median), %v (worst)", took[len(took)/2], took[len(took)-1])
	})
}

// level waits until the servers of s0 have the same transactions, including those of the proxies themselves.
// Without semi-synchronous replication a lost primary takes unsent transactions with it.
func (s *stand) level(t *testing.T) {
	t.Helper()
	s.same(t)
	question := "SELECT @@GLOBAL.gtid_executed"
	if s.servers[0].Engine() == servers.MariaDB {
		question = "SELECT @@GLOBAL.gtid_binlog_pos"
	}
	servers.Eventually(t, "the servers have the same transactions", func() error {
		var has [2]string
		for i := range has {
			db := s.servers[i].DB(t, "")
			err := db.QueryRow(question).Scan(&has[i])
			_ = db.Close()
			if err != nil {
				return err
			}
		}
		if has[0] != has[1] {
			return fmt.Errorf("%s, %s", has[0], has[1])
		}
		return nil
	})
}
