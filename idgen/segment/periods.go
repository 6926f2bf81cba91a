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
// concurrent use. The rest of a segment is lost when its period ends. The owner calls Close.
type Periods struct {
	store    PeriodStore
	counter  string
	min, max uint64
	lasts    time.Duration // how long a segment should last
	preload  int           // percent of a segment that is used before the next one is loaded; 100: none is
	timeout  time.Duration // of one load in the background
	now      func() time.Time

	loading chan struct{} // holds one token while a segment is taken

	// Context of the loads in the background; cancelled by Close.
	ahead   context.Context
	cancel  context.CancelFunc
	loaders sync.WaitGroup

	mu     sync.Mutex // guards the fields below; never held across a wait
	held   map[string]*heldPeriod
	loaded time.Time
	size   uint64 // of the last segment
}

// heldPeriod is the rest of a period's segment, and its standby.
type heldPeriod struct {
	next, last uint64
	trigger    uint64 // taking this number or a later one loads the standby
	standby    Grant  // none if First is 0
}

// periodsHeld bounds the periods whose segments are held: the current one, and those of late callers.
const periodsHeld = 4

// NewPeriods returns a Periods with segments of MinStep (1) to MaxStep (10,000) numbers. A segment that lasted shorter
// than Buffer (1 s) is followed by one twice as large. Preload is 100 by default: the next segment is loaded when a
// caller needs it. It uses no other options except LoadTimeout and Now.
func NewPeriods(store PeriodStore, counter string, o Options) *Periods {
	p := &Periods{
		store: store, counter: counter, min: cmp.Or(o.MinStep, 1), now: o.Now,
		lasts: cmp.Or(o.Buffer, time.Second), preload: cmp.Or(o.Preload, 100), timeout: cmp.Or(o.LoadTimeout, 10*time.Second),
		loading: make(chan struct{}, 1), held: map[string]*heldPeriod{},
	}
	p.max = max(p.min, cmp.Or(o.MaxStep, 10_000))
	if p.now == nil {
		p.now = time.Now
	}
	p.ahead, p.cancel = context.WithCancel(context.Background())
	return p
}

// Next returns the next number of the named period, which contains the time at.
func (p *Periods) Next(ctx context.Context, name string, at time.Time) (uint64, error) {
	if n, ok := p.take(name, at); ok {
		return n, nil
	}
	select {
	case p.loading <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { <-p.loading }()
	if n, ok := p.take(name, at); ok { // another caller has loaded meanwhile
		return n, nil
	}
	g, err := p.load(ctx, name, at)
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use(name, g).next++
	return g.First, nil
}

// take takes a number of a segment in memory.
func (p *Periods) take(name string, at time.Time) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.held[name]
	if h == nil {
		return 0, false
	}
	if h.next > h.last && h.standby.First != 0 {
		h = p.use(name, h.standby)
	}
	if h.next > h.last {
		return 0, false
	}
	n := h.next
	h.next++
	if n >= h.trigger && h.standby.First == 0 {
		p.prepare(name, at)
	}
	return n, true
}

// use makes a grant the segment in use of a period. The caller holds mu.
func (p *Periods) use(name string, g Grant) *heldPeriod {
	if p.held[name] == nil && len(p.held) >= periodsHeld {
		clear(p.held)
	}
	h := &heldPeriod{next: g.First, last: g.Last, trigger: g.First + percent(g.Last-g.First+1, p.preload)}
	p.held[name] = h
	return h
}

// prepare loads a standby in the background, unless a segment is being loaded. After an error the next number that is taken
// tries again. The caller holds mu.
func (p *Periods) prepare(name string, at time.Time) {
	select {
	case p.loading <- struct{}{}:
	default:
		return
	}
	if p.ahead.Err() != nil {
		<-p.loading
		return
	}
	p.loaders.Go(func() {
		defer func() { <-p.loading }()
		ctx, cancel := context.WithTimeout(p.ahead, p.timeout)
		defer cancel()
		g, err := p.load(ctx, name, at)
		if err != nil {
			return // a caller that needs a segment gets the error
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if h := p.held[name]; h != nil && h.next <= h.last {
			h.standby = g
			return
		}
		p.use(name, g)
	})
}

// load takes a segment of a period. The caller has the token of loading.
func (p *Periods) load(ctx context.Context, name string, at time.Time) (Grant, error) {
	n := p.sized()
	g, err := p.store.ExtendPeriod(ctx, p.counter, name, at, n)
	if err != nil {
		return Grant{}, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	highest := uint64(0)
	if h := p.held[name]; h != nil {
		highest = h.last
	}
	return g, g.Check(n, highest)
}

// Close cancels the loads in the background and waits for them. Unused numbers are lost.
func (p *Periods) Close() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.loaders.Wait()
}

// sized returns the size of the next segment: twice the last one if that did not last, half of it if it lasted long.
func (p *Periods) sized() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	switch lasted := now.Sub(p.loaded); {
	case lasted < 0, p.loaded.IsZero():
	case lasted < p.lasts:
		p.size *= 2
	case lasted > 2*p.lasts:
		p.size /= 2
	}
	p.loaded = now
	p.size = min(max(p.size, p.min), p.max)
	return p.size
}
