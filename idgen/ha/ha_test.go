package ha

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locus/idgen"
)

var errAway = errors.New("away")

// inner counts, and takes its time.
type inner struct {
	n, calls atomic.Uint64
	took     atomic.Int64 // nanoseconds; below 0: it never answers
	err      atomic.Pointer[error]
}

func (i *inner) Fill(ctx context.Context, into []uint64) error {
	i.calls.Add(1)
	if took := i.took.Load(); took < 0 {
		<-ctx.Done()
		return ctx.Err()
	} else if took > 0 {
		select {
		case <-time.After(time.Duration(took)): // virtual
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	if err := i.err.Load(); err != nil {
		return *err
	}
	for k := range into {
		into[k] = i.n.Add(1)
	}
	return nil
}

func (i *inner) fails(err error) {
	if err == nil {
		i.err.Store(nil)
		return
	}
	i.err.Store(&err)
}

type fixture struct {
	inner []*inner
	*Generator
	mu   sync.Mutex
	seen map[uint64]bool
	told []Member
}

// run tests a generator over n members in virtual time.
func run(t *testing.T, n int, o Options, f func(t *testing.T, g *fixture)) {
	synctest.Test(t, func(t *testing.T) {
		g := &fixture{seen: map[uint64]bool{}}
		var members []idgen.Numbers
		for range n {
			g.inner = append(g.inner, &inner{})
			members = append(members, g.inner[len(g.inner)-1])
		}
		o.Changed = func(m Member) { g.told = append(g.told, m) }
		var err error
		if g.Generator, err = New(o, members...); err != nil {
			t.Fatal(err)
		}
		defer g.Close()
		f(t, g)
	})
}

// one takes a number and fails if it was returned before.
func (g *fixture) one(t *testing.T) {
	t.Helper()
	n, err := idgen.One(t.Context(), g)
	if err != nil {
		t.Fatal(err)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.seen[n] {
		t.Fatalf("%d twice", n)
	}
	g.seen[n] = true
}

func (g *fixture) states() (list []State) {
	for _, m := range g.Members() {
		list = append(list, m.State)
	}
	return list
}

// Numbers of members that generate the same numbers differ by the member's index.
func TestInTurnAndDistinct(t *testing.T) {
	run(t, 4, Options{}, func(t *testing.T, g *fixture) {
		for range 40 {
			g.one(t)
		}
		for i, in := range g.inner {
			if n := in.calls.Load(); n != 10 {
				t.Errorf("generator %d was asked %d times of 40", i, n)
			}
		}
	})
}

func TestWhoFailsIsProbedUntilItIsWell(t *testing.T) {
	run(t, 4, Options{}, func(t *testing.T, g *fixture) {
		g.inner[1].fails(errAway)
		for range 20 {
			g.one(t)
		}
		if n := g.inner[1].calls.Load(); n != 1 {
			t.Errorf("asked %d times while it is aside", n)
		}
		time.Sleep(3 * time.Second) // virtual
		for range 20 {
			g.one(t)
			synctest.Wait()
		}
		if n := g.inner[1].calls.Load(); n != 2 {
			t.Errorf("probed %d times in a pause", n-1)
		}
		g.inner[1].fails(nil)
		time.Sleep(3 * time.Second) // virtual
		for range 8 {
			g.one(t)
			synctest.Wait()
		}
		if s := g.Members()[1]; s.State != Well || s.Err != nil {
			t.Errorf("it answers, and is %s: %v", s.State, s.Err)
		}
		if len(g.told) != 2 || g.told[0].State != Aside || !errors.Is(g.told[0].Err, errAway) || g.told[1].State != Well {
			t.Errorf("told %v", g.told)
		}
	})
}

// Slow members are not asked while others are healthy, but they are if none is.
func TestSlowOnesComeLast(t *testing.T) {
	run(t, 4, Options{}, func(t *testing.T, g *fixture) {
		g.inner[2].took.Store(int64(200 * time.Millisecond))
		for range 40 {
			g.one(t)
		}
		if n := g.inner[2].calls.Load(); n != 3 || g.Members()[2].State != Slow {
			t.Errorf("asked %d times, %v", n, g.states())
		}
		for _, in := range g.inner {
			in.took.Store(int64(120 * time.Millisecond))
		}
		before := g.inner[2].calls.Load()
		for range 250 {
			g.one(t)
		}
		if n := g.inner[2].calls.Load() - before; n < 40 {
			t.Errorf("all are slow, and one of four had %d of 250 calls", n)
		}
		for _, in := range g.inner {
			in.took.Store(0)
		}
		for range 8 {
			time.Sleep(time.Second) // virtual
			g.one(t)
			synctest.Wait()
		}
		for i, s := range g.states() {
			if s != Well {
				t.Errorf("generator %d answers at once and is %s", i, s)
			}
		}
	})
}

// The work of a member before its first answer may take longer than any call's time limit. A timeout restarts
// that work.
func TestWhoTakesLongerBeforeItsFirstAnswer(t *testing.T) {
	run(t, 2, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].took.Store(int64(7 * time.Second))
		for g.Members()[0].State != Slow {
			g.one(t)
			time.Sleep(time.Second) // virtual
			if time.Since(g.began) > time.Minute {
				t.Fatal("it answers after 7 s, and was never waited for so long")
			}
		}
		g.inner[0].took.Store(0)
		for g.Members()[0].State != Well {
			g.one(t)
			time.Sleep(time.Second) // virtual
		}
		g.inner[0].took.Store(-1)
		for range 100 { // each has a bound
			g.one(t)
			time.Sleep(time.Second) // virtual
		}
		calls := g.inner[0].calls.Load()
		for range 100 {
			g.one(t)
			time.Sleep(time.Second) // virtual
		}
		if n := g.inner[0].calls.Load() - calls; n < 100/(8+2+1) {
			t.Errorf("probed %d times in 100 s", n)
		}
	})
}

// The last remaining member gets the request even if it is unhealthy.
func TestTheLastOneIsAlwaysAsked(t *testing.T) {
	run(t, 2, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].fails(errAway)
		g.inner[1].fails(errAway)
		if n, err := idgen.One(t.Context(), g); !errors.Is(err, errAway) {
			t.Errorf("%d, %v", n, err)
		}
		g.inner[1].fails(nil)
		for range 10 {
			g.one(t)
		}
	})
}

// A member that never answers costs its first callers Timeout, and later callers nothing.
func TestWhoNeverAnswers(t *testing.T) {
	run(t, 2, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].took.Store(-1)
		began := time.Now()
		var callers sync.WaitGroup
		for range 10 {
			callers.Go(func() { g.one(t) })
		}
		synctest.Wait()
		if n := len(g.seen); n != 5 {
			t.Errorf("%d of 10 were answered at once", n)
		}
		time.Sleep(200 * time.Millisecond) // virtual
		for range 10 {
			g.one(t)
		}
		if took := time.Since(began); took != 200*time.Millisecond {
			t.Errorf("who came while calls were stuck waited for %s", took-200*time.Millisecond)
		}
		callers.Wait()
		if took := time.Since(began); took != time.Second {
			t.Errorf("who asked the one that never answers waited for %s", took)
		}
	})
}

// If one member answers, a caller waits at most the limit for the others, plus the time of that member. This holds however
// many others never answer, or take nearly as long as the limit, and at whatever time the caller arrives.
func TestNoCallerWaitsLongerThanTheLimit(t *testing.T) {
	const answer = time.Millisecond
	for _, n := range []int{2, 4, 8, 64} {
		for _, took := range []time.Duration{-1, 240 * time.Millisecond, 260 * time.Millisecond, 990 * time.Millisecond, 3 * time.Second} {
			for _, healthy := range []int{n / 2, n - 1} {
				run(t, n, Options{Aside: 10 * time.Millisecond}, func(t *testing.T, g *fixture) {
					for i, in := range g.inner {
						in.took.Store(int64(took))
						if i == healthy {
							in.took.Store(int64(answer))
						}
					}
					var callers sync.WaitGroup
					for i := range 200 {
						callers.Go(func() {
							time.Sleep(time.Duration(i) * 17 * time.Millisecond) // virtual
							began := time.Now()
							g.one(t)
							if waited := time.Since(began); waited > time.Second+answer {
								t.Errorf("%d members, of which all but one take %s: a caller waited %s", n, took, waited)
							}
						})
					}
					callers.Wait()
				})
			}
		}
	}
}

// If all members need the same time, up to half of the limit, a call waits only for one, however many others could be asked after it.
func TestMembersThatAllNeedAWhileAnswer(t *testing.T) {
	for _, n := range []int{2, 4, 8, 64} {
		for _, took := range []time.Duration{30 * time.Millisecond, 200 * time.Millisecond, 450 * time.Millisecond} {
			run(t, n, Options{}, func(t *testing.T, g *fixture) {
				for _, in := range g.inner {
					in.took.Store(int64(took))
				}
				for range 20 {
					began := time.Now()
					g.one(t)
					if waited := time.Since(began); waited > took {
						t.Errorf("%d members that take %s: a caller waited %s", n, took, waited)
					}
					time.Sleep(100 * time.Millisecond) // virtual
				}
			})
		}
	}
}

// If the caller's own time ends, that reveals nothing about a member. A member that doesn't answer within its share of the
// limit is asked again after the others have failed.
func TestWhoIsLateIsWaitedForInTheEnd(t *testing.T) {
	run(t, 2, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].took.Store(int64(3 * time.Second))
		g.inner[1].fails(errAway)
		for range 10 {
			g.one(t)
		}
	})
	run(t, 4, Options{}, func(t *testing.T, g *fixture) { // holds however many members never answer, and whichever is asked last
		for i, in := range g.inner {
			in.took.Store(-1)
			if i == 1 {
				in.took.Store(int64(3 * time.Second))
			}
		}
		for range 10 {
			began := time.Now()
			g.one(t)
			if took := time.Since(began); took > 27*time.Second {
				t.Errorf("%s until the one has answered that does", took)
			}
		}
	})
	run(t, 2, Options{}, func(t *testing.T, g *fixture) { // the last one has the whole limit before the others are asked again
		g.inner[0].took.Store(-1)
		g.inner[1].took.Store(int64(900 * time.Millisecond))
		began := time.Now()
		g.one(t)
		if took := time.Since(began); took != 1900*time.Millisecond {
			t.Errorf("%s until the last one has answered, which takes 900 ms", took)
		}
	})
	run(t, 2, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].took.Store(-1)
		g.inner[1].fails(errAway)
		ctx, cancel := context.WithTimeout(t.Context(), 4*time.Second)
		defer cancel()
		began := time.Now()
		if n, err := idgen.One(ctx, g); err == nil || time.Since(began) != 4*time.Second {
			t.Errorf("%d, %v, after %s", n, err, time.Since(began))
		}
	})
}

func TestACallersEnd(t *testing.T) {
	run(t, 2, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].took.Store(-1)
		g.inner[1].took.Store(-1)
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		defer cancel()
		if _, err := idgen.One(ctx, g); !errors.Is(err, context.DeadlineExceeded) {
			t.Error(err)
		}
		if s := g.states(); s[0] != Well || s[1] != Well {
			t.Errorf("%v", s)
		}
		if g.inner[0].calls.Load()+g.inner[1].calls.Load() != 1 {
			t.Error("a caller that is gone has another member asked")
		}
	})
}

func TestWhoIsOutOfRangeIsFinished(t *testing.T) {
	run(t, 4, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].n.Store(1 << 61)
		for range 8 {
			g.one(t)
		}
		time.Sleep(time.Hour) // virtual
		for range 8 {
			g.one(t)
			synctest.Wait()
		}
		if n := g.inner[0].calls.Load(); n != 1 {
			t.Errorf("asked %d times", n)
		}
		for _, in := range g.inner {
			in.n.Store(1 << 61)
		}
		for range 2 {
			if n, err := idgen.One(t.Context(), g); !errors.Is(err, idgen.ErrOutOfRange) {
				t.Errorf("%d, %v", n, err)
			}
		}
	})
}

func TestHowMany(t *testing.T) {
	for _, n := range []int{0, 3, 6, 2048} {
		if _, err := New(Options{}, make([]idgen.Numbers, n)...); err == nil {
			t.Errorf("%d generators are taken", n)
		}
	}
}

// A call waits for a member that is not asked for a while because it failed before, if no other member answers
// and its server is healthy again.
func TestWhoIsNotAskedForAWhileIsWaitedFor(t *testing.T) {
	run(t, 2, Options{}, func(t *testing.T, g *fixture) {
		g.inner[0].fails(fmt.Errorf("the store %w", idgen.ErrNotAsked))
		g.inner[1].fails(errors.New("away"))
		go func() {
			time.Sleep(2 * time.Second) // virtual
			g.inner[0].fails(nil)
		}()
		g.one(t)
		g.inner[0].fails(fmt.Errorf("the store %w", idgen.ErrNotAsked))
		began := time.Now()
		if _, err := idgen.One(t.Context(), g); !errors.Is(err, idgen.ErrNotAsked) || !strings.Contains(err.Error(), "away") {
			t.Errorf("%v", err)
		}
		if waited := time.Since(began); waited < notAskedFor || waited > notAskedFor+time.Second {
			t.Errorf("waited %s for a server that is not asked", waited)
		}
	})
}
