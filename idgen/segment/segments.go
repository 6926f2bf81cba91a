package segment

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"locus/idgen"
	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// ErrClosed is returned after Close.
var ErrClosed = errors.New("the source of sequences is closed")

// Segments is a source of sequence numbers. It is safe for concurrent use. The owner calls Close.
type Segments struct {
	store   Store
	layout  orderid.Layout
	options Options
	max     uint64                 // the last number that fits in the layout
	name    func(group int) string // name of a counter in the store

	width    gene.Width
	counters []counter // one per group

	// Context of every load; cancelled by Close.
	loading context.Context
	cancel  context.CancelFunc
	loaders sync.WaitGroup

	counts counts
}

// Counts holds the counters of a source of sequence numbers since it was made.
type Counts struct {
	Loads  uint64 // segments granted by the store
	Failed uint64 // failed calls to the store
	Waits  uint64 // calls of Take that waited for the store
}

type counts struct{ loads, failed, waits atomic.Uint64 }

// Counts is safe for concurrent use.
func (s *Segments) Counts() Counts {
	return Counts{s.counts.loads.Load(), s.counts.failed.Load(), s.counts.waits.Load()}
}

var _ idgen.Sequences = (*Segments)(nil)

// New returns a source of sequence numbers for IDs of the layout. It loads nothing before the first Take of a counter.
func New(store Store, l orderid.Layout, o Options) (*Segments, error) {
	o = o.withDefaults()
	if err := o.check(store, l); err != nil {
		return nil, err
	}
	s := newSegments(store, o)
	s.layout, s.width, s.max = l, l.GeneWidth(), maxOf(l)
	s.name = func(group int) string { return name(o.Generation, group) }
	return s, nil
}

// maxOf returns the last number that is issued for a layout.
func maxOf(l orderid.Layout) uint64 {
	if l.MaxSequence().Hi > 0 {
		return maxNumber
	}
	return min(l.MaxSequence().Lo, maxNumber)
}

// NewNumbers returns a generator of plain numbers. Its one counter has the tag's name in the store. The numbers end at
// max, or at 2^63-1 if max is 0.
func NewNumbers(store Store, tag string, max uint64, o Options) (*Numbers, error) {
	o.Groups = 1
	o = o.withDefaults()
	if err := o.checkSizes(store); err != nil {
		return nil, err
	}
	s := newSegments(store, o)
	s.max = min(cmp.Or(max, maxNumber), maxNumber)
	s.name = func(int) string { return tag }
	return &Numbers{s}, nil
}

// Numbers generates plain numbers from segments.
type Numbers struct{ segments *Segments }

var _ idgen.Numbers = (*Numbers)(nil)

// Fill implements idgen.Numbers. The numbers of a call are consecutive, unless they exceed the max step.
func (n *Numbers) Fill(ctx context.Context, into []uint64) error {
	return idgen.Run{Take: n.take, Most: int(n.segments.options.MaxStep)}.Fill(ctx, into)
}

func (n *Numbers) take(ctx context.Context, count int) (uint64, error) {
	return n.segments.Take(ctx, 0, count)
}

// Share returns the unused share of all numbers, from 1 down to 0.
func (n *Numbers) Share() float64 { return n.segments.Share() }

// Counts is Segments.Counts.
func (n *Numbers) Counts() Counts { return n.segments.Counts() }

// Close is Segments.Close.
func (n *Numbers) Close(ctx context.Context) error { return n.segments.Close(ctx) }

func newSegments(store Store, o Options) *Segments {
	s := &Segments{store: store, options: o, counters: make([]counter, o.Groups)}
	for i := range s.counters {
		s.counters[i].group = i
		if o.Ordered {
			s.counters[i].together = s.inOrder(&s.counters[i])
		}
	}
	s.loading, s.cancel = context.WithCancel(context.Background())
	return s
}

// Share returns the unused share of the most used counter's numbers, from 1 down to 0, as far as granted to this
// process.
func (s *Segments) Share() float64 {
	var highest uint64
	for i := range s.counters {
		s.counters[i].mu.Lock()
		highest = max(highest, s.counters[i].highest)
		s.counters[i].mu.Unlock()
	}
	return 1 - float64(min(highest, s.max))/float64(s.max)
}

// Take returns the first of n consecutive numbers of the gene's counter. From memory it takes a few nanoseconds,
// without a lock or an allocation. It waits, until ctx ends, only if the store has not kept up. After an error no
// number was taken, and the next call tries again.
func (s *Segments) Take(ctx context.Context, g gene.Gene, n int) (first uint64, err error) {
	group := uint64(g) * uint64(len(s.counters)) >> s.width
	if n < 1 || uint64(n) > s.options.MaxStep || group >= uint64(len(s.counters)) {
		return 0, s.refuse(g, n)
	}
	c := &s.counters[group]
	if first, ok := s.fromMemory(c, c.current.Load(), uint64(n)); ok {
		return first, nil
	}
	first, err = s.fromStore(ctx, c, uint64(n))
	if err != nil {
		return 0, fmt.Errorf("take %d numbers of counter %s: %w: no ID was issued", n, s.name(c.group), err)
	}
	return first, nil
}

func (s *Segments) fromMemory(c *counter, current *span, n uint64) (first uint64, ok bool) {
	if current == nil {
		return 0, false
	}
	first, ok = current.take(n)
	if ok && current.wantsStandby(first+n-1) {
		s.prepare(c, current)
	}
	return first, ok
}

// fromStore takes from the next segment and waits for it if necessary.
func (s *Segments) fromStore(ctx context.Context, c *counter, n uint64) (uint64, error) {
	if c.together != nil {
		return c.together.First(ctx, int(n))
	}
	for {
		current := c.current.Load()
		if first, ok := s.fromMemory(c, current, n); ok {
			return first, nil
		}
		load, err := s.advance(c, current, n)
		if err != nil {
			return 0, err
		}
		if load == nil {
			continue
		}
		s.counts.waits.Add(1)
		select {
		case <-load.done:
			if load.err != nil {
				return 0, load.err
			}
		case <-ctx.Done():
			return 0, fmt.Errorf("wait for the store: %w", context.Cause(ctx))
		}
	}
}

func (s *Segments) refuse(g gene.Gene, n int) error {
	if last := s.width.Last(); g > last {
		return fmt.Errorf("take numbers of gene %s: it is beyond %s, the last one of layout %s", g, last, s.layout)
	}
	return fmt.Errorf("take %d numbers of gene %s: a run has 1 to %d: split it, or raise the max step", n, g, s.options.MaxStep)
}

// Close refuses further calls of Take, cancels running loads and waits for them. Unused numbers are lost. An error
// means that a load still runs when ctx ends.
func (s *Segments) Close(ctx context.Context) error {
	for i := range s.counters {
		s.counters[i].close()
	}
	s.cancel()
	done := make(chan struct{})
	go func() {
		s.loaders.Wait()
		close(done)
	}()
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("close segments: wait for loads under way: %w", context.Cause(ctx))
	}
}
