//go:build long

package switchover

import (
	"errors"
	"slices"
	"testing"
	"time"

	"locus/control/switchover"
	"locus/test/servers"
)

// losses are of each engine.
const losses = 100

// Primaries are killed, frozen and resumed, and frozen and killed, again and again: nothing that was acknowledged is lost, nothing is
// there twice, and each server joins again.
func TestPrimariesArePromotedAgainAndAgain(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := promoting(t, engine)
		var took []time.Duration
		stray := 0
		s.load(t).end() // which makes the rows
		for round := range losses {
			s.wantReady(t)
			before := s.total(t)
			l := s.load(t)
			l.more(t, 30)
			lost := s.primary(t)
			at := s.servers[lost]
			kill := round%3 == 0
			if kill {
				must(t, at.Kill())
			} else {
				must(t, at.Pause())
			}
			began := time.Now()
			s.wantNamedAnother(t, lost)
			l.more(t, 10)
			took = append(took, time.Since(began))
			switch {
			case kill:
				at.Restart(t)
			case round%3 == 1 && engine == servers.MySQL: // MariaDB is made anew by hand, if it does what it had been sent
				must(t, at.Resume())
			default:
				must(t, at.Kill())
				at.Restart(t)
			}
			if s.wantBack(t, lost) {
				stray++
				s.anew(t, lost)
			}
			l.end()
			if got, acked, failed := s.total(t)-before, l.acked.Load(), l.failed.Load(); got < acked || got > acked+2*failed {
				t.Errorf("round %d: %d writes were acknowledged, %d had no answer or failed, and there are %d", round, acked, failed, got)
			}
		}
		slices.Sort(took)
		t.Logf("%d losses: writes went on after %v (median), %v (worst); %d servers had transactions of their own", losses, took[len(took)/2], took[len(took)-1], stray)
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// anew makes a server anew that has transactions of its own.
func (s *stand) anew(t *testing.T, server int) {
	t.Helper()
	order, at := s.to(server), s.servers[server]
	e, err := order.Errant(t.Context())
	must(t, err)
	if err := order.Rebuild(t.Context(), e); !errors.Is(err, switchover.ErrEnded) {
		t.Fatal(err)
	}
	<-at.Done()
	at.Restart(t)
	servers.Eventually(t, "it follows", func() error {
		if s.wantBack(t, server) {
			return errors.New("it has transactions of its own")
		}
		return nil
	})
}
