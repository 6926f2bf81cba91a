package segment

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// Many callers cross the trigger, and many wait on empty: one load each time.
func TestExactlyOneLoader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		proceed := make(chan struct{})
		store := &granting{before: func(context.Context, uint64) error { <-proceed; return nil }}
		s := open(t, store, Options{Groups: 1, MinStep: 1000, MaxStep: 1000})
		got := make(chan uint64, 3000)
		start := func(callers int) {
			for range callers {
				go func() { got <- take(t, s, 1) }()
			}
			synctest.Wait()
		}

		start(50) // all wait for the first segment
		proceed <- struct{}{}
		synctest.Wait()
		if len(got) != 50 || store.count() != 1 {
			t.Fatalf("%d numbers after %d loads", len(got), store.count())
		}

		start(900) // this crosses the trigger; the load hangs, and no caller waits for it
		if len(got) != 950 {
			t.Fatalf("%d numbers while the standby is loaded", len(got))
		}
		start(100) // use up the segment: 50 wait
		if len(got) != 1000 {
			t.Fatalf("%d numbers of 1000", len(got))
		}
		proceed <- struct{}{}
		synctest.Wait()
		select {
		case proceed <- struct{}{}:
			t.Error("a second load was under way")
		default:
		}
		if len(got) != 1050 || store.count() != 2 {
			t.Errorf("%d numbers after %d loads", len(got), store.count())
		}
		close(proceed)
	})
}

func TestCallersDeadlineWhileTheStoreHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		store := &granting{before: func(ctx context.Context, _ uint64) error { <-ctx.Done(); return ctx.Err() }}
		s := open(t, store, Options{Groups: 1, LoadTimeout: time.Minute})
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		_, err := s.Take(ctx, 0, 5)
		if waited := time.Since(began); waited != 3*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("waited %s, %v", waited, err)
		}
		want := "take 5 numbers of counter g/00000: wait for the store: context deadline exceeded: no ID was issued"
		if err == nil || err.Error() != want {
			t.Error(err)
		}
		// The load continues. A caller that waits longer gets its error.
		_, err = s.Take(t.Context(), 0, 5)
		if waited := time.Since(began); waited != time.Minute || err == nil {
			t.Errorf("waited %s, %v", waited, err)
		}
	})
}

func TestStoreThatFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		down := errors.New("store is down")
		failing := true
		attempts := 0
		store := &granting{}
		store.before = func(context.Context, uint64) error {
			attempts++
			if failing {
				return down
			}
			return nil
		}
		s := open(t, store, Options{Groups: 1, MinStep: 100, MaxStep: 100})

		for range 2 { // each call tries again
			_, err := s.Take(t.Context(), 0, 1)
			want := "take 1 numbers of counter g/00000: store is down: no ID was issued"
			if !errors.Is(err, down) || err.Error() != want {
				t.Fatal(err)
			}
		}
		if attempts != 2 {
			t.Fatalf("%d attempts", attempts)
		}
		failing = false
		take(t, s, 1)
		failing, attempts = true, 0

		// In the background it is retried at each further tenth.
		for range 99 {
			take(t, s, 1)
			synctest.Wait()
		}
		if attempts < 5 || attempts > 10 {
			t.Errorf("%d attempts in the background", attempts)
		}
		if _, err := s.Take(t.Context(), 0, 1); !errors.Is(err, down) {
			t.Errorf("all is used up: %v", err)
		}
		failing = false
		if n := take(t, s, 1); n != 101 {
			t.Errorf("%d after the store is back", n)
		}
	})
}

// At a steady rate, one call of the store per buffer time is enough, and no caller waits for it.
func TestOneRoundTripPerBuffer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const latency = 200 * time.Millisecond
		store := &granting{before: func(context.Context, uint64) error { time.Sleep(latency); return nil }} // virtual
		sizes := make(chan uint64, 100)
		s := open(t, store, Options{
			Groups: 1, MinStep: 100, MaxStep: 1_000_000, Buffer: 10 * time.Second,
			Observe: func(l Loaded) {
				sizes <- l.Size
				if l.Took != latency || l.Err != nil || l.Grant.Last-l.Grant.First != l.Size-1 || l.Counter != "g/00000" || l.Max != 1<<42-1 {
					t.Errorf("observed %+v", l)
				}
			},
		})
		take(t, s, 1)
		const perSecond, seconds = 200, 300
		waited := 0
		for range perSecond * seconds {
			began := time.Now()
			take(t, s, 1)
			if time.Since(began) > 0 {
				waited++
			}
			time.Sleep(time.Second / perSecond) // virtual
		}
		if waited > 0 {
			t.Errorf("%d callers waited", waited)
		}
		synctest.Wait()
		if calls := store.count(); calls > seconds/10+5 {
			t.Errorf("%d calls of the store in %d s", calls, seconds)
		}
		var last uint64
		for len(sizes) > 0 {
			last = <-sizes
		}
		if last < 1950 || last > 2050 {
			t.Errorf("a segment of %d: at %d/s 10 s are 2000", last, perSecond)
		}
	})
}

func TestPace(t *testing.T) {
	o := Options{MinStep: 100, MaxStep: 10_000, Buffer: 10 * time.Second}
	began := time.Unix(1000, 0)
	for name, v := range map[string]struct {
		taken   uint64
		elapsed time.Duration
		want    uint64
	}{
		"rate × buffer":    {500, 10 * time.Second, 500},
		"above max step":   {5000, time.Second, 10_000},
		"below min step":   {5, 10 * time.Second, 100},
		"nothing taken":    {0, time.Second, 100},
		"no time passed":   {50, 0, 10_000},
		"clock went back":  {50, -time.Hour, 10_000},
		"far above 64 bit": {1 << 63, time.Nanosecond, 10_000},
	} {
		var p pace
		if got := p.measured(77, began, &o); got != o.MinStep {
			t.Errorf("first segment of %d", got)
		}
		p.loaded(1000, began, 0)
		if got := p.measured(1000+v.taken, began.Add(v.elapsed), &o); got != v.want {
			t.Errorf("%s: %d, want %d", name, got, v.want)
		}
	}
}

func TestErrorsSayWhatHappened(t *testing.T) {
	kv := newFakeKV()
	kv.fault = func(op string) fault {
		if op == "swap" {
			return failAfter
		}
		return noFault
	}
	s := open(t, hasty(NewCASStore(kv, "/ids/", "p", time.Now)), Options{Groups: 1, MinStep: 10})
	_, err := s.Take(t.Context(), 0, 1)
	want := "take 1 numbers of counter g/00000: extend /ids/g/00000 from 70 to 80: compare-and-swap: connection lost: " +
		"these numbers may be lost: no ID was issued"
	if err == nil || err.Error() != want {
		t.Error(err)
	}
	kv.mu.Lock()
	kv.fault = nil
	kv.mu.Unlock()
	if n := take(t, s, 1); n != 81 {
		t.Errorf("%d: 1 to 80 are lost", n)
	}
	if text := kv.text("/ids/g/00000"); !strings.HasPrefix(text, `{"bound":90,"by":"p","at":"`) {
		t.Error(text)
	}
}
