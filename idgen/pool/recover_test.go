package pool

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
	"locus/idgen/segment"
)

// fakeRedis runs the scripts' Go twins. It can be unresponsive, unreachable, or restart empty.
type fakeRedis struct {
	mu     sync.Mutex // guards the fields below
	run    int
	pools  map[string]*state
	frozen bool
	err    error
	asked  int
}

func newFakeRedis() *fakeRedis { return &fakeRedis{pools: map[string]*state{}} }

func (f *fakeRedis) set(frozen bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen, f.err = frozen, err
}

func (f *fakeRedis) restart() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.run++
}

func (f *fakeRedis) Eval(ctx context.Context, script string, keys []string, args ...string) ([]string, error) {
	f.mu.Lock()
	f.asked++
	frozen, err := f.frozen, f.err
	f.mu.Unlock()
	if frozen {
		<-ctx.Done()
		err = ctx.Err()
	}
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.pools[keys[0]]
	if s == nil {
		s = &state{}
		f.pools[keys[0]] = s
	}
	var n [3]uint64
	for i, arg := range args {
		n[i], _ = strconv.ParseUint(arg, 10, 64)
	}
	run := fmt.Sprint("run ", f.run)
	switch script {
	case takeScript:
		t := s.take(run, n[0], n[1])
		if t.outcome != took {
			return []string{string(t.outcome)}, nil
		}
		return []string{"ok", number(t.first), number(t.left), flag(t.left < n[2])}, nil
	case restScript:
		t := s.rest(run, n[0])
		return []string{string(t.outcome), number(t.left), flag(t.left < n[1])}, nil
	case fillScript:
		o := s.fill(run, segment.Grant{First: n[0], Last: n[1]}, n[2])
		if o == stale {
			return []string{"stale", number(s.high)}, nil
		}
		return []string{string(o)}, nil
	}
	return nil, errors.New("an unknown script")
}

func flag(is bool) string {
	if is {
		return "1"
	}
	return "0"
}

// granted is a durable store in memory that can be made unavailable.
type granted struct {
	mu    sync.Mutex
	bound uint64
	err   error
}

func (g *granted) Extend(_ context.Context, _ string, n uint64) (segment.Grant, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.err != nil {
		return segment.Grant{}, g.err
	}
	g.bound += n
	return segment.Grant{First: g.bound - n + 1, Last: g.bound}, nil
}

// frozenStore grants numbers, and can be unresponsive.
type frozenStore struct {
	granted
	frozen bool
}

func (s *frozenStore) Extend(ctx context.Context, name string, n uint64) (segment.Grant, error) {
	s.mu.Lock()
	frozen := s.frozen
	s.mu.Unlock()
	if frozen {
		<-ctx.Done()
		return segment.Grant{}, ctx.Err()
	}
	return s.granted.Extend(ctx, name, n)
}

func (s *frozenStore) freeze(frozen bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.frozen = frozen
}

// outages are the ways in which Redis can be unavailable, and how it comes back.
var outages = map[string]struct{ begin, end func(*fakeRedis) }{
	"frozen":  {func(f *fakeRedis) { f.set(true, nil) }, func(f *fakeRedis) { f.set(false, nil) }},
	"cut":     {func(f *fakeRedis) { f.set(false, errors.New("refused")) }, func(f *fakeRedis) { f.set(false, nil) }},
	"killed":  {func(f *fakeRedis) { f.set(false, errors.New("refused")) }, func(f *fakeRedis) { f.restart(); f.set(false, nil) }},
	"emptied": {func(f *fakeRedis) { f.set(true, nil) }, func(f *fakeRedis) { clear(f.pools); f.set(false, nil) }},
}

// As soon as Redis answers after an outage, its pool is filled above the numbers that this process took from the durable store
// during the outage. So runs are available when the durable store fails next, although none was requested in between.
func TestThePoolRecoversWithRedis(t *testing.T) {
	for name, outage := range outages {
		for _, places := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%d", name, places), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					const fill = 1000
					servers, store := []*fakeRedis{newFakeRedis(), newFakeRedis()}[:places], &frozenStore{}
					p := newExtender(servers, store, fill)
					defer p.Close()
					var last uint64
					extend := func() error {
						g, err := p.Extend(t.Context(), "orders", 10)
						if err == nil && g.First <= last {
							t.Errorf("%d..%d is not above %d", g.First, g.Last, last)
						}
						last = max(last, g.Last)
						return err
					}
					must := func(when string) {
						if err := extend(); err != nil {
							t.Fatalf("%s: %v", when, err)
						}
					}
					must("in the beginning")
					for _, s := range servers {
						outage.begin(s)
					}
					for range 5 {
						must("without Redis")
					}
					for _, s := range servers {
						outage.end(s)
					}
					time.Sleep(2 * slowRecheck) // no call requests a number
					synctest.Wait()
					store.freeze(true)
					for i := range fill / 10 {
						must(fmt.Sprintf("run %d with Redis back and the store unavailable", i))
					}
				})
			})
		}
	}
}

func newExtender(servers []*fakeRedis, store segment.Store, fill uint64) interface {
	segment.Store
	Numbers(tag string) idgen.Numbers
	Close()
} {
	if len(servers) == 1 {
		return New(servers[0], store, Options{Fill: fill})
	}
	var places []Place
	for _, s := range servers {
		places = append(places, Place{Redis: s, Name: "redis"})
	}
	return NewSpread(places, store, Options{Fill: fill})
}

// While Redis does not answer, one goroutine asks it every two seconds, and the durable store grants nothing
// for it.
func TestRecoveryIsModest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis, store := newFakeRedis(), &frozenStore{}
		p := New(redis, store, Options{Fill: 1000})
		redis.set(false, errors.New("refused"))
		for range 3 {
			if _, err := p.Extend(t.Context(), "orders", 10); err != nil {
				t.Fatal(err)
			}
		}
		redis.mu.Lock()
		redis.asked = 0
		redis.mu.Unlock()
		time.Sleep(time.Minute)
		redis.mu.Lock()
		asked := redis.asked
		redis.mu.Unlock()
		if most := int(time.Minute / slowRecheck); asked < most || asked > most+10 || store.bound != 30 {
			t.Errorf("Redis was asked %d times, and %d numbers were granted", asked, store.bound)
		}
		p.Close() // ends it
		if _, _, found := p.nextBehind(); found {
			t.Error("it goes on after the end")
		}
	})
}

// The numbers of a generator need not rise. So without the durable store, numbers below those that this process
// had are returned as well.
func TestNumbersBelowAreGivenWithoutTheStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		redis, store := newFakeRedis(), &frozenStore{}
		p := New(redis, store, Options{Fill: 1000})
		defer p.Close()
		numbers, seen := p.Numbers("orders"), map[uint64]bool{}
		one := func() error {
			n, err := idgen.One(t.Context(), numbers)
			if err == nil && seen[n] {
				t.Errorf("%d came twice", n)
			}
			seen[n] = true
			return err
		}
		if err := one(); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		redis.set(true, nil)
		if err := one(); err != nil {
			t.Fatal(err)
		}
		store.freeze(true) // both fail at the same time, so nothing can be refilled
		redis.set(false, nil)
		for range 1500 {
			if err := one(); err != nil {
				t.Fatal(err)
			}
		}
		store.freeze(false)
		time.Sleep(time.Minute)
		for range 1500 {
			if err := one(); err != nil {
				t.Fatal(err)
			}
		}
	})
}
