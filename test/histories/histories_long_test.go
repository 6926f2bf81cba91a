//go:build long

package histories

import (
	"testing"
	"time"

	"locus/migrate/cutover"
	"locus/test/servers"
)

// TestMovesUnderAllFaults has every fault strike at every stop point, with steps
// in between: a thousand of them at least.
func TestMovesUnderAllFaults(t *testing.T) {
	const between = 18
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		w.stride = 5
		underFaults(t, w, func() {
			for _, f := range faults {
				for _, point := range cutover.Points {
					w.strike(t, point, f)
					for range between {
						w.progress(t)
					}
				}
			}
		})
		if steps := w.steps(t); steps < 1000 {
			t.Errorf("genes changed hands only %d times", steps)
		}
	})
}

// TestMovesUnderFaults has a fault strike at each stop point of a step.
func TestMovesUnderFaults(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		underFaults(t, w, func() {
			for i, strike := range []struct {
				point string
				fault fault
			}{
				{cutover.BeforeCheck, stopProxy},
				{cutover.BeforeCheck, loseProxy},
				{cutover.BeforeFence, killProxy},
				{cutover.BeforePosition, killMover},
				{cutover.BeforePosition, killTarget},
				{cutover.BeforeReverse, stopMover},
				{cutover.BeforeCommit, killEtcd},
				{cutover.BeforeCommit, stopMover},
				{cutover.AfterCommit, killSource},
				{cutover.BeforeRelease, killMover},
			} {
				began := time.Now()
				w.strike(t, strike.point, strike.fault)
				t.Logf("%d: %s at %q, and on after %v", i, strike.fault.name, strike.point, time.Since(began).Round(time.Millisecond))
			}
		})
	})
}
