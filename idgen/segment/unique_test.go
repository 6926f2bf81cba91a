package segment

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"locus/idgen/gene"
)

// seen is the set of numbers of one counter that were handed out.
type seen struct{ bits []atomic.Uint64 }

// add returns false if the number was in the set already.
func (s *seen) add(n uint64) bool {
	bit := uint64(1) << (n % 64)
	return s.bits[n/64].Or(bit)&bit == 0
}

// Several processes with many goroutines use a store whose calls fail before, after and long after they took effect. No number
// is returned twice, and each caller's numbers increase.
func TestNoNumberTwice(t *testing.T) {
	const (
		processes, callers, groups = 3, 4, 4
		callsEach                  = 60_000
		numbers                    = 1 << 26 // more than are granted to a counter
	)
	kv := newFakeKV()
	calls := 0
	kv.fault = func(string) fault {
		calls++
		if calls%1000 < 200 { // longer than any caller retries
			return failBefore + fault(rand.N(3))
		}
		if n := rand.N(20); n < 4 {
			return fault(n)
		}
		return noFault
	}
	var counters [groups]seen
	for i := range counters {
		counters[i].bits = make([]atomic.Uint64, numbers/64)
	}
	var taken, refused atomic.Int64
	caller := func(s *Segments, random *rand.Rand) error {
		var last [groups]uint64
		for range callsEach {
			g := gene.Gene(random.Uint32N(1 << 16))
			n := 1 + random.IntN(40)*random.IntN(2)
			first, err := s.Take(context.Background(), g, n)
			if errors.Is(err, errFault) {
				refused.Add(1)
				continue
			}
			if err != nil {
				return err
			}
			group := uint64(g) * groups >> 16
			if first <= last[group] {
				return fmt.Errorf("counter %d gave %d after %d", group, first, last[group])
			}
			last[group] = first + uint64(n) - 1
			for i := first; i <= last[group]; i++ {
				if i >= numbers || !counters[group].add(i) {
					return fmt.Errorf("counter %d gave %d twice, or beyond %d", group, i, numbers)
				}
			}
			taken.Add(int64(n))
		}
		return nil
	}

	var wg sync.WaitGroup
	for p := range processes {
		store := hasty(NewCASStore(kv, "/ids/", fmt.Sprint("process ", p), time.Now))
		s := open(t, store, Options{Groups: groups, MinStep: 128, MaxStep: 4096, Buffer: 5 * time.Millisecond})
		for c := range callers {
			wg.Go(func() {
				if err := caller(s, rand.New(rand.NewPCG(uint64(p), uint64(c)))); err != nil {
					t.Error(err)
				}
			})
		}
	}
	wg.Wait()
	t.Logf("%d numbers taken, %d calls refused", taken.Load(), refused.Load())
	if taken.Load() < 5_000_000 || refused.Load() == 0 {
		t.Error("too little was tested")
	}
}
