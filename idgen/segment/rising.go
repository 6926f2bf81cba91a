package segment

import "context"

// Rising is a Store that refuses a grant that is not above every number that this process had seen before the
// request, from any source. Such a store was restored to an earlier state. Rising is for numbers that come from
// several stores, such as several servers, each of which remembers only its own grants.
type Rising struct {
	store Store
	seen  Seen
}

var _ Store = (*Rising)(nil)

// NewRising returns a Rising that has seen no numbers.
func NewRising(store Store) *Rising { return &Rising{store: store} }

// Saw records a number of a counter.
func (r *Rising) Saw(counter string, number uint64) { r.seen.Saw(counter, number) }

// Extend implements Store.
func (r *Rising) Extend(ctx context.Context, counter string, n uint64) (Grant, error) {
	floor := r.seen.Of(counter) // granted before this one
	g, err := r.store.Extend(ctx, counter, n)
	if err == nil {
		err = g.Check(n, floor)
	}
	if err != nil {
		return Grant{}, err
	}
	r.seen.Saw(counter, g.Last)
	return g, nil
}
