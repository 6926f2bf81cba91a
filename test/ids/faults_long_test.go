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

// Generators of generators, for more than a hundred million numbers and several rounds of all that can happen to a member.
func TestCompositionsGoOnForAHundredMillion(t *testing.T) {
	c := newComposed(t, 20_000, 12)
	for round := 0; round < 3 || c.total() < 120_000_000; round++ {
		c.torment()
	}
	c.check()
}
