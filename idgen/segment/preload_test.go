package segment

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// The standby is loaded once the configured share of a segment is used, and with 100 % when a caller needs it.
func TestPreload(t *testing.T) {
	for _, c := range []struct{ preload, alone int }{{0, 10}, {1, 1}, {10, 10}, {55, 55}, {99, 99}, {100, 100}} {
		synctest.Test(t, func(t *testing.T) {
			loads := 0
			store := &granting{before: func(context.Context, uint64) error { loads++; return nil }}
			s := open(t, store, Options{Groups: 1, MinStep: 100, MaxStep: 100, Preload: c.preload})
			taken := 0
			for ; loads < 2; taken++ {
				take(t, s, 1)
				synctest.Wait()
			}
			if taken-1 != c.alone {
				t.Errorf("preload at %d %%: the second segment was loaded by number %d, want %d", c.preload, taken-1, c.alone)
			}
		})
	}
	if _, err := NewNumbers(&granting{}, "tag", 0, Options{Preload: 101}); err == nil {
		t.Error("101 % are accepted")
	}
}

// Each load requests at least as many numbers as the store's own step.
func TestTheStoresStep(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var sizes []uint64
		var down error
		step := uint64(7)
		store := &granting{before: func(_ context.Context, n uint64) error { sizes = append(sizes, n); return nil }}
		s := open(t, store, Options{
			Groups: 1, MinStep: 1, MaxStep: 50, Buffer: time.Nanosecond, Preload: 100,
			Step: func(context.Context, string) (uint64, error) { return step, down },
		})
		for range 7 {
			take(t, s, 1)
		}
		step = 200
		take(t, s, 1)
		if len(sizes) != 2 || sizes[0] != 7 || sizes[1] != 50 {
			t.Errorf("segments of %v numbers, want 7 and 50", sizes)
		}
		down = errors.New("the step can't be read")
		for range 49 {
			take(t, s, 1)
		}
		if n, err := s.Take(t.Context(), 0, 1); !errors.Is(err, down) {
			t.Errorf("%d, %v: the step can't be read", n, err)
		}
	})
}

// A period's standby is loaded in the background, so no caller waits for the store. Its numbers follow, and
// none is returned twice.
func TestPeriodsPreload(t *testing.T) {
	for _, preload := range []int{0, 50, 100} {
		synctest.Test(t, func(t *testing.T) {
			kv := newFakeKV()
			store := &slowPeriods{PeriodStore: NewCASStore(kv, "", "p", time.Now)}
			p := NewPeriods(store, "bill", Options{MinStep: 10, MaxStep: 10, Preload: preload})
			defer p.Close()
			at := time.Now()
			waits := 0
			for want := uint64(1); want <= 95; want++ {
				began := time.Now()
				n, err := p.Next(t.Context(), Period{Name: "day", At: at})
				if err != nil || n != want {
					t.Fatalf("got %d, %v, want %d", n, err, want)
				}
				if time.Since(began) > 0 {
					waits++
				}
				time.Sleep(time.Second) // virtual
			}
			want := 10
			if preload == 50 {
				want = 1 // the first
			}
			if waits != want {
				t.Errorf("preload at %d %%: %d of 95 numbers waited for the store, want %d", preload, waits, want)
			}
		})
	}
}

// slowPeriods is a store that takes a second for each request.
type slowPeriods struct{ PeriodStore }

func (s *slowPeriods) ExtendPeriod(ctx context.Context, counter string, p Period, n uint64) (Grant, error) {
	select {
	case <-time.After(time.Second):
	case <-ctx.Done():
		return Grant{}, context.Cause(ctx)
	}
	return s.PeriodStore.ExtendPeriod(ctx, counter, p, n)
}

// Callers of several periods, with standbys: no number twice, and the loader ends with Close.
func TestPeriodsPreloadConcurrently(t *testing.T) {
	kv := newFakeKV()
	p := NewPeriods(NewCASStore(kv, "", "p", time.Now), "bill", Options{MinStep: 3, MaxStep: 50, Preload: 30})
	var mu sync.Mutex
	seen := map[string]map[uint64]bool{}
	var callers sync.WaitGroup
	for i := range 8 {
		callers.Go(func() {
			for j := range 2000 {
				at := time.Unix(int64(60*(j/300+i%2)), 0)
				n, err := p.Next(t.Context(), Period{Name: minutes(at), At: at})
				mu.Lock()
				if seen[minutes(at)] == nil {
					seen[minutes(at)] = map[uint64]bool{}
				}
				if err != nil || seen[minutes(at)][n] {
					t.Errorf("%s: %d again, or %v", minutes(at), n, err)
				}
				seen[minutes(at)][n] = true
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	p.Close()
	if err := p.ahead.Err(); err == nil {
		t.Error("it is not closed")
	}
}
