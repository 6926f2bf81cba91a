package segment

import (
	"cmp"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/cespare/xxhash/v2"
)

// Period identifies the counter of a PeriodStore's number.
type Period struct {
	Name string    // of the period that contains At; "" for one that never ends
	At   time.Time // when the number was requested
	Key  string    // has a counter of its own in each period; "" in a store that has one counter
}

// PeriodStore grants numbers that restart with each period, and with each key; see [CASStore.ExtendPeriod] and [Keyed].
type PeriodStore interface {
	ExtendPeriod(ctx context.Context, counter string, p Period, n uint64) (Grant, error)
}

// OnePeriod is the store of a counter that never restarts. It uses the same counter for every period.
type OnePeriod struct{ Store }

// ExtendPeriod implements PeriodStore.
func (o OnePeriod) ExtendPeriod(ctx context.Context, counter string, _ Period, n uint64) (Grant, error) {
	return o.Extend(ctx, counter, n)
}

// Periods hands out numbers that restart at 1 with each period of time, and with each key, in segments of a store. It is safe
// for concurrent use. The rest of a segment is lost when its period ends. The owner calls Close.
type Periods struct {
	store    PeriodStore
	counter  string
	min, max uint64
	lasts    time.Duration // how long a segment should last
	preload  int           // percent of a segment that is used before the next one is loaded; 100: none is
	timeout  time.Duration // time limit of one load in the background
	now      func() time.Time

	loading [loadings]chan struct{} // holds one token while a segment is taken; by key

	// Context of the loads in the background; cancelled by Close.
	ahead   context.Context
	cancel  context.CancelFunc
	loaders sync.WaitGroup

	mu   sync.Mutex // guards the fields below; never held across a wait
	held map[heldKey]*heldPeriod
	pace periodPace // pace of the counter without a key
}

type heldKey struct{ name, key string }

func (of Period) held() heldKey { return heldKey{of.Name, of.Key} }

// heldPeriod is the rest of a period's segment, and its standby.
type heldPeriod struct {
	next, last uint64
	trigger    uint64 // taking this number or a later one loads the standby
	standby    Grant  // there is none if First is 0
	pace       *periodPace
}

// periodPace determines the sizes of segments.
type periodPace struct {
	loaded time.Time // the last segment
	size   uint64    // of the last segment
}

const (
	// periodsHeld bounds the periods without keys whose segments are kept: the current one, and the periods of late callers.
	periodsHeld = 4
	// keysHeld bounds them with keys.
	keysHeld = 10_000
	// loadings is how many segments are taken at the same time, of different keys.
	loadings = 64
)

// NewPeriods returns a Periods with segments of MinStep (1) to MaxStep (10,000) numbers. A segment that lasted shorter
// than Buffer (1 s) is followed by one twice as large. Preload is 100 by default: the next segment is loaded when a
// caller needs it. With Ordered each number is
// requested for its caller. It uses no other options except LoadTimeout and Now.
func NewPeriods(store PeriodStore, counter string, o Options) *Periods {
	p := &Periods{
		store: store, counter: counter, min: cmp.Or(o.MinStep, 1), now: o.Now,
		lasts: cmp.Or(o.Buffer, time.Second), preload: cmp.Or(o.Preload, 100), timeout: cmp.Or(o.LoadTimeout, 10*time.Second),
		held: map[heldKey]*heldPeriod{},
	}
	for i := range p.loading {
		p.loading[i] = make(chan struct{}, 1)
	}
	p.max = max(p.min, cmp.Or(o.MaxStep, 10_000))
	if o.Ordered {
		p.min, p.max, p.preload = 1, 1, 100
	}
	if p.now == nil {
		p.now = time.Now
	}
	p.ahead, p.cancel = context.WithCancel(context.Background())
	return p
}

// Next returns the next number of a period.
func (p *Periods) Next(ctx context.Context, of Period) (uint64, error) {
	if n, ok := p.take(of); ok {
		return n, nil
	}
	loading := p.loadingOf(of)
	select {
	case loading <- struct{}{}:
	case <-ctx.Done():
		return 0, context.Cause(ctx)
	}
	defer func() { <-loading }()
	if n, ok := p.take(of); ok { // another caller has loaded meanwhile
		return n, nil
	}
	g, pace, err := p.load(ctx, of)
	if err != nil {
		return 0, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.use(of, g, pace).next++
	return g.First, nil
}

// loadingOf returns the channel that holds a token while a segment of the period's key is taken.
func (p *Periods) loadingOf(of Period) chan struct{} {
	return p.loading[xxhash.Sum64String(of.Key)%loadings]
}

// take takes a number of a segment in memory.
func (p *Periods) take(of Period) (uint64, bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	h := p.held[of.held()]
	if h == nil {
		return 0, false
	}
	if h.next > h.last && h.standby.First != 0 {
		h = p.use(of, h.standby, h.pace)
	}
	if h.next > h.last {
		return 0, false
	}
	n := h.next
	h.next++
	if n >= h.trigger && h.standby.First == 0 {
		p.prepare(of)
	}
	return n, true
}

// use makes a grant the segment in use of a period. If too many are held, others are dropped: used up ones, or else all. The
// caller holds mu.
func (p *Periods) use(of Period, g Grant, pace *periodPace) *heldPeriod {
	key, most := of.held(), periodsHeld
	if of.Key != "" {
		most = keysHeld
	}
	if p.held[key] == nil && len(p.held) >= most {
		maps.DeleteFunc(p.held, func(_ heldKey, h *heldPeriod) bool { return h.next > h.last && h.standby.First == 0 })
		if len(p.held) >= most {
			clear(p.held)
		}
	}
	h := &heldPeriod{next: g.First, last: g.Last, trigger: g.First + percent(g.Last-g.First+1, p.preload), pace: pace}
	p.held[key] = h
	return h
}

// prepare loads a standby in the background, unless a segment is being loaded. After an error the next number that is taken
// tries again. The caller holds mu.
func (p *Periods) prepare(of Period) {
	loading := p.loadingOf(of)
	select {
	case loading <- struct{}{}:
	default:
		return
	}
	if p.ahead.Err() != nil {
		<-loading
		return
	}
	p.loaders.Go(func() {
		defer func() { <-loading }()
		ctx, cancel := context.WithTimeout(p.ahead, p.timeout)
		defer cancel()
		g, pace, err := p.load(ctx, of)
		if err != nil {
			return // a caller that needs a segment gets the error
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		if h := p.held[of.held()]; h != nil && h.next <= h.last {
			h.standby = g
			return
		}
		p.use(of, g, pace)
	})
}

// load takes a segment of a period. The caller has the token of loading.
func (p *Periods) load(ctx context.Context, of Period) (Grant, *periodPace, error) {
	n, pace := p.sized(of)
	g, err := p.store.ExtendPeriod(ctx, p.counter, of, n)
	if err != nil {
		return Grant{}, nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	highest := uint64(0)
	if h := p.held[of.held()]; h != nil {
		highest = h.last
	}
	return g, pace, g.Check(n, highest)
}

// Close cancels the loads in the background and waits for them. Unused numbers are lost.
func (p *Periods) Close() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.loaders.Wait()
}

// sized returns the size of the next segment: twice the last one if that did not last, half of it if it lasted long.
func (p *Periods) sized(of Period) (uint64, *periodPace) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now, pace := p.now(), p.paceOf(of)
	switch lasted := now.Sub(pace.loaded); {
	case lasted < 0, pace.loaded.IsZero():
	case lasted < p.lasts:
		pace.size *= 2
	case lasted > 2*p.lasts:
		pace.size /= 2
	}
	pace.loaded = now
	pace.size = min(max(pace.size, p.min), p.max)
	return pace.size, pace
}

// paceOf returns the pace of a key in a period, or the pace of the counter without a key. The caller holds mu.
func (p *Periods) paceOf(of Period) *periodPace {
	if of.Key == "" {
		return &p.pace
	}
	if h := p.held[of.held()]; h != nil {
		return h.pace
	}
	return &periodPace{}
}
