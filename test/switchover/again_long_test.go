//go:build long

package switchover

import (
	"slices"
	"testing"
	"time"

	"locus/internal/test/servers"
)

// turns is the number of changes of roles.
const turns = 100

// Roles change back and forth under load. No statement fails, nothing is lost, and the test reports how long
// statements were held.
func TestRolesChangeAgainAndAgain(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		s := start(t, engine)
		l := s.load(t)
		var held []time.Duration
		for i := range turns {
			l.more(t, 20)
			took, err := s.to(1 - i%2).Run(t.Context())
			if err != nil {
				t.Fatalf("after %d: %v", i, err)
			}
			held = append(held, took)
		}
		l.more(t, 20)
		l.end()
		if n := l.failed.Load() + l.blind.Load(); n != 0 {
			t.Errorf("%d statements failed, the first: %v", n, l.first)
		}
		if got := s.total(t); got != l.acked.Load() {
			t.Errorf("%d writes were acknowledged, and there are %d", l.acked.Load(), got)
		}
		slices.Sort(held)
		t.Logf("%d switchovers, %d writes; held for %v (median), %v (p99), %v (worst)", turns, l.acked.Load(), held[turns/2], held[turns*99/100-1], held[turns-1])
	})
}
