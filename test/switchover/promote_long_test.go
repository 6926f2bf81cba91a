//go:build long

package switchover

import (
	"slices"
	"testing"
	"time"

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
				e, err := s.to(lost).Errant(t.Context())
				must(t, err)
				s.anew(t, lost, e)
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
