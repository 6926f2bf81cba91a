package histories

import (
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
)

// TestMovesUnderFaults lets a fault happen at each stop point of a step, with steps in between. The long test
// makes more than a thousand steps. Before that, rows that differ because of writes without the log are
// repaired.
func TestMovesUnderFaults(t *testing.T) {
	const between = 1
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		w.stride, w.pace = 10, 30*time.Millisecond
		underFaults(t, w, func() {
			w.repaired(t, repairPoints[engine])
			for _, strike := range []struct {
				when  moment
				point string
				fault fault
			}{
				{at, cutover.BeforeCheck, stopProxy},
				{after, cutover.BeforeCheck, loseProxy},
				{at, cutover.BeforeFence, killProxy},
				{at, cutover.BeforePosition, killMover},
				{after, cutover.BeforePosition, killTarget},
				{at, cutover.BeforeReverse, stopMover},
				{after, cutover.BeforeCommit, killEtcd},
				{at, cutover.BeforeCommit, stopMover},
				{at, cutover.AfterCommit, killSource},
				{at, cutover.BeforeRelease, killMover},
			} {
				w.strike(t, strike.when, strike.point, strike.fault)
				for range between {
					w.progress(t)
				}
			}
		})
		if steps := w.steps(t); steps < 20 {
			t.Errorf("genes changed hands only %d times", steps)
		}
	})
}
