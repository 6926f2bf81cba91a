package pool

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"locus/idgen"
	"locus/idgen/breaker"
	"locus/idgen/segment"
	"locus/idgen/together"
)

// Place is the location of one of several pools.
type Place struct {
	Redis Scripts
	Name  string // for errors
	// Part distinguishes the places of one cluster. Each has its own hash tag, and so its own slot.
	Part string
}

// Spread is a pool at each of several places, all filled from one durable store. So their numbers are distinct, and the
// pools need not know each other. Unavailable pools are skipped. If all are unavailable, the durable store is asked.
// Spread is a segment.Store and safe for concurrent use. The owner calls Close.
type Spread struct {
	pools []*Pool
	names []string        // names of the places
	store *segment.Rising // covers all pools, since a pool remembers only its own numbers
	turn  atomic.Uint32   // the next pool for numbers that need not increase

	mu    sync.Mutex // never held across a call to a server
	homes map[string]home
}

// home is the pool that a counter's runs come from. It is kept as long as it answers, because pools have different
// ranges and a process's runs must increase.
type home struct {
	pool    int
	highest uint64 // highest number given to this process
}

var _ segment.Store = (*Spread)(nil)

// NewSpread returns pools at one or more places.
func NewSpread(places []Place, durable segment.Store, o Options) *Spread {
	s := &Spread{store: segment.NewRising(durable), homes: map[string]home{}}
	var store *breaker.Breaker
	part := o.Part
	for _, place := range places {
		o.Part = part + place.Part
		p := New(place.Redis, s.store, o)
		p.floor = s.highest
		if store == nil {
			store = p.durableBreaker
		}
		p.durableBreaker = store // there is one store
		s.pools, s.names = append(s.pools, p), append(s.names, place.Name)
	}
	s.turn.Store(rand.Uint32()) // processes begin at different places
	return s
}

// Extend implements segment.Store. The grants of a process increase.
func (s *Spread) Extend(ctx context.Context, name string, n uint64) (segment.Grant, error) {
	h := s.home(name)
	g, at, err := s.from(ctx, name, h.pool, &request{n: n, floor: h.highest})
	if err != nil {
		return segment.Grant{}, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.homes[name] = home{at, max(s.homes[name].highest, g.Last)}
	return g, nil
}

func (s *Spread) home(name string) home {
	s.mu.Lock()
	defer s.mu.Unlock()
	h, known := s.homes[name]
	if !known {
		h.pool = rand.IntN(len(s.pools))
		s.homes[name] = h
	}
	return h
}

// highest returns the highest number of a counter's runs that this process was given.
func (s *Spread) highest(name string) uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.homes[name].highest
}

// from takes a run from the first pool that has one, starting with the pool at index begin, and then from the durable store.
// It returns the index of the pool.
func (s *Spread) from(ctx context.Context, name string, begin int, wish *request) (segment.Grant, int, error) {
	if err := checkLength(name, wish.n); err != nil {
		return segment.Grant{}, begin, err
	}
	var paused []int
	var errs []error
	for i := range s.pools {
		at := (begin + i) % len(s.pools)
		if !s.pools[at].redisBreaker.Allow() {
			paused = append(paused, at)
			continue
		}
		g, err := s.pooled(ctx, name, at, *wish)
		if err == nil || final(ctx, err) {
			return g, at, err
		}
		errs = append(errs, err)
	}
	g, err := s.pools[begin].extend(ctx, name, wish.n)
	if err == nil || final(ctx, err) {
		return g, begin, err
	}
	errs = append(errs, err)
	for _, at := range paused { // these pools failed recently and may be available again
		g, err := s.pooled(ctx, name, at, *wish)
		if err == nil || final(ctx, err) {
			return g, at, err
		}
		errs = append(errs, err)
	}
	if errors.Is(err, ErrAway) { // no other pool has answered, and this one may be available again
		if g, err = s.pools[begin].ask(ctx, name, wish.n); err == nil {
			return g, begin, nil
		}
		errs = append(errs, err)
	}
	return segment.Grant{}, begin, fmt.Errorf("extend %s by %d: %w", name, wish.n, errors.Join(errs...))
}

// final reports whether asking another place would not help.
func final(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, segment.ErrWentBack) || errors.Is(err, segment.ErrMoved) || errors.Is(err, segment.ErrUnknownTag)
}

// pooled takes a run from one pool only.
func (s *Spread) pooled(ctx context.Context, name string, at int, r request) (segment.Grant, error) {
	p := s.pools[at]
	r.size, r.pooled = p.size(r.n), true
	r.begin(true)
	p.run(ctx, name, &r)
	if r.err != nil {
		return segment.Grant{}, fmt.Errorf("extend %s by %d at %s: %w", name, r.n, s.names[at], r.err)
	}
	s.store.Saw(name, r.result.Last)
	return r.result, nil
}

// mostLanes bounds a generator's concurrent scripts.
const mostLanes = 8

// Numbers returns a generator that asks the places in turn for the numbers of each call. They don't increase from call
// to call.
func (s *Spread) Numbers(tag string) idgen.Numbers {
	return together.New(min(len(s.pools), mostLanes), 0, func(ctx context.Context, n int) (uint64, error) {
		g, _, err := s.from(ctx, tag, int(s.turn.Add(1)%uint32(len(s.pools))), &request{n: uint64(n)})
		return g.First, err
	})
}

// NumbersByKey returns a generator for each key of each place. Its numbers come from that key, as long as the place answers.
// They rise meanwhile.
func (s *Spread) NumbersByKey(tag string) []idgen.Numbers {
	var all []idgen.Numbers
	for key := range max(1, s.pools[0].options.Keys) {
		for at := range s.pools {
			all = append(all, together.New(1, 0, func(ctx context.Context, n int) (uint64, error) {
				g, _, err := s.from(ctx, tag, at, &request{n: uint64(n), key: 1 + key})
				return g.First, err
			}))
		}
	}
	return all
}

// Breakers returns the states of the breakers of each place and of the durable store.
func (s *Spread) Breakers() (redis []breaker.State, durable breaker.State) {
	for _, p := range s.pools {
		of, store := p.Breakers()
		redis, durable = append(redis, of), store
	}
	return redis, durable
}

// Close cancels background fills and waits for them.
func (s *Spread) Close() {
	for _, p := range s.pools {
		p.Close()
	}
}
