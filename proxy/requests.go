package proxy

import (
	"context"
	"sync"

	"locus/router/catalog"
	"locus/router/live"
)

// requests accumulates the objects that must be read from the shards again, and records which requests are answered. It is
// safe for concurrent use.
type requests struct {
	mu     sync.Mutex
	number uint64 // number of the last request
	change catalog.Change
	// tables is the last request that was made before the tables on the shards were read, and declared the last one before
	// the declared documents were.
	tables, declared uint64
}

// add adds a change, and returns its number. A result of [requests.take] with that number or a higher one
// contains the change.
func (r *requests) add(change catalog.Change) uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.number++
	r.change = r.change.And(change)
	return r.number
}

// take returns the changes since the last call, and the number of requests that they cover.
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

// last returns the number of the last request.
func (r *requests) last() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.number
}

// tablesRead records that the tables on the shards were read after a request.
func (r *requests) tablesRead(after uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tables = max(r.tables, after)
}

// declaredRead records that all declared documents were read after a request.
func (r *requests) declaredRead(after uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.declared = max(r.declared, after)
}

// answered returns the last request after which both the tables and the declared documents were read. A state that is built of
// documents from before the request does not answer it: it may lack the declaration that the request is about.
func (r *requests) answered() uint64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	return min(r.tables, r.declared)
}

// confirming is the source of the declared documents. It records in requests which of them a read is newer than.
type confirming struct {
	live.Source
	requests *requests
}

// Read implements [live.Source].
func (c confirming) Read(ctx context.Context, since int64) (map[string][]byte, int64, error) {
	before := c.requests.last()
	values, revision, err := c.Source.Read(ctx, since)
	if err == nil && since == 0 { // otherwise it may lack changes that were made after since
		c.requests.declaredRead(before)
	}
	return values, revision, err
}
