package segment

import (
	"context"
	"fmt"
)

// Witnessed is a Store whose grants are recorded in a second store before they are used. So any process detects a store
// that was restored to an older state, even a process that has never seen the earlier numbers.
type Witnessed struct {
	store   Store
	witness *CASStore
}

var _ Store = (*Witnessed)(nil)

// NewWitnessed returns a store monitored by the witness. Both are needed for a grant.
func NewWitnessed(store Store, witness *CASStore) *Witnessed { return &Witnessed{store, witness} }

// overtaken is how often a grant is requested again because another process's later grant was recorded first.
const overtaken = 10

// Extend implements Store. A grant belongs to the caller only if the witness has recorded none as high before. So
// numbers are unique even if the store repeats itself.
func (w *Witnessed) Extend(ctx context.Context, counter string, n uint64) (Grant, error) {
	var noted uint64
	for range overtaken {
		g, err := w.store.Extend(ctx, counter, n)
		if err != nil {
			return Grant{}, err
		}
		if err := g.Check(n, noted); err != nil { // recorded before the request
			return Grant{}, fmt.Errorf("extend %s by %d: %w", counter, n, err)
		}
		ok, bound, err := w.witness.note(ctx, counter, g)
		if err != nil {
			return Grant{}, fmt.Errorf("note that %s is granted up to %d: %w: these numbers are lost", counter, g.Last, err)
		}
		if ok {
			return g, nil
		}
		noted = bound
	}
	return Grant{}, fmt.Errorf("extend %s by %d: other processes were faster %d times: try again", counter, n, overtaken)
}

// note raises a counter's bound to the end of a grant above it.
func (s *CASStore) note(ctx context.Context, counter string, g Grant) (ok bool, bound uint64, err error) {
	key := s.prefix + counter
	for {
		bound, revision, moved, err := s.bound(ctx, key)
		if err == nil && moved {
			err = ErrMoved
		}
		if bound = s.begun(bound); err != nil || g.First <= bound {
			return false, bound, err
		}
		ok, err := s.kv.CompareAndSwap(ctx, key, revision, encode(record{Bound: g.Last, By: s.who, At: s.now().UTC()}))
		if err != nil { // the bound may have stayed lower, so it is not seen; the caller uses no number of the grant
			return false, 0, err
		}
		if ok {
			s.seen.Saw(key, g.Last)
			return true, g.Last, nil
		}
	}
}
