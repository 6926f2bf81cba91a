package segment

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/idgen/gene"
)

// Processes take numbers of all genes while several processes change the number of groups repeatedly, over a
// store that loses answers. No gene gets a number twice, and no process keeps the old groups.
func TestRegroupWhileNumbersAreTaken(t *testing.T) {
	const processes, width = 3, 16
	kv := newFakeKV()
	kv.fault = func(string) fault {
		if n := rand.N(60); n < 4 {
			return fault(n)
		}
		return noFault
	}
	var mu sync.Mutex
	given := map[gene.Gene]map[uint64]bool{} // numbers by gene
	taken, more := 0, sync.NewCond(&mu)
	stop := make(chan struct{})
	var takers, regroupers sync.WaitGroup
	var all []*Grouped
	for p := range processes {
		store := NewCASStore(kv, "/ids/", fmt.Sprint("process ", p), time.Now)
		var g *Grouped
		for g == nil {
			g, _ = OpenGrouped(t.Context(), store, store, layoutNamed(t, "int64"), Options{Groups: 4, MinStep: 8, MaxStep: 64})
		}
		all = append(all, g)
		for c := range 3 {
			random := rand.New(rand.NewPCG(uint64(p), uint64(c)))
			takers.Go(func() {
				for {
					select {
					case <-stop:
						return
					default:
					}
					gn := gene.Gene(random.Uint32N(16) << (width - 4))
					n := 1 + random.IntN(4)
					first, err := g.Take(context.Background(), gn, n)
					if err != nil {
						continue
					}
					mu.Lock()
					if given[gn] == nil {
						given[gn] = map[uint64]bool{}
					}
					for i := range uint64(n) {
						if given[gn][first+i] {
							t.Errorf("gene %s got %d twice", gn, first+i)
						}
						given[gn][first+i] = true
					}
					taken += n
					more.Broadcast()
					mu.Unlock()
				}
			})
		}
	}
	for p := range 2 {
		store := NewCASStore(kv, "/ids/", fmt.Sprint("operator ", p), time.Now)
		regroupers.Go(func() {
			for i, groups := range []int{1, 16, 3, 7, 2, 8} {
				mu.Lock()
				for until := taken + 200; taken < until; { // numbers are taken in this grouping
					more.Wait()
				}
				mu.Unlock()
				for store.Regroup(context.Background(), groups+p*i%2) != nil {
				}
			}
		})
	}
	regroupers.Wait()
	close(stop)
	takers.Wait()
	kv.mu.Lock()
	kv.fault = nil
	kv.mu.Unlock()
	store := NewCASStore(kv, "/ids/", "reader", time.Now)
	if err := store.Regroup(t.Context(), 5); err != nil {
		t.Fatal(err)
	}
	for i, g := range all {
		for range 20 { // segments of the grouping before are used up
			if _, err := g.Take(t.Context(), 0, 64); err != nil {
				t.Fatal(err)
			}
		}
		if g.Groups() != 5 {
			t.Errorf("process %d still goes by %d groups", i, g.Groups())
		}
		if err := g.Close(t.Context()); err != nil {
			t.Error(err)
		}
	}
	t.Logf("%d numbers", taken)
}

// A process that finds the groups changed after another one has opened the new groups continues with them, and
// does not wait for another change.
func TestWhoComesSecondAfterAChange(t *testing.T) {
	kv := newFakeKV()
	store := NewCASStore(kv, "/ids/", "test", time.Now)
	g, err := OpenGrouped(t.Context(), store, store, layoutNamed(t, "int64"), Options{Groups: 4})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	ended := g.current.Load()
	if err := store.Regroup(t.Context(), 7); err != nil {
		t.Fatal(err)
	}
	if err := g.open(t.Context(), ended); err != nil || g.Groups() != 7 {
		t.Fatalf("%d groups, %v", g.Groups(), err)
	}
	if first, err := g.takeMoved(t.Context(), 1, 1, ended, ErrMoved); err != nil || first != 1 {
		t.Errorf("%d, %v", first, err)
	}
}

// Group g of n begins above every old counter that shares a gene with it.
func TestBoundsAreCarriedOver(t *testing.T) {
	for _, k := range []int{1, 2, 3, 7, 16, 100} {
		for _, n := range []int{1, 2, 5, 16, 33} {
			bounds := make([]uint64, k)
			for i := range bounds {
				bounds[i] = rand.Uint64N(1000)
			}
			want := make([]uint64, n)
			for g := range uint64(1 << 16) {
				from, to := g*uint64(k)>>16, g*uint64(n)>>16
				want[to] = max(want[to], bounds[from])
			}
			for g := range n {
				if got := highestBelow(bounds, g, n); got != want[g] {
					t.Errorf("group %d of %d after %d groups begins above %d, want %d", g, n, k, got, want[g])
				}
			}
		}
	}
}

func TestAPinOfNonsenseIsRefused(t *testing.T) {
	for _, pin := range []string{`{"groups":70000}`, `{"groups":-1}`, `{"groups":4,"next":65537}`} {
		kv := newFakeKV()
		kv.put("/ids/groups", pin)
		store := NewCASStore(kv, "/ids/", "test", time.Now)
		_, err := OpenGrouped(t.Context(), store, store, layoutNamed(t, "int64"), Options{Groups: 4})
		if err == nil || !strings.Contains(err.Error(), "1 to 65536") {
			t.Errorf("%s: %v", pin, err)
		}
	}
}

func TestLeafSizing(t *testing.T) {
	now := time.Unix(0, 0)
	o := Options{Groups: 1, MinStep: 100, MaxStep: 1000, Sizing: Leaf}.withDefaults()
	var p pace
	for i, step := range []struct {
		after time.Duration
		want  uint64
	}{{0, 100}, {time.Minute, 200}, {14 * time.Minute, 400}, {20 * time.Minute, 400}, {time.Minute, 800}, {time.Minute, 1000}, {31 * time.Minute, 500}, {time.Hour, 250}, {time.Hour, 125}, {time.Hour, 100}} {
		now = now.Add(step.after)
		size := p.next(uint64(i), now, &o)
		if size != step.want {
			t.Errorf("load %d after %s has %d numbers, want %d", i, step.after, size, step.want)
		}
		p.loaded(uint64(i), now, size)
	}
}

func TestNumbersEndAndNeverWrap(t *testing.T) {
	g, err := NewNumbers(&granting{}, "tag", 5, Options{MinStep: 3, MaxStep: 3})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	var into [1]uint64
	for want := uint64(1); want <= 5; want++ {
		if err := g.Fill(t.Context(), into[:]); err != nil || into[0] != want {
			t.Fatalf("got %d, %v, want %d", into[0], err, want)
		}
	}
	for range 3 {
		if err := g.Fill(t.Context(), into[:]); err == nil || !strings.Contains(err.Error(), "sequence exhausted") {
			t.Fatalf("after the last number: %d, %v", into[0], err)
		}
	}
	if g.Share() > 0.01 {
		t.Errorf("%v of the numbers are said to be left", g.Share())
	}
}
