package segment

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locus/idgen"
	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Grouped is Segments that follow changes of the cluster's number of counter groups. It is safe for concurrent use. The
// owner calls Close.
type Grouped struct {
	groups  *CASStore // holds the number of groups
	store   Store     // holds the counters: groups itself, or a store in front of it
	layout  orderid.Layout
	options Options

	current atomic.Pointer[Segments]

	mu     sync.Mutex // guards the change of current; not held across a wait
	old    []*Segments
	closed bool
}

var _ idgen.Sequences = (*Grouped)(nil)

// OpenGrouped reads the cluster's grouping. o.Groups is the number for a cluster that has none yet. The counters are in
// store, which may be the CASStore itself.
func OpenGrouped(ctx context.Context, groups *CASStore, store Store, l orderid.Layout, o Options) (*Grouped, error) {
	if err := o.withDefaults().check(store, l); err != nil {
		return nil, err
	}
	g := &Grouped{groups: groups, store: store, layout: l, options: o}
	if err := g.open(ctx, nil); err != nil {
		return nil, err
	}
	return g, nil
}

// open replaces before by Segments of the current grouping.
func (g *Grouped) open(ctx context.Context, before *Segments) error {
	now, err := g.groups.grouping(ctx, g.options.Groups)
	if err != nil {
		return err
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return ErrClosed
	}
	if g.current.Load() != before || before != nil && before.options.Generation == now.generation {
		return nil
	}
	o := g.options
	o.Groups, o.Generation = now.groups, now.generation
	s, err := New(g.store, g.layout, o)
	if err != nil {
		return err
	}
	if before != nil {
		g.old = append(g.old, before)
	}
	g.current.Store(s)
	return nil
}

// retryMoved is the interval at which a caller checks whether a change of the groups is complete.
const retryMoved = 20 * time.Millisecond

// Take is Segments.Take. While the groups are being changed it waits, until ctx ends or a load's time limit has passed.
func (g *Grouped) Take(ctx context.Context, gn gene.Gene, n int) (uint64, error) {
	current := g.current.Load()
	first, err := current.Take(ctx, gn, n)
	if err == nil || !errors.Is(err, ErrMoved) {
		return first, err
	}
	return g.takeMoved(ctx, gn, n, current, err)
}

// takeMoved continues after the numbers of a grouping have ended. Another caller may have opened the next one already.
func (g *Grouped) takeMoved(ctx context.Context, gn gene.Gene, n int, ended *Segments, err error) (uint64, error) {
	ctx, cancel := context.WithTimeout(ctx, g.options.withDefaults().LoadTimeout)
	defer cancel()
	for {
		if openErr := g.open(ctx, ended); openErr != nil {
			return 0, fmt.Errorf("take %d numbers: %w: no ID was issued", n, openErr)
		}
		if now := g.current.Load(); now != ended {
			first, err := now.Take(ctx, gn, n)
			if err == nil || !errors.Is(err, ErrMoved) {
				return first, err
			}
			ended = now
		}
		timer := time.NewTimer(retryMoved)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return 0, fmt.Errorf("%w: the groups are being changed, and that is not through: %w", err, context.Cause(ctx))
		}
	}
}

// Groups returns the number of counter groups that this process uses.
func (g *Grouped) Groups() int { return len(g.current.Load().counters) }

// Share is Segments.Share.
func (g *Grouped) Share() float64 { return g.current.Load().Share() }

// Counts returns the sum over all Segments.
func (g *Grouped) Counts() Counts {
	g.mu.Lock()
	defer g.mu.Unlock()
	sum := g.current.Load().Counts()
	for _, s := range g.old {
		c := s.Counts()
		sum = Counts{sum.Loads + c.Loads, sum.Failed + c.Failed, sum.Waits + c.Waits}
	}
	return sum
}

// Close closes all Segments.
func (g *Grouped) Close(ctx context.Context) error {
	g.mu.Lock()
	g.closed = true
	all := append(g.old, g.current.Load())
	g.mu.Unlock()
	var errs []error
	for _, s := range all {
		errs = append(errs, s.Close(ctx))
	}
	return errors.Join(errs...)
}
