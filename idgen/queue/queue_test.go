package queue

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
	"locus/idgen/ha"
	"locus/internal/test/distinct"
)

func counting(n *atomic.Uint64) idgen.Numbers {
	return idgen.Run{Take: func(_ context.Context, k int) (uint64, error) { return n.Add(uint64(k)) - uint64(k) + 1, nil }}
}

func TestNoNumberTwice(t *testing.T) {
	var n atomic.Uint64
	const most = 64
	q, err := New(counting(&n), Options{Bits: 3, Most: most})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	var all distinct.Numbers
	var takers sync.WaitGroup
	for range 8 {
		takers.Go(func() { all.Take(t, q, 500, 8) })
	}
	takers.Wait()
	if asked := n.Load(); asked > 18_000/8+most {
		t.Errorf("%d inner numbers for 18,000, of which %d may be ready", asked, most)
	}
}

// A slow generator does not delay callers whose numbers are ready. An error of the generator is returned to the
// callers that must wait, and the next caller makes the queue ask again.
func TestTheFiller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n atomic.Uint64
		failing := errors.New("away")
		var fails atomic.Bool
		slow := idgen.Run{Take: func(_ context.Context, k int) (uint64, error) {
			time.Sleep(10 * time.Millisecond) // virtual: how long the generator takes
			if fails.Load() {
				return 0, failing
			}
			return n.Add(uint64(k)) - uint64(k) + 1, nil
		}}
		q, err := New(slow, Options{Bits: 4})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		synctest.Wait()
		time.Sleep(20 * time.Millisecond) // virtual
		began := time.Now()
		for range 16 {
			if _, err := idgen.One(t.Context(), q); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(began); waited != 0 {
			t.Errorf("waited %s for what was ready", waited)
		}
		fails.Store(true)
		for range 200 {
			if _, err = idgen.One(t.Context(), q); err != nil {
				break
			}
		}
		if !errors.Is(err, failing) {
			t.Errorf("%v", err)
		}
		fails.Store(false)
		for range 3 {
			_, err = idgen.One(t.Context(), q)
		}
		if err != nil {
			t.Error(err)
		}
	})
}

func TestClosedAndBadBits(t *testing.T) {
	var n atomic.Uint64
	if _, err := New(counting(&n), Options{Bits: 21}); err == nil {
		t.Error("21 bits are taken")
	}
	q, err := New(counting(&n), Options{Bits: 2})
	if err != nil {
		t.Fatal(err)
	}
	q.Close()
	if _, err := idgen.One(t.Context(), q); !errors.Is(err, ErrClosed) {
		t.Error(err)
	}
	n.Store(1 << 62)
	q, err = New(counting(&n), Options{Bits: 2})
	if err != nil {
		t.Fatal(err)
	}
	defer q.Close()
	if got, err := idgen.One(t.Context(), q); !errors.Is(err, idgen.ErrOutOfRange) {
		t.Errorf("%d, %v: it wraps", got, err)
	}
}

// A caller that waits for many numbers gets them together, even if few were taken before and the generator is
// slow.
func TestWhoWaitsForMany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var calls atomic.Int64
		var n atomic.Uint64
		slow := idgen.Run{Take: func(_ context.Context, k int) (uint64, error) {
			calls.Add(1)
			time.Sleep(100 * time.Millisecond) // virtual: how long the generator takes
			return n.Add(uint64(k)) - uint64(k) + 1, nil
		}}
		q, err := New(slow, Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		began := time.Now()
		var takers sync.WaitGroup
		for range 16 {
			takers.Go(func() {
				if err := q.Fill(t.Context(), make([]uint64, 500)); err != nil {
					t.Error(err)
				}
			})
		}
		takers.Wait()
		if n, took := calls.Load(), time.Since(began); n > 5 || took > 500*time.Millisecond {
			t.Errorf("8,000 numbers in %s, by %d calls", took, n)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Millisecond)
		defer cancel()
		if err := q.Fill(ctx, make([]uint64, 100_000)); err == nil {
			t.Error("a caller that can't wait has numbers")
		}
		if q.lacks != 0 {
			t.Errorf("%d numbers are lacking, and nobody waits", q.lacks)
		}
	})
}

// The filler fetches more once the configured share of the ready numbers is used, or else only as many as callers wait for.
func TestPreload(t *testing.T) {
	for _, c := range []struct {
		preload, taken int
		fetched        uint64 // in all
	}{{25, 2, 8}, {25, 3, 11}, {50, 4, 8}, {50, 5, 13}, {75, 6, 8}, {75, 7, 15}, {100, 0, 0}, {100, 3, 3}} {
		synctest.Test(t, func(t *testing.T) {
			var n atomic.Uint64
			q, err := New(counting(&n), Options{Preload: c.preload, Most: 8})
			if err != nil {
				t.Fatal(err)
			}
			defer q.Close()
			q.mu.Lock()
			q.want, q.ready = 1<<20, nil // the state after a time in which many numbers were taken
			q.since = time.Now().Add(time.Hour)
			q.options.Now = func() time.Time { return q.since }
			q.mu.Unlock()
			q.wake <- struct{}{}
			synctest.Wait()
			before := n.Load() - min(n.Load(), 8)
			for range c.taken {
				if _, err := idgen.One(t.Context(), q); err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
			}
			if got := n.Load() - before; got != c.fetched {
				t.Errorf("preload at %d %%: %d numbers fetched after %d were taken, want %d", c.preload, got, c.taken, c.fetched)
			}
		})
	}
	if _, err := New(counting(new(atomic.Uint64)), Options{Preload: 101}); err == nil {
		t.Error("101 % are accepted")
	}
}

// While no caller waits, the filler makes one request for each interval. A caller that waits is served at once.
func TestInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const interval = 20 * time.Millisecond
		var n, requests atomic.Uint64
		inner := idgen.Run{Take: func(_ context.Context, k int) (uint64, error) {
			requests.Add(1)
			return n.Add(uint64(k)) - uint64(k) + 1, nil
		}}
		q, err := New(inner, Options{Ahead: 50 * time.Millisecond, Interval: interval, Preload: 1})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		began := time.Now()
		for range 4000 { // one call each millisecond wakes the filler
			if _, err := idgen.One(t.Context(), q); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Millisecond) // virtual
		}
		if asked, most := requests.Load(), uint64(time.Since(began)/interval); asked > most+most/4 || asked < most/5 {
			t.Errorf("%d requests in %s, want about one in %s", asked, time.Since(began), interval)
		}
		before := time.Now()
		if err := q.Fill(t.Context(), make([]uint64, 500)); err != nil || time.Since(before) > time.Millisecond {
			t.Errorf("a caller waited %s, %v", time.Since(before), err)
		}
	})
}

// frozen answers a call in time, or never.
type frozen struct {
	n      *atomic.Uint64
	after  time.Duration
	answer func() bool
}

func (f frozen) Fill(ctx context.Context, into []uint64) error {
	if !f.answer() {
		<-ctx.Done()
		return ctx.Err()
	}
	time.Sleep(f.after) // virtual
	for i := range into {
		into[i] = f.n.Add(1)
	}
	return nil
}

// Callers get numbers in the order in which they come. One that takes number after number delays no other, so each waits at most
// for the request in progress and for the next one. In front of two members of which one stops answering, no caller waits longer
// than the limit and two answers of the other one.
func TestNoCallerWaitsLongerThanTheLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const answer = 5 * time.Millisecond
		var one, other atomic.Uint64
		var stopped atomic.Bool
		members, err := ha.New(ha.Options{},
			frozen{&one, answer, func() bool { return !stopped.Load() }}, frozen{&other, answer, func() bool { return true }})
		if err != nil {
			t.Fatal(err)
		}
		defer members.Close()
		q, err := New(members, Options{Most: 8})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		var callers sync.WaitGroup
		for i := range 20 {
			callers.Go(func() {
				for k := range 400 {
					began := time.Now()
					if err := q.Fill(t.Context(), make([]uint64, 1+(i+k)%5)); err != nil {
						t.Error(err)
					}
					if waited := time.Since(began); waited > time.Second+10*answer {
						t.Errorf("caller %d waited %s", i, waited)
					}
				}
			})
		}
		time.Sleep(100 * time.Millisecond) // virtual
		stopped.Store(true)
		callers.Wait()
	})
}

// An error is for the callers that waited when its request began. One that came later gets the result of another request.
func TestWhoseErrorItIs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var n, calls atomic.Uint64
		failing := errors.New("away")
		inner := idgen.Run{Take: func(_ context.Context, k int) (uint64, error) {
			call := calls.Add(1)
			time.Sleep(10 * time.Millisecond) // virtual
			if call == 1 {
				return 0, failing
			}
			return n.Add(uint64(k)), nil
		}}
		q, err := New(inner, Options{Preload: 100})
		if err != nil {
			t.Fatal(err)
		}
		defer q.Close()
		var callers sync.WaitGroup
		for _, want := range []error{failing, nil} {
			callers.Go(func() {
				if _, err := idgen.One(t.Context(), q); !errors.Is(err, want) {
					t.Errorf("%v, want %v", err, want)
				}
			})
			time.Sleep(time.Millisecond) // virtual
		}
		callers.Wait()
	})
}
