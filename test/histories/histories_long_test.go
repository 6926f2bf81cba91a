//go:build long

package histories

import (
	"testing"

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
