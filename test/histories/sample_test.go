package histories

import (
	"testing"

	"locus/migrate/cutover"
	"locus/test/servers"
)

// TestMovesUnderFaults has a fault strike at each stop point of a step.
func TestMovesUnderFaults(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		w := open(t, engine)
		underFaults(t, w, func() {
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
			}
		})
	})
}
