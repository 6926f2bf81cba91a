package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/cespare/xxhash/v2"
)

// minutes names the minute of a time.
func minutes(at time.Time) string { return at.UTC().Format("200601021504") }

// The clocks of the processes differ, the store loses answers, and some processes are restarted. No number is
// returned twice in a period, and each period starts at 1.
func TestPeriodsGiveNoNumberTwice(t *testing.T) {
	t.Run("well", func(t *testing.T) { testPeriods(t, 0) })
	t.Run("failing", func(t *testing.T) { testPeriods(t, 20) })
}

// testPeriods fails one of the given number of calls of the store.
func testPeriods(t *testing.T, faults int) {
	store := newFakeKV()
	start := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
	seen, first := map[string]bool{}, map[string]uint64{}
	rng := rand.New(rand.NewPCG(7, 7))
	fates := rand.New(rand.NewPCG(8, 8)) // the store's mu guards it: loads in the background ask too
	store.fault = func(string) fault {
		if faults == 0 || fates.IntN(faults) > 0 {
			return noFault
		}
		return fault(fates.IntN(4))
	}
	var processes [4]*Periods
	for step := range 40_000 {
		i := rng.IntN(len(processes))
		if processes[i] == nil || rng.IntN(500) == 0 {
			cas := NewCASStore(store, "", fmt.Sprint(i), time.Now)
			cas.pause = 1
			processes[i] = NewPeriods(cas, "bill", Options{MaxStep: 64, Preload: []int{0, 20, 80}[rng.IntN(3)]})
		}
		skew := time.Duration(i-2) * 70 * time.Second
		at := start.Add(time.Duration(step) * 500 * time.Millisecond).Add(skew)
		n, err := processes[i].Next(t.Context(), Period{Name: minutes(at), At: at})
		if err != nil {
			t.Fatal(err)
		}
		name := minutes(at)
		if key := fmt.Sprint(name, " ", n); seen[key] {
			t.Fatalf("%s came twice", key)
		} else {
			seen[key] = true
		}
		if first[name] == 0 || n < first[name] {
			first[name] = n
		}
	}
	for name, n := range first {
		if n != 1 && faults == 0 { // else it may be lost
			t.Errorf("period %s begins at %d", name, n)
		}
	}
	if len(store.values) != 1 {
		t.Errorf("%d keys are left behind", len(store.values))
	}
	store.fault = nil
	late := start.Add(-time.Hour)
	if n, err := processes[0].Next(t.Context(), Period{Name: minutes(late), At: late}); err != nil || n != 1 {
		// a time before the first period, about which nothing is known
		if !errors.Is(err, ErrPeriodOver) {
			t.Errorf("%d, %v", n, err)
		}
	}
	old := start.Add(time.Minute)
	for range 2 {
		if n, err := processes[1].Next(t.Context(), Period{Name: minutes(old), At: old}); !errors.Is(err, ErrPeriodOver) {
			t.Errorf("a period that is long over gives %d, %v", n, err)
		}
	}
}

func TestPeriodsTogether(t *testing.T) {
	store := newFakeKV()
	p := NewPeriods(NewCASStore(store, "", "p", time.Now), "bill", Options{})
	defer p.Close()
	at := time.Now()
	var mu sync.Mutex
	seen := map[uint64]bool{}
	var callers sync.WaitGroup
	for range 16 {
		callers.Go(func() {
			for range 500 {
				n, err := p.Next(t.Context(), Period{Name: "p1", At: at})
				mu.Lock()
				if err != nil || seen[n] {
					t.Error(n, err)
				}
				seen[n] = true
				mu.Unlock()
			}
		})
	}
	callers.Wait()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	p.loading[xxhash.Sum64String("")%loadings] <- struct{}{}
	if _, err := p.Next(ctx, Period{Name: "p2", At: at}); !errors.Is(err, context.Canceled) {
		t.Errorf("who gives up: %v", err)
	}
}
