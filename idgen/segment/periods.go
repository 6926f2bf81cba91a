package segment

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// PeriodStore grants numbers that begin anew with each period: see [CASStore.ExtendPeriod].
type PeriodStore interface {
	ExtendPeriod(ctx context.Context, counter, name string, at time.Time, n uint64) (Grant, error)
}

// OnePeriod is a store of a counter that never begins anew: whatever the period, it is the same one.
type OnePeriod struct{ Store }

// ExtendPeriod implements PeriodStore.
func (o OnePeriod) ExtendPeriod(ctx context.Context, counter, _ string, _ time.Time, n uint64) (Grant, error) {
	return o.Extend(ctx, counter, n)
}

// Periods hands out numbers that begin at 1 with each period of time, in segments of a store. It is safe for concurrent
// use. What is left of a segment when its period ends is lost.
type Periods struct {
	store    PeriodStore
	counter  string
	min, max uint64
	now      func() time.Time

	loading chan struct{} // holds one token while a segment is taken

	mu     sync.Mutex // guards what follows; never held across a wait
	held   map[string]*heldPeriod
	loaded time.Time
	size   uint64 // of the last segment
}

// heldPeriod is what is left of a period's segment.
type heldPeriod struct{ next, last uint64 }

// periodsHeld bounds the periods whose segments are held: the one that is, and those of callers that are late.
const periodsHeld = 4

// refill is how long a segment should last: shorter, and the next one is larger.
const refill = time.Second

// NewPeriods has segments of MinStep (1) to MaxStep (10,000) numbers, larger the faster they are taken. Of the options
// only these and Now count.
func NewPeriods(store PeriodStore, counter string, o Options) *Periods {
	p := &Periods{
		store: store, counter: counter, min: cmp.Or(o.MinStep, 1), now: o.Now,
		loading: make(chan struct{}, 1), held: map[string]*heldPeriod{},
	}
	p.max = max(p.min, cmp.Or(o.MaxStep, 10_000))
	if p.now == nil {
		p.now = time.Now
	}
	return p
}

// Next is the next number of the period of that name, which the time at is in.
func (p *Periods) Next(ctx context.Context, name string, at time.Time) (uint64, error) {
	if n, ok := p.take(name); ok {
		return n, nil
	}
	select {
	case p.loading <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { <-p.loading }()
	if n, ok := p.take(name); ok { // somebody has loaded meanwhile
		return n, nil
	}
	return p.load(ctx, name, at)
}

func (p *Periods) take(name string) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.held[name]
	if h == nil || h.next > h.last {
		return 0, false
	}
	h.next++
	return h.next - 1, true
}

// load takes a segment and its first number.
func (p *Periods) load(ctx context.Context, name string, at time.Time) (uint64, error) {
	n := p.sized()
	g, err := p.store.ExtendPeriod(ctx, p.counter, name, at, n)
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	highest := uint64(0)
	if h := p.held[name]; h != nil {
		highest = h.last
	}
	if err := g.Check(n, highest); err != nil {
		return 0, err
	}
	if p.held[name] == nil && len(p.held) >= periodsHeld {
		clear(p.held)
	}
	p.held[name] = &heldPeriod{g.First + 1, g.Last}
	return g.First, nil
}

// sized is how large the next segment is: twice the last one if that did not last, half of it if it lasted for long.
func (p *Periods) sized() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	switch lasted := now.Sub(p.loaded); {
	case lasted < 0, p.loaded.IsZero():
	case lasted < refill:
		p.size *= 2
	case lasted > 2*refill:
		p.size /= 2
	}
	p.loaded = now
	p.size = min(max(p.size, p.min), p.max)
	return p.size
}
