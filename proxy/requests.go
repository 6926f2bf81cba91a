package proxy

import (
	"sync"

	"locus/router/catalog"
)

// requests accumulates what must be read from the shards again. It is safe for concurrent use.
type requests struct {
	mu     sync.Mutex
	number uint64 // of requests so far
	change catalog.Change
}

// add adds a change, and returns its number. What [requests.take] returns with that number or a higher one contains it.
func (r *requests) add(change catalog.Change) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	r.change = r.change.And(change)
	return r.number
}

// take returns what has changed since the last call, and the number of requests that it contains.
func (r *requests) take() (number uint64, change catalog.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	number, change = r.number, r.change
	r.change = catalog.Change{}
	return number, change
}

// giveBack undoes a take after a failure.
func (r *requests) giveBack(change catalog.Change) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.change = r.change.And(change)
}

func (r *requests) empty() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.change.Empty()
}
