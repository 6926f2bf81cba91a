//go:build long

package histories

import (
	"testing"
	"time"

	"locus/internal/test/servers"
	"locus/migrate/cutover"
)

// atLeast is the number of steps under faults on each engine.
const atLeast = 1000

// TestMovesUnderAllFaults lets every fault happen at every stop point, and after it, with steps in between, a
// thousand at least. Each fault has its own cluster, so that one can be run by name.
func TestMovesUnderAllFaults(t *testing.T) {
	underAllFaults(t, func(t *testing.T, engine servers.Engine) *world { return open(t, engine) })
}

// TestADividedGeneUnderAllFaults does the same with one gene, whose rows change hands by sequence.
func TestADividedGeneUnderAllFaults(t *testing.T) { underAllFaults(t, openHot) }

func underAllFaults(t *testing.T, open func(*testing.T, servers.Engine) *world) {
	moments := []moment{at, after}
	share := atLeast/len(faults) + 1
	between := share/(len(moments)*len(cutover.Points)) + 1
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		for _, f := range faults {
			t.Run(f.name, func(t *testing.T) {
				w := open(t, engine)
				w.stride, w.pace = 5, 10*time.Millisecond // many small steps
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
