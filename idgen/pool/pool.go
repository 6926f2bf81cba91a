package pool

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"locus/idgen"
	"locus/idgen/breaker"
	"locus/idgen/segment"
	"locus/idgen/together"
)

// Options are the settings of a Pool. Zero fields get the default in parentheses.
type Options struct {
	// Prefix is the prefix of the pool's keys in Redis ("locus:ids:").
	Prefix string
	// Part distinguishes several pools of a counter in one Redis ("").
	Part string
	// Fill is how many numbers a fill requests from the durable store (100,000), which is also the size of the reserve.
	// It is raised to at least four times the length of a requested run.
	Fill uint64
	// Keys distributes the numbers over that many keys (0 for none), each of which takes Span (1,000) numbers at once
	// from the pool. Runs then don't increase.
	Keys int
	Span uint64
	// RedisTimeout (500 ms) and StoreTimeout (2 s) bound one call.
	RedisTimeout, StoreTimeout time.Duration
	// Redis and Store configure the breakers of the two servers.
	Redis, Store breaker.Options
}

// Pool is a segment.Store. It is safe for concurrent use. The owner calls Close.
type Pool struct {
	redis   Scripts
	durable segment.Store
	options Options

	turn atomic.Uint64 // the next key

	redisBreaker, durableBreaker *breaker.Breaker

	mu       sync.Mutex // never held across a call to a server
	counters map[string]*counter

	recovering bool // recover runs; mu guards it

	// floor returns the number above which this process needs runs of a counter.
	floor func(name string) uint64

	filling context.Context // ends background fills
	cancel  context.CancelFunc
	fills   sync.WaitGroup
}

// counter is this process's knowledge of a counter. The pool's mu guards it.
type counter struct {
	highest uint64 // highest number given to this process; later runs are above it
	filling bool   // a background fill is running; at most one does
	behind  bool   // Redis has not answered, so its pool may have no numbers for this process
	size    uint64 // numbers that a fill requests
}

var _ segment.Store = (*Pool)(nil)

// New returns a pool in Redis before a durable store.
func New(redis Scripts, durable segment.Store, o Options) *Pool {
	o.Prefix = cmp.Or(o.Prefix, "locus:ids:")
	o.Fill = cmp.Or(o.Fill, 100_000)
	o.Span = cmp.Or(o.Span, 1000)
	o.RedisTimeout = cmp.Or(o.RedisTimeout, 500*time.Millisecond)
	o.StoreTimeout = cmp.Or(o.StoreTimeout, 2*time.Second)
	p := &Pool{
		redis: redis, durable: durable, options: o, counters: map[string]*counter{},
		redisBreaker: breaker.New(o.Redis), durableBreaker: breaker.New(o.Store),
	}
	p.floor = p.highest
	p.filling, p.cancel = context.WithCancel(context.Background())
	return p
}

// Extend grants the next n numbers of a counter, from Redis if available.
func (p *Pool) Extend(ctx context.Context, name string, n uint64) (segment.Grant, error) {
	return p.extendBy(ctx, name, n, 0)
}

// extendBy is Extend from one of the keys; 0 is the next one in turn.
func (p *Pool) extendBy(ctx context.Context, name string, n uint64, key int) (segment.Grant, error) {
	if err := checkLength(name, n); err != nil {
		return segment.Grant{}, err
	}
	r := &request{n: n, floor: p.highest(name), size: p.size(n), key: key}
	asked := p.redisBreaker.Allow()
	r.begin(asked)
	p.run(ctx, name, r)
	if r.err != nil && !final(ctx, r.err) {
		p.lastResort(ctx, name, r, asked)
	}
	if r.err != nil {
		return segment.Grant{}, fmt.Errorf("extend %s by %d: %w", name, n, r.err)
	}
	p.handed(name, r.result.Last)
	return r.result, nil
}

// lastResort asks servers that were not asked because they failed recently, once no other has answered. They may be
// available again.
func (p *Pool) lastResort(ctx context.Context, name string, r *request, asked bool) {
	before := r.err
	if !asked {
		again := &request{n: r.n, floor: r.floor, size: r.size, key: r.key, pooled: true}
		again.begin(true)
		p.run(ctx, name, again)
		if again.err == nil || final(ctx, again.err) {
			*r = *again
			return
		}
		r.before = again.err
	}
	if !errors.Is(before, ErrAway) {
		return
	}
	r.tookDirectly(p.ask(ctx, name, r.n))
}

func checkLength(name string, n uint64) error {
	if n < 1 || n > maxNumber/8 {
		return fmt.Errorf("extend %s by %d: ask for 1 to %d numbers", name, n, uint64(maxNumber/8))
	}
	return nil
}

func (p *Pool) size(n uint64) uint64 {
	if p.options.Keys > 0 {
		n = max(n, p.options.Span)
	}
	return max(p.options.Fill, 4*n)
}

// run performs the request's steps until it is done.
func (p *Pool) run(ctx context.Context, name string, r *request) {
	for r.step != done {
		switch r.step {
		case taking:
			t, err := p.askRedis(ctx, name, r.size, func(ctx context.Context) (taken, error) { return p.take(ctx, name, r) })
			r.tookFromPool(t, err)
			if t.fill {
				p.refill(name, r.size)
			}
		case extending:
			r.extended(p.extend(ctx, name, r.size))
		case filling:
			r.filledPool(p.askRedis(ctx, name, r.size, func(ctx context.Context) (taken, error) { return p.fill(ctx, name, r.grant, r.floor) }))
		case direct:
			r.tookDirectly(p.extend(ctx, name, r.n))
		case done:
		}
	}
}

func (p *Pool) askRedis(ctx context.Context, name string, size uint64, ask func(context.Context) (taken, error)) (taken, error) {
	bounded, cancel := context.WithTimeout(ctx, p.options.RedisTimeout)
	defer cancel()
	t, err := ask(bounded)
	p.redisBreaker.Ended(ctx, err)
	if err != nil && !errors.Is(ctx.Err(), context.Canceled) {
		p.recoverLater(name, size)
	}
	return t, err
}

// ErrAway means that a server isn't asked for a while because it failed.
var ErrAway = fmt.Errorf("the store of segments failed and %w", idgen.ErrNotAsked)

func (p *Pool) extend(ctx context.Context, name string, n uint64) (segment.Grant, error) {
	if !p.durableBreaker.Allow() {
		return segment.Grant{}, ErrAway
	}
	return p.ask(ctx, name, n)
}

// ask asks the durable store, regardless of its breaker.
func (p *Pool) ask(ctx context.Context, name string, n uint64) (segment.Grant, error) {
	bounded, cancel := context.WithTimeout(ctx, p.options.StoreTimeout)
	defer cancel()
	g, err := p.durable.Extend(bounded, name, n)
	p.durableBreaker.Ended(ctx, away(err))
	if err == nil {
		err = g.Check(n, 0)
	}
	if err == nil && g.Last > maxNumber {
		err = fmt.Errorf("the store granted %d..%d, and Redis counts up to %d: they are not used", g.First, g.Last, uint64(maxNumber))
	}
	if err != nil {
		return segment.Grant{}, err
	}
	return g, nil
}

// away returns err if the store can't be reached, or nil. A store that answers must not trip the breaker, because it can still
// serve other counters.
func away(err error) error {
	if errors.Is(err, segment.ErrWentBack) || errors.Is(err, segment.ErrUnknownTag) || errors.Is(err, segment.ErrMoved) {
		return nil
	}
	return err
}

// refill fills a pool in the background, so that its reserve exists before the durable store becomes unavailable.
func (p *Pool) refill(name string, size uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counter(name)
	if c.filling || p.filling.Err() != nil {
		return
	}
	c.filling = true
	p.fills.Go(func() {
		if p.redisBreaker.State() == breaker.Closed {
			r := &request{size: size}
			r.begin(true)
			p.run(p.filling, name, r)
		}
		p.mu.Lock()
		defer p.mu.Unlock()
		c.filling = false
	})
}

// counter returns the state of a counter. The caller holds mu.
func (p *Pool) counter(name string) *counter {
	c := p.counters[name]
	if c == nil {
		c = &counter{}
		p.counters[name] = c
	}
	return c
}

func (p *Pool) highest(name string) uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.options.Keys > 0 {
		return 0
	}
	return p.counter(name).highest
}

// Numbers returns a generator that asks Redis for the numbers of each call: from one key, or from Keys keys in turn.
// Callers that arrive while a script runs are answered together by the next one.
func (p *Pool) Numbers(tag string) idgen.Numbers {
	return together.New(max(1, min(p.options.Keys, 4)), 0, func(ctx context.Context, n int) (uint64, error) { return p.number(ctx, tag, n, 0) })
}

// NumbersByKey returns a generator for each key. Its numbers come from that key, and rise as long as Redis answers.
func (p *Pool) NumbersByKey(tag string) []idgen.Numbers {
	var all []idgen.Numbers
	for key := range max(1, p.options.Keys) {
		all = append(all, together.New(1, 0, func(ctx context.Context, n int) (uint64, error) { return p.number(ctx, tag, n, 1+key) }))
	}
	return all
}

// number returns the first of n numbers of a key; 0 is the next one in turn.
func (p *Pool) number(ctx context.Context, tag string, n, key int) (uint64, error) {
	g, err := p.extendBy(ctx, tag, uint64(n), key)
	if err != nil && !final(ctx, err) {
		if first, ok := p.below(ctx, tag, uint64(n), key); ok {
			return first, nil
		}
	}
	return g.First, err
}

// below takes numbers out of the pool that are below those that this process has had. The numbers of a generator must differ,
// and need not rise while the durable store is unavailable.
func (p *Pool) below(ctx context.Context, name string, n uint64, key int) (first uint64, ok bool) {
	r := &request{n: n, size: p.size(n), key: key}
	t, err := p.askRedis(ctx, name, r.size, func(ctx context.Context) (taken, error) { return p.take(ctx, name, r) })
	return t.first, err == nil && t.outcome == took
}

func (p *Pool) handed(name string, last uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.counter(name)
	c.highest = max(c.highest, last)
}

// Breakers returns the states of the breakers of Redis and of the durable store.
func (p *Pool) Breakers() (redis, durable breaker.State) {
	return p.redisBreaker.State(), p.durableBreaker.State()
}

// Close cancels background fills and waits for them.
func (p *Pool) Close() {
	p.mu.Lock()
	p.cancel()
	p.mu.Unlock()
	p.fills.Wait()
}
