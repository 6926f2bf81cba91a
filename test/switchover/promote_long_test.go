//go:build long

package switchover

import (
	"slices"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// losses are of each engine.
const losses = 105

// Primaries are repeatedly killed, frozen, or cut off, and return in different ways. No acknowledged write is lost, nothing is
// written twice, no session reads less than it wrote, and each server becomes a replica again.
func TestPrimariesArePromotedAgainAndAgain(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := spanning(t, engine)
		took := map[string][]time.Duration{}
		stray, reads, blind := map[string]int{}, int64(0), int64(0)
		s.load(t).end() // which makes the rows
		for round := range losses {
			before := s.total(t)
			l := s.load(t)
			s.aside(t, l)
			l.more(t, 30)
			lost, way := s.primary(t), ways[round%len(ways)]
			way.goes(t, s, lost)
			began := time.Now()
			s.wantNamedAnother(t, lost)
			l.more(t, 10)
			took[way.name] = append(took[way.name], time.Since(began))
			way.comes(t, s, lost)
			if s.wantJoined(t, lost) {
				stray[way.name]++
			}
			l.end()
			reads, blind = reads+l.reads.Load(), blind+l.blind.Load()
			s.wantAcknowledgedOf(t, l, before)
			last := took[way.name][len(took[way.name])-1]
			t.Logf("round %d, %s: writes went on after %v%s", round, way.name, last, slow(last))
			if t.Failed() {
				t.FailNow()
			}
		}
		s.wantReplicasRead(t)
		var all []time.Duration
		for _, way := range ways {
			all = append(all, took[way.name]...)
			t.Logf("%s: %d times, %d with transactions of its own; writes went on after %s", way.name, len(took[way.name]), stray[way.name], told(took[way.name]))
		}
		t.Logf("%d losses: writes went on after %s; sessions read %d times what they wrote, %d reads failed", losses, told(all), reads, blind)
	})
}

// told returns the median and the maximum as a text.
func told(took []time.Duration) string {
	slices.Sort(took)
	return took[len(took)/2].Round(time.Millisecond).String() + " (median), " + took[len(took)-1].Round(time.Millisecond).String() + " (worst)"
}
