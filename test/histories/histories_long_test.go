//go:build long

package histories

import (
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
)

// atLeast is how many steps are taken under faults on each server.
const atLeast = 1000

// TestMovesUnderAllFaults has every fault strike at every stop point, and after it,
// with steps in between: a thousand of them at least. Each fault has a cluster of
// its own, so that one can be run by its name.
func TestMovesUnderAllFaults(t *testing.T) {
	underAllFaults(t, func(t *testing.T, engine servers.Engine) *world { return open(t, engine) })
}

// TestADividedGeneUnderAllFaults is the same of one gene, whose rows change hands by their sequences.
func TestADividedGeneUnderAllFaults(t *testing.T) { underAllFaults(t, openHot) }

func underAllFaults(t *testing.T, open func(*testing.T, servers.Engine) *world) {
	moments := []moment{at, after}
	share := atLeast/len(faults) + 1
	between := share/(len(moments)*len(cutover.Points)) + 1
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				w := open(t, engine)
				w.stride, w.pace = 5, 10*time.Millisecond // the steps are what there is to be much of
				underFaults(t, w, func() {
					for _, point := range cutover.Points {
						for _, when := range moments {
							w.strike(t, when, point, f)
							for range between {
								w.progress(t)
							}
						}
					}
				})
				if steps := w.steps(t); steps < share {
					t.Errorf("genes changed hands only %d times, want %d", steps, share)
				}
			})
		}
	})
}
