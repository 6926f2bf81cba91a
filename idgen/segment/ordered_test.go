package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
)

// call is a request for numbers, and when it began and ended.
type call struct {
	began, ended time.Duration
	first, last  uint64
}

// ordered returns an error if a call that began after another one had ended got a lower number, or two got the same.
func ordered(calls []call) error {
	for _, a := range calls {
		for _, b := range calls {
			if a.ended < b.began && a.last >= b.first {
				return fmt.Errorf("%d..%d ended at %s, and %d..%d began at %s", a.first, a.last, a.ended, b.first, b.last, b.began)
			}
		}
	}
	return nil
}

// slowKV is a store whose requests take a random time, part of it after they took effect.
type slowKV struct{ *fakeKV }

func (s slowKV) Get(ctx context.Context, key string) ([]byte, int64, error) {
	time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond) // virtual
	value, revision, err := s.fakeKV.Get(ctx, key)
	time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond) // virtual
	return value, revision, err
}

func (s slowKV) CompareAndSwap(ctx context.Context, key string, revision int64, value []byte) (bool, error) {
	time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond) // virtual
	ok, err := s.fakeKV.CompareAndSwap(ctx, key, revision, value)
	time.Sleep(time.Duration(rand.IntN(3)) * time.Millisecond) // virtual
	return ok, err
}

// Numbers of several processes rise in the order of the calls, although the store fails, and callers give up.
func TestOrdered(t *testing.T) {
	for name, open := range map[string]func(t *testing.T, store *CASStore) func(ctx context.Context, n int) (uint64, error){
		"IDs": func(t *testing.T, store *CASStore) func(context.Context, int) (uint64, error) {
			s, err := New(store, layoutNamed(t, "int64"), Options{Groups: 1, Ordered: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = s.Close(context.Background()) })
			return func(ctx context.Context, n int) (uint64, error) { return s.Take(ctx, 0, n) }
		},
		"numbers": func(t *testing.T, store *CASStore) func(context.Context, int) (uint64, error) {
			g, err := NewNumbers(store, "tag", 0, Options{Ordered: true})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { _ = g.Close(context.Background()) })
			return func(ctx context.Context, n int) (uint64, error) {
				into := make([]uint64, n)
				err := g.Fill(ctx, into)
				return into[0], err
			}
		},
		"periods": func(t *testing.T, store *CASStore) func(context.Context, int) (uint64, error) {
			p := NewPeriods(store, "tag", Options{Ordered: true, MaxStep: 100, Preload: 10})
			t.Cleanup(p.Close)
			return func(ctx context.Context, n int) (first uint64, err error) {
				for i := range n {
					one, err := p.Next(ctx, Period{Name: "day", At: time.Now()})
					if err != nil {
						return 0, err
					}
					if i == 0 {
						first = one
					}
				}
				return first, nil
			}
		},
	} {
		t.Run(name, func(t *testing.T) { synctest.Test(t, func(t *testing.T) { testOrdered(t, name, open) }) })
	}
}

func testOrdered(t *testing.T, name string, open func(*testing.T, *CASStore) func(context.Context, int) (uint64, error)) {
	kv := newFakeKV()
	kv.fault = func(string) fault { return fault(max(0, rand.IntN(60)-56)) }
	began := time.Now()
	var mu sync.Mutex
	var calls []call
	failed := 0
	var callers sync.WaitGroup
	for range 3 {
		store := NewCASStore(slowKV{kv}, "", "p", time.Now)
		store.pause = 1
		take := open(t, store)
		for range 4 {
			callers.Go(func() {
				for range 60 {
					n := 1 + rand.IntN(3)
					if name == "periods" {
						n = 1
					}
					ctx, cancel := context.WithTimeout(t.Context(), time.Duration(5+rand.IntN(200))*time.Millisecond)
					from := time.Since(began)
					first, err := take(ctx, n)
					cancel()
					mu.Lock()
					if err == nil {
						calls = append(calls, call{from, time.Since(began), first, first + uint64(n) - 1})
					} else {
						failed++
					}
					mu.Unlock()
					time.Sleep(time.Duration(rand.IntN(4)) * time.Millisecond) // virtual
				}
			})
		}
	}
	callers.Wait()
	if err := ordered(calls); err != nil {
		t.Error(err)
	}
	seen := map[uint64]bool{}
	for _, c := range calls {
		for n := c.first; n <= c.last; n++ {
			if seen[n] {
				t.Errorf("%d came twice", n)
			}
			seen[n] = true
		}
	}
	if len(calls) < 100 || failed == 0 {
		t.Errorf("%d calls, %d of which failed: too little was tested", len(calls), failed)
	}
}

// Callers that wait at the same time share a request.
func TestOrderedTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		requests := 0
		store := &granting{before: func(context.Context, uint64) error { requests++; time.Sleep(time.Second); return nil }} // virtual
		g, err := NewNumbers(store, "tag", 0, Options{Ordered: true})
		if err != nil {
			t.Fatal(err)
		}
		var callers sync.WaitGroup
		for range 100 {
			callers.Go(func() {
				if _, err := idgen.One(t.Context(), g); err != nil {
					t.Error(err)
				}
			})
		}
		callers.Wait()
		if requests != 2 {
			t.Errorf("%d requests for 100 callers, want 2", requests)
		}
		if c := g.Counts(); c.Loads != 2 {
			t.Errorf("%+v", c)
		}
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if _, err := idgen.One(t.Context(), g); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

// Close ends a request, and numbers end without a wrap.
func TestOrderedEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, err := NewNumbers(&granting{}, "tag", 3, Options{Ordered: true})
		if err != nil {
			t.Fatal(err)
		}
		if err := g.Fill(t.Context(), make([]uint64, 2)); err != nil {
			t.Fatal(err)
		}
		for range 2 {
			if err := g.Fill(t.Context(), make([]uint64, 2)); err == nil || !strings.Contains(err.Error(), "sequence exhausted") {
				t.Errorf("two of one number that is left: %v", err)
			}
		}
		stuck := &granting{before: func(ctx context.Context, _ uint64) error { <-ctx.Done(); return ctx.Err() }}
		if g, err = NewNumbers(stuck, "tag", 0, Options{Ordered: true, LoadTimeout: time.Hour}); err != nil {
			t.Fatal(err)
		}
		ended := make(chan error, 1)
		go func() { _, err := idgen.One(t.Context(), g); ended <- err }()
		synctest.Wait()
		began := time.Now()
		if err := g.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		if waited := time.Since(began); waited > 0 { // virtual
			t.Errorf("Close waited %s", waited)
		}
		if err := <-ended; err == nil {
			t.Error("a number after Close")
		}
	})
}
