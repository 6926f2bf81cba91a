package segment

import (
	"context"
	"errors"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
	"unsafe"

	"go.uber.org/goleak"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/internal/test/distinct"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func TestRunsAreConsecutive(t *testing.T) {
	s := open(t, &granting{}, Options{Groups: 1, MinStep: 100, MaxStep: 100})
	for _, v := range []struct {
		n    int
		want uint64
	}{
		{1, 1},
		{99, 2},    // the rest of the first segment
		{100, 101}, // a whole one
		{60, 201},
		{60, 301}, // 261 to 300 are too few for a run of 60, and are lost
		{40, 361}, // to the end
		{1, 401},
	} {
		if got := take(t, s, v.n); got != v.want {
			t.Fatalf("run of %d begins at %d, want %d", v.n, got, v.want)
		}
	}
}

// According to the clock the rate is low, so segments would have 10 numbers.
func TestRunLongerThanTheNextSegment(t *testing.T) {
	store := &granting{}
	var hours atomic.Int64
	s := open(t, store, Options{
		Groups: 1, MinStep: 10, MaxStep: 1000,
		Now: func() time.Time { return time.Unix(3600*hours.Add(1), 0) },
	})
	take(t, s, 1)
	take(t, s, 1) // this requests a standby of 10
	first := take(t, s, 500)
	if next := take(t, s, 1); next < first+500 {
		t.Errorf("%d after a run from %d to %d", next, first, first+499)
	}
	if calls := store.count(); calls > 4 {
		t.Errorf("%d calls of the store", calls)
	}
	if _, err := s.Take(context.Background(), 0, 1001); err == nil {
		t.Error("a run above the max step was taken")
	}
}

// A call for more numbers than a run may have takes several runs.
func TestNumbersOfSeveralRuns(t *testing.T) {
	store := &granting{}
	g, err := NewNumbers(store, "tag", 0, Options{MinStep: 10, MaxStep: 100})
	if err != nil {
		t.Fatal(err)
	}
	defer g.Close(context.Background())
	var all distinct.Numbers
	for _, n := range []int{0, 1, 100, 101, 2163} {
		into := make([]uint64, n)
		if err := g.Fill(t.Context(), into); err != nil {
			t.Fatalf("%d numbers: %v", n, err)
		}
		all.Add(t, into...)
	}
}

// A process that ends at once loads only the numbers that it takes, and nothing ahead.
func TestLazy(t *testing.T) {
	store := &granting{}
	s := open(t, store, Options{Groups: 1, MinStep: 10, MaxStep: 10, Lazy: true})
	take(t, s, 10)
	if err := s.Close(context.Background()); err != nil { // Close waits for a load in progress
		t.Fatal(err)
	}
	if calls := store.count(); calls != 1 {
		t.Errorf("%d loads, want 1", calls)
	}
}

// A caller that calls advance with an outdated segment must check again. advance must neither load nor drop a segment then.
func TestAdvanceOfAnOldSegment(t *testing.T) {
	store := &granting{}
	s := open(t, store, Options{Groups: 1})
	take(t, s, 1)
	load, err := s.advance(&s.counters[0], newSpan(1, 10, 10), 1)
	if load != nil || err != nil || store.count() != 1 || take(t, s, 1) != 2 {
		t.Errorf("%v, %v, %d loads", load, err, store.count())
	}
}

func TestGroupsAreRangesOfGenes(t *testing.T) {
	for _, groups := range []int{1, 3, 16, 65536} {
		store := &granting{}
		s := open(t, store, Options{Groups: groups, MinStep: 10})
		for _, g := range []gene.Gene{0, 1, 0x7fff, 0x8000, 0xffff} {
			if _, err := s.Take(context.Background(), g, 1); err != nil {
				t.Fatal(err)
			}
		}
		if err := s.Close(context.Background()); err != nil { // loads under way end
			t.Fatal(err)
		}
		want := map[int]string{
			1: "g/00000", 3: "g/00000 g/00001 g/00002", 16: "g/00000 g/00007 g/00008 g/00015",
			65536: "g/00000 g/00001 g/32767 g/32768 g/65535",
		}[groups]
		for _, name := range strings.Fields(want) {
			if store.bound[name] == 0 {
				t.Errorf("%d groups: counter %s is not in use", groups, name)
			}
			delete(store.bound, name)
		}
		if len(store.bound) > 0 {
			t.Errorf("%d groups: also in use: %v", groups, store.bound)
		}
	}
}

func TestTakeRefuses(t *testing.T) {
	s := open(t, &granting{}, Options{Groups: 3, MaxStep: 1000})
	for want, take := range map[string]func() (uint64, error){
		"take numbers of gene 0x010000: it is beyond 0xffff, the last one of layout int64": func() (uint64, error) {
			return s.Take(context.Background(), 0x10000, 1)
		},
		"take 0 numbers of gene 0x0007: a run has 1 to 1000: split it, or raise the max step": func() (uint64, error) {
			return s.Take(context.Background(), 7, 0)
		},
		"take 1001 numbers of gene 0x0007: a run has 1 to 1000: split it, or raise the max step": func() (uint64, error) {
			return s.Take(context.Background(), 7, 1001)
		},
	} {
		if n, err := take(); err == nil || err.Error() != want || n != 0 {
			t.Errorf("%d, %v", n, err)
		}
	}
}

func TestNewReportsEverything(t *testing.T) {
	_, err := New(nil, orderid.Layout{}, Options{MinStep: 10, MaxStep: 5, Buffer: -1, LoadTimeout: -1})
	for _, want := range []string{
		"no store", "no layout", "0 counter groups: a cluster has 1 to 65536", "min step 10 is above max step 5", "buffer of -1ns", "load timeout of -1ns",
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in: %v", want, err)
		}
	}
}

// The last numbers of a layout are handed out, none after them, and the store is not asked again.
func TestExhausted(t *testing.T) {
	l := layoutNamed(t, "js53")
	last := l.MaxSequence().Lo
	store := &granting{bound: map[string]uint64{"g/00000": last - 15}}
	s, err := New(store, l, Options{Groups: 1, MinStep: 10, MaxStep: 10})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := s.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}()
	for want := last - 14; want <= last; want++ {
		if got := take(t, s, 1); got != want {
			t.Fatalf("%d, want %d", got, want)
		}
	}
	var exhausted *orderid.ExhaustedError
	for range 3 {
		_, err = s.Take(context.Background(), 0, 1)
		if !errors.As(err, &exhausted) || !errors.Is(err, orderid.ErrSequenceExhausted) || exhausted.Layout != l {
			t.Fatal(err)
		}
	}
	if store.count() > 3 {
		t.Errorf("%d calls of the store", store.count())
	}
}

func TestStoreThatRepeats(t *testing.T) {
	store := &granting{}
	s := open(t, store, Options{Groups: 1, MinStep: 10, MaxStep: 10})
	take(t, s, 10) // the whole segment; a standby was requested
	take(t, s, 1)  // so at least 1 to 20 are granted
	store.mu.Lock()
	store.bound["g/00000"] = 5
	store.mu.Unlock()
	handed := map[uint64]bool{}
	for range 100 {
		n, err := s.Take(context.Background(), 0, 1)
		if err != nil {
			if !errors.Is(err, ErrWentBack) {
				t.Fatal(err)
			}
			break
		}
		if handed[n] || n <= 11 {
			t.Fatalf("%d was handed out twice", n)
		}
		handed[n] = true
	}
	// Grants that do not repeat are used again.
	store.mu.Lock()
	store.bound["g/00000"] = 1000
	store.mu.Unlock()
	if n := take(t, s, 1); n != 1001 {
		t.Error(n)
	}
}

type oddGrants struct{ grant Grant }

func (o *oddGrants) Extend(context.Context, string, uint64) (Grant, error) { return o.grant, nil }

func TestGrantsThatNoStoreMayGive(t *testing.T) {
	for _, g := range []Grant{{}, {0, 9}, {1, 9}, {1, 11}, {10, 1}, {1, 0}} {
		s := open(t, &oddGrants{g}, Options{Groups: 1, MinStep: 10})
		if n, err := s.Take(context.Background(), 0, 1); err == nil {
			t.Errorf("%v: gave %d", g, n)
		}
	}
}

func TestCloseWaitsForLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		store := &granting{before: func(context.Context, uint64) error { <-release; return nil }} // deaf to its context
		s, err := New(store, layoutNamed(t, "int64"), Options{Groups: 1})
		if err != nil {
			t.Fatal(err)
		}
		waiting := make(chan error, 1)
		go func() {
			_, err := s.Take(context.Background(), 0, 1)
			waiting <- err
		}()
		synctest.Wait()

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := s.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a load runs, and Close says %v", err)
		}
		close(release)
		if err := s.Close(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-waiting; !errors.Is(err, ErrClosed) {
			t.Errorf("the waiting caller got %v", err)
		}
		if _, err := s.Take(t.Context(), 0, 1); !errors.Is(err, ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestCloseCancelsLoads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &granting{before: func(ctx context.Context, _ uint64) error { <-ctx.Done(); return ctx.Err() }}
		s := open(t, store, Options{Groups: 1, LoadTimeout: time.Hour})
		go func() { _, _ = s.Take(t.Context(), 0, 1) }()
		synctest.Wait()
		began := time.Now()
		if err := s.Close(t.Context()); err != nil || time.Since(began) > 0 {
			t.Errorf("closed after %s, %v", time.Since(began), err)
		}
	})
}

func TestClosedSegmentsGiveNothing(t *testing.T) {
	s := open(t, &granting{}, Options{Groups: 1})
	take(t, s, 1)
	if err := s.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	n, err := s.Take(context.Background(), 0, 1)
	if !errors.Is(err, ErrClosed) {
		t.Errorf("%d, %v", n, err)
	}
}

func TestTakeDoesNotAllocate(t *testing.T) {
	s := open(t, &granting{}, Options{Groups: 16, MinStep: 1_000_000})
	ctx := context.Background()
	g := gene.Gene(0)
	take(t, s, 200_000) // past the trigger, so that the standby is loaded outside the measurement
	if n := testing.AllocsPerRun(1000, func() { _, _ = s.Take(ctx, g, 3) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestCountersFillCacheLines(t *testing.T) {
	if size := unsafe.Sizeof(counter{}); size%64 != 0 {
		t.Errorf("a counter has %d bytes", size)
	}
	if size := unsafe.Sizeof(span{}); size != 64 {
		t.Errorf("a span has %d bytes", size)
	}
}
