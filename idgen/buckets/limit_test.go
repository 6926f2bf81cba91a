package buckets

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
	"locus/idgen/breaker"
)

// fake is a Redis in memory that can be unresponsive.
type fake struct {
	mu        sync.Mutex // guards the fields below
	frozen    bool
	epochs    map[string]string
	counted   map[string]int
	unlimited int // commands without a deadline
}

func newFake() *fake { return &fake{epochs: map[string]string{}, counted: map[string]int{}} }

func (f *fake) freeze(frozen bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen = frozen
}

// answers waits until the context ends if the server is unresponsive.
func (f *fake) answers(ctx context.Context) error {
	f.mu.Lock()
	frozen := f.frozen
	if _, limited := ctx.Deadline(); !limited {
		f.unlimited++
	}
	f.mu.Unlock()
	if frozen {
		<-ctx.Done()
	}
	return ctx.Err()
}

func (f *fake) Eval(ctx context.Context, script string, keys []string, args ...string) ([]string, error) {
	if err := f.answers(ctx); err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	key := keys[0]
	if script == resetScript {
		f.epochs[key], f.counted[key] = args[0], 0
		return []string{"ok"}, nil
	}
	if f.epochs[key] == "" {
		return []string{"reset", "0"}, nil
	}
	before := f.counted[key]
	f.counted[key]++ // the test takes one number at a time
	return []string{f.epochs[key], strconv.Itoa(before)}, nil
}

func (f *fake) TryLock(ctx context.Context, _, _ string, _ time.Duration) (bool, error) {
	return true, f.answers(ctx)
}

func (f *fake) Unlock(ctx context.Context, _, _ string) error { return f.answers(ctx) }

// store grants epochs, and can be unresponsive.
type store struct {
	fake
	next uint64
}

func (s *store) numbers() idgen.Numbers {
	return idgen.Run{Take: func(ctx context.Context, _ int) (uint64, error) {
		if err := s.answers(ctx); err != nil {
			return 0, err
		}
		s.next++
		return s.next, nil
	}}
}

// A caller waits no longer than its limit, whatever is unresponsive: a server, all servers, or the store of the
// epochs. Every command has a deadline, even if the caller has none.
func TestACallersLimitIsKept(t *testing.T) {
	const limit = 100 * time.Millisecond
	for name, frozen := range map[string]func(servers []*fake, s *store){
		"one server":  func(servers []*fake, _ *store) { servers[0].freeze(true) },
		"all servers": func(servers []*fake, _ *store) { servers[0].freeze(true); servers[1].freeze(true) },
		"the store":   func(_ []*fake, s *store) { s.freeze(true) },
		"everything":  func(servers []*fake, s *store) { servers[0].freeze(true); servers[1].freeze(true); s.freeze(true) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				servers, s := []*fake{newFake(), newFake()}, &store{}
				g := New([]Redis{servers[0], servers[1]}, s.numbers(), Options{Lanes: 1})
				frozen(servers, s)
				seen, answered := map[uint64]bool{}, 0
				for range 3 * buckets {
					ctx, cancel := context.WithTimeout(t.Context(), limit)
					began := time.Now()
					n, err := idgen.One(ctx, g)
					cancel()
					if waited := time.Since(began); waited > limit {
						t.Fatalf("a caller with %v waited for %v", limit, waited)
					}
					if err != nil {
						continue
					}
					if answered++; seen[n] {
						t.Fatalf("number %d came twice", n)
					}
					seen[n] = true
				}
				if works := name == "one server"; works != (answered > buckets) {
					t.Errorf("%d numbers", answered)
				}
				servers[0].freeze(false)
				servers[1].freeze(false)
				s.freeze(false)
				time.Sleep(time.Minute)
				if _, err := idgen.One(t.Context(), g); err != nil {
					t.Error(err)
				}
				if n := servers[0].unlimited + servers[1].unlimited + s.unlimited; n > 0 {
					t.Errorf("%d requests had no deadline", n)
				}
			})
		})
	}
}

// With an unresponsive store, buckets that have numbers left continue. After three waits for the store, it is
// not asked for a while.
func TestBucketsGoOnWithoutTheirStore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server, s := newFake(), &store{}
		g := New([]Redis{server}, s.numbers(), Options{StoreTimeout: time.Second, Breaker: breaker.Options{Pause: time.Hour}})
		for range buckets / 2 {
			if _, err := idgen.One(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		s.freeze(true)
		began := time.Now()
		for range 2 * buckets {
			if _, err := idgen.One(t.Context(), g); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(began); waited != 3*time.Second {
			t.Errorf("callers waited for %v", waited)
		}
		server.mu.Lock()
		clear(server.epochs) // as after a restart
		server.mu.Unlock()
		if _, err := idgen.One(t.Context(), g); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("without any epoch the store is asked again: %v", err)
		}
		s.freeze(false)
		if _, err := idgen.One(t.Context(), g); err != nil {
			t.Error(err)
		}
	})
}
