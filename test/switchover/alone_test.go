package switchover

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/control/declared"
	"locus/control/failover"
	"locus/control/switchover"
	"locus/internal/test/servers"
)

// All replicas of a primary are lost. Its writes wait, and the state is reported, until an operator requests to
// continue without replicas. From then on the state says what may be lost, until a replica is back and nothing can be
// lost any more.
func TestAPrimaryGoesOnWithoutReplicas(t *testing.T) {
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		t.Parallel() // mostly waits
		s := promoting(t, engine)
		first := s.primary(t)
		replicas := []int{(first + 1) % 3, (first + 2) % 3}
		l := s.load(t)
		l.more(t, 50)
		for _, at := range replicas {
			s.kill(t, at)
		}
		s.wantRecord(t, "writes wait", func(r failover.Record) bool { return !r.Waits.IsZero() && r.MayLose == "" })
		s.servers[first].Exec(t, "SET GLOBAL "+waiting[engine]+" = OFF") // no operator has requested that
		s.wantWaiting(t, first, true)
		s.wantRecord(t, "writes wait again", func(r failover.Record) bool { return !r.Waits.IsZero() })

		primary := s.addr(first)
		s.goesOn(t, primary)
		l.more(t, 300)
		s.wantRecord(t, "what may be lost is told", func(r failover.Record) bool {
			return r.Waits.IsZero() && strings.Contains(r.MayLose, "--without-replicas")
		})
		s.wantWaiting(t, first, false)

		for _, at := range replicas {
			s.restart(t, at)
			l.more(t, 20)
		}
		s.wantReady(t)
		s.wantWaiting(t, first, true)
		if p, err := declared.ReadPrimary(t.Context(), s.kv, "s0"); err != nil || p.Alone || p.Server != primary {
			t.Errorf("%s%v", p.Encode(), err)
		}
		s.kill(t, first)
		s.wantAnother(t, l, first)
		s.restart(t, first)
		s.wantJoined(t, first)
		l.end()
		s.wantAcknowledged(t, l)
	})
}

// waiting is the variable that makes a primary wait for replicas.
var waiting = map[servers.Engine]string{servers.MariaDB: "rpl_semi_sync_master_enabled", servers.MySQL: "rpl_semi_sync_source_enabled"}

// wantWaiting waits until a server waits for replicas, or doesn't.
func (s *stand) wantWaiting(t *testing.T, server int, want bool) {
	t.Helper()
	at := s.servers[server]
	db := at.DB(t, "")
	defer db.Close()
	servers.Eventually(t, fmt.Sprintf("server %d waits for replicas: %v", server, want), func() error {
		var is bool
		if err := db.QueryRow("SELECT @@GLOBAL." + waiting[at.Engine()]).Scan(&is); err != nil || is != want {
			return errors.Join(errors.New("it isn't so"), err)
		}
		return nil
	})
}

// wantRecord waits until the failover record of s0 is as wanted.
func (s *stand) wantRecord(t *testing.T, what string, is func(failover.Record) bool) {
	t.Helper()
	servers.Eventually(t, what, func() error {
		records, err := failover.Records(t.Context(), s.kv)
		if r := records["s0"]; err == nil && !is(r) {
			err = fmt.Errorf("%+v", r)
		}
		return err
	})
}

// If locus doesn't promote servers of a shard, it changes nothing there, and reports the problem to the
// operator.
func (s *stand) goesOnByHand(t *testing.T) {
	_, err := s.to(0).GoOn(t.Context())
	if refused, ok := errors.AsType[*switchover.Refused](err); !ok || !strings.Contains(refused.Error(), "which has not failover: promote") {
		t.Error(err)
	}
}
