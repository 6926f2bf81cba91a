package segment

import (
	"cmp"
	"context"
	"sync"
	"time"
)

// PeriodStore grants numbers that restart with each period; see [CASStore.ExtendPeriod].
type PeriodStore interface {
	ExtendPeriod(ctx context.Context, counter, name string, at time.Time, n uint64) (Grant, error)
}

// OnePeriod is the store of a counter that never restarts. It uses the same counter for every period.
type OnePeriod struct{ Store }

// ExtendPeriod implements PeriodStore.
func (o OnePeriod) ExtendPeriod(ctx context.Context, counter, _ string, _ time.Time, n uint64) (Grant, error) {
	return o.Extend(ctx, counter, n)
}

// Periods hands out numbers that restart at 1 with each period of time, in segments of a store. It is safe for
// concurrent use. The rest of a segment is lost when its period ends.
type Periods struct {
	store    PeriodStore
	counter  string
	min, max uint64
	now      func() time.Time

	loading chan struct{} // holds one token while a segment is taken

	mu     sync.Mutex // guards the fields below; never held across a wait
	held   map[string]*heldPeriod
	loaded time.Time
	size   uint64 // of the last segment
}

// heldPeriod is the rest of a period's segment.
type heldPeriod struct{ next, last uint64 }

// periodsHeld bounds the periods whose segments are held: the current one, and those of late callers.
const periodsHeld = 4

// refill is how long a segment should last. If it lasts shorter, the next one is larger.
const refill = time.Second

// NewPeriods returns a Periods with segments of MinStep (1) to MaxStep (10,000) numbers, larger the faster they are
// taken. It uses no other options except Now.
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

// Next returns the next number of the named period, which contains the time at.
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
	if n, ok := p.take(name); ok { // another caller has loaded meanwhile
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

// load takes a segment and returns its first number.
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

// sized returns the size of the next segment: twice the last one if that did not last, half of it if it lasted long.
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
