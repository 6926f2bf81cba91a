// Package distinct looks, for tests, for numbers that are handed out twice.
//
// It owns the numbers that were seen. It never takes any but those it is told to.
package distinct

import (
	"context"
	"sync"
	"testing"

	"locus/idgen"
)

// Numbers are those seen so far. The zero value has seen none; safe for
// concurrent use.
type Numbers struct {
	mu   sync.Mutex
	seen map[uint64]bool
}

// Add notes numbers. One that was seen before fails the test, and so does 0,
// which no generator gives.
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

// Take takes numbers of a generator, so many times, of 1 to longest at once. It
// ends with the first error, which fails the test.
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

// Has tells whether a number was seen.
func (n *Numbers) Has(number uint64) bool {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.seen[number]
}

// Len is how many were seen.
func (n *Numbers) Len() int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return len(n.seen)
}
