//go:build !race

// The tests are excluded under the race detector, where sync.Pool drops random items.

package session

import "testing"

func TestStatementsAllocateNothing(t *testing.T) {
	for dialect, capabilities := range dialects {
		c := newHotClient(t, capabilities)
		for name, packets := range hotScripts(c) {
			c.run(packets...) // fill caches and buffers
			if n := testing.AllocsPerRun(300, func() { c.run(packets...) }); n != 0 {
				t.Errorf("%s, %s: %v allocations", dialect, name, n)
			}
		}
	}
}
