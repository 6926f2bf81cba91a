//go:build long

package pool

import "testing"

// The same with more of everything: minutes.
func TestModelOnLargerBounds(t *testing.T) {
	for name, b := range map[string]bounds{
		"two requests each":    {requests: [2]int{2, 2}, faults: 1},
		"two faults, reserves": {requests: [2]int{1, 1}, fills: [2]int{1, 0}, faults: 2},
		"two faults":           {requests: [2]int{2, 1}, faults: 2},
	} {
		t.Run(name, func(t *testing.T) { exploreAll(t, b) })
	}
}
