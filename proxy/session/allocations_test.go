//go:build !race

// With the race detector, sync.Pool drops at random what it is given.

package session

import "testing"

func TestStatementsAllocateNothing(t *testing.T) {
	for dialect, capabilities := range dialects {
		c := newHotClient(t, capabilities)
		for name, packets := range hotScripts(c) {
			c.run(packets...) // fills caches and buffers
			if n := testing.AllocsPerRun(300, func() { c.run(packets...) }); n != 0 {
				t.Errorf("%s, %s: %v allocations", dialect, name, n)
			}
		}
	}
}
