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

// Place is where one of several pools is.
type Place struct {
	Redis Scripts
	Name  string // for errors
	// Part tells the places of one cluster apart: each has a hash tag of its own,
	// and so a slot.
	Part string
}

// Spread is a pool at each of several places, all of them filled from one durable
// store. So no two have a number in common, and none has to know of the others.
// One that is away is passed over; with all of them away the durable store is
// asked. It is a segment.Store, safe for concurrent use; the owner calls Close.
type Spread struct {
	pools []*Pool
	names []string        // of their places
	store *segment.Rising // of all: a pool remembers what it was given, and not what others were
	turn  atomic.Uint32   // of the pools, for numbers that need not rise

	mu    sync.Mutex // never held across a call of a server
	homes map[string]home
}

// home is the pool that a counter's runs come from. It is kept as long as it
// answers: pools have different ranges, and runs of a process rise.
type home struct {
	pool    int
	highest uint64 // handed to this process
}

var _ segment.Store = (*Spread)(nil)

// NewSpread is pools at one place or more.
func NewSpread(places []Place, durable segment.Store, o Options) *Spread {
	s := &Spread{store: segment.NewRising(durable), homes: map[string]home{}}
	var store *breaker.Breaker
	part := o.Part
	for _, place := range places {
		o.Part = part + place.Part
		p := New(place.Redis, s.store, o)
		if store == nil {
			store = p.durableBreaker
		}
		p.durableBreaker = store // there is one store
		s.pools, s.names = append(s.pools, p), append(s.names, place.Name)
	}
	s.turn.Store(rand.Uint32()) // processes begin at different places
	return s
}

// Extend implements segment.Store: what a process is granted rises.
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

// from takes a run from the first pool that gives one, beginning with that of the
// index, and then from the durable store; and says which pool it was.
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
	for _, at := range paused { // which failed lately, and may be back
		g, err := s.pooled(ctx, name, at, *wish)
		if err == nil || final(ctx, err) {
			return g, at, err
		}
		errs = append(errs, err)
	}
	if errors.Is(err, ErrAway) { // nobody else has answered, and it may be back
		if g, err = s.pools[begin].ask(ctx, name, wish.n); err == nil {
			return g, begin, nil
		}
		errs = append(errs, err)
	}
	return segment.Grant{}, begin, fmt.Errorf("extend %s by %d: %w", name, wish.n, errors.Join(errs...))
}

// final reports whether to ask elsewhere would not help.
func final(ctx context.Context, err error) bool {
	return ctx.Err() != nil || errors.Is(err, segment.ErrWentBack) || errors.Is(err, segment.ErrMoved) || errors.Is(err, segment.ErrUnknownTag)
}

// pooled takes a run from one pool alone.
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

// mostLanes is how many scripts of a generator are under way at once.
const mostLanes = 8

// Numbers is a generator that asks the places in turn for the numbers of each
// call, which don't rise from one call to the next.
func (s *Spread) Numbers(tag string) idgen.Numbers {
	return together.New(min(len(s.pools), mostLanes), 0, func(ctx context.Context, n int) (uint64, error) {
		g, _, err := s.from(ctx, tag, int(s.turn.Add(1)%uint32(len(s.pools))), &request{n: uint64(n)})
		return g.First, err
	})
}

// Breakers are the states of the breakers before each place and the durable store.
func (s *Spread) Breakers() (redis []breaker.State, durable breaker.State) {
	for _, p := range s.pools {
		of, store := p.Breakers()
		redis, durable = append(redis, of), store
	}
	return redis, durable
}

// Close waits for fills in the background, which it cancels.
func (s *Spread) Close() {
	for _, p := range s.pools {
		p.Close()
	}
}
