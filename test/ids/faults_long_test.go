//go:build long

package ids

import "testing"

// The same for a hundred million numbers of each kind of store together, and
// several rounds of all faults.
func TestNoNumberTwiceInAHundredMillion(t *testing.T) {
	s := newStage(t, 6, allKinds)
	rounds := 0
	s.torment(func() bool {
		rounds++
		return rounds >= 5 && s.count.total() > 120_000_000
	})
	s.restoreMySQL()
	s.end()
	noDuplicates(t, s)
}
