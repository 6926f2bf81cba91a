// Package distinct detects numbers that are handed out twice, for tests.
//
// It owns the set of numbers seen. It takes numbers only from the generators that it is given.
package distinct

import (
	"context"
	"sync"
	"testing"

	"locus/idgen"
)

// Numbers is the set of numbers seen so far. The zero value is empty. It is safe for concurrent use.
type Numbers struct {
	mu   sync.Mutex
	seen map[uint64]bool
}

// Add adds numbers to the set. It fails the test if a number was seen before, or is 0, which no generator hands
// out.
func (n *Numbers) Add(t testing.TB, numbers ...uint64) {
	t.Helper()
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.seen == nil {
		n.seen = map[uint64]bool{}
	}
	for _, number := range numbers {
		if n.seen[number] || number == 0 {
			t.Errorf("%d twice", number)
		}
		n.seen[number] = true
	}
}

// Take takes numbers from a generator the given number of times, 1 to longest numbers at once. It ends at the
// first error, which fails the test.
func (n *Numbers) Take(t testing.TB, from idgen.Numbers, times, longest int) {
	t.Helper()
	for i := range times {
		into := make([]uint64, 1+i%longest)
		if err := from.Fill(context.Background(), into); err != nil {
			t.Error(err)
			return
		}
		n.Add(t, into...)
	}
}

// Has reports whether a number was seen.
func (n *Numbers) Has(number uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[number]
}

// Len returns the number of numbers seen.
func (n *Numbers) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.seen)
}
