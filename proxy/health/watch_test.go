package health

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"locus/router"
)

// fake is a server that answers as a test wants.
type fake struct {
	mu      sync.Mutex
	report  *Report // nil: no answer
	changed chan struct{}
	flows   bool // bytes come over connections of statements
	bytes   uint64
	frozen  error
	freezes int
	thaws   int
	turned  int // how often it was overdue
}

func (f *fake) Shard() router.ShardName { return "s0" }
func (f *fake) Addr() string            { return "10.0.0.1:3306" }
func (f *fake) Replica() bool           { return false }

func (f *fake) be(r *Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.report = r
	close(f.changed)
	f.changed = make(chan struct{})
}

func (f *fake) flow(flows bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.flows = flows
}

func (f *fake) Probe(ctx context.Context) Report {
	for {
		f.mu.Lock()
		report, changed := f.report, f.changed
		f.mu.Unlock()
		if report != nil {
			return *report
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return Report{Finding: Silent, Err: ctx.Err()}
		}
	}
}

func (f *fake) Received() uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.flows {
		f.bytes++
	}
	return f.bytes
}

func (f *fake) Freeze(why error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen, f.freezes = why, f.freezes+1
}

func (f *fake) Overdue(error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.turned++
}

func (f *fake) overdue() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.turned
}

func (f *fake) Thaw() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.frozen, f.thaws = nil, f.thaws+1
}

func (f *fake) counts() (freezes, thaws int, frozen error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.freezes, f.thaws, f.frozen
}

var errRefused = errors.New("connection refused")

// watching runs a test of one server on a virtual clock.
func watching(t *testing.T, test func(t *testing.T, f *fake, state func() State)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		f := &fake{report: &Report{}, changed: make(chan struct{})}
		servers := []Server{f}
		w := &Watch{Servers: func() []Server { return servers }, Log: slog.New(slog.DiscardHandler)}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.Run(ctx) })
		synctest.Wait()
		test(t, f, func() State {
			synctest.Wait()
			return w.Load().State("s0")
		})
		stop()
		running.Wait()
	})
}

// holds fails the test if the state is another one at some moment of a time.
func holds(t *testing.T, state func() State, want State, d time.Duration) {
	t.Helper()
	for end := time.Now().Add(d); time.Now().Before(end); time.Sleep(look / 2) { // virtual
		if got := state(); got != want {
			t.Fatalf("it is %v and not %v, %v before the end", got, want, time.Until(end))
		}
	}
}

// becomes fails the test if the state is not reached in a time.
func becomes(t *testing.T, state func() State, want State, within time.Duration) (took time.Duration) {
	t.Helper()
	began := time.Now()
	for ; time.Since(began) <= within; time.Sleep(look / 2) { // virtual
		if state() == want {
			return time.Since(began)
		}
	}
	t.Fatalf("it is %v after %v, and not %v", state(), within, want)
	return 0
}

func TestAServerThatSaysNothingIsFrozenUntilItAnswers(t *testing.T) {
	watching(t, func(t *testing.T, f *fake, state func() State) {
		f.flow(true)
		holds(t, state, Well, time.Minute)
		f.be(nil)
		f.flow(false)
		holds(t, func() State { return map[bool]State{true: Frozen}[state() == Frozen] }, Well, DefaultStall-time.Second)
		becomes(t, state, Frozen, 2*time.Second)
		holds(t, state, Frozen, 10*time.Minute)
		freezes, thaws, frozen := f.counts()
		if e, ok := errors.AsType[*FrozenError](frozen); freezes != 1 || thaws != 0 || !ok || e.Silent < DefaultStall {
			t.Fatalf("frozen %d times, thawed %d times, since %v", freezes, thaws, frozen)
		}
		f.be(&Report{})
		becomes(t, state, Slow, time.Second)
		if _, thaws, frozen := f.counts(); thaws != 1 || frozen != nil {
			t.Errorf("it answers: thawed %d times, since %v", thaws, frozen)
		}
		becomes(t, state, Well, 2*time.Second)
	})
}

// A request that another server can answer is sent to that server long before this one counts as frozen. It never is while
// this server is sending anything.
func TestASilentServerIsOverdueBeforeItIsFrozen(t *testing.T) {
	watching(t, func(t *testing.T, f *fake, state func() State) {
		f.flow(true)
		holds(t, state, Well, time.Minute)
		f.be(nil)
		becomes(t, state, Slow, 3*time.Second)
		holds(t, state, Slow, time.Minute)
		if n := f.overdue(); n != 0 {
			t.Errorf("overdue %d times, and statements are answered", n)
		}
		f.flow(false)
		began := time.Now()
		for f.overdue() == 0 {
			time.Sleep(look / 2) // virtual
			if since := time.Since(began); since > late+2*look {
				t.Fatalf("it is not overdue after %v", since)
			}
		}
		becomes(t, state, Frozen, DefaultStall)
		frozen := f.overdue()
		holds(t, state, Frozen, time.Minute)
		f.be(&Report{})
		becomes(t, state, Well, 5*time.Second)
		holds(t, state, Well, time.Minute)
		if n := f.overdue(); n != frozen {
			t.Errorf("overdue %d times more, while it was frozen or well", n-frozen)
		}
	})
}

func TestASlowStatementOfAServerThatAnswersProbesIsLeftAlone(t *testing.T) {
	watching(t, func(t *testing.T, f *fake, state func() State) {
		f.flow(false) // for an hour, no statement is answered
		holds(t, state, Well, time.Hour)
		if freezes, _, _ := f.counts(); freezes != 0 {
			t.Error("it was frozen")
		}
	})
}

func TestAServerThatAnswersStatementsAndNoProbesIsSlow(t *testing.T) {
	watching(t, func(t *testing.T, f *fake, state func() State) {
		f.flow(true)
		f.be(nil)
		becomes(t, state, Slow, 3*time.Second)
		holds(t, state, Slow, time.Hour)
		if freezes, _, _ := f.counts(); freezes != 0 {
			t.Error("it was frozen")
		}
	})
}

func TestAServerThatComesAndGoesIsNeverWell(t *testing.T) {
	watching(t, func(t *testing.T, f *fake, state func() State) {
		f.be(&Report{Finding: Refuses, Err: errRefused})
		becomes(t, state, Away, 2*time.Second)
		time.Sleep(every / 3) // virtual, and such that each second probe finds it there
		for range 100 {
			f.be(&Report{})
			holds(t, func() State { return map[bool]State{true: Well, false: Away}[state() == Well] }, Away, time.Second)
			f.be(&Report{Finding: Refuses, Err: errRefused})
			time.Sleep(time.Second) // virtual
		}
		f.be(&Report{})
		becomes(t, state, Well, 4*time.Second)
	})
}

func TestWhatARefusedLoginMeans(t *testing.T) {
	for _, c := range []struct {
		name   string
		report Report
		want   State
	}{
		{"a wrong password", Report{Finding: Refuses, Err: errors.New("access denied")}, Away},
		{"no more connections", Report{Finding: Full, Err: errors.New("too many connections")}, Slow},
	} {
		t.Run(c.name, func(t *testing.T) {
			watching(t, func(t *testing.T, f *fake, state func() State) {
				f.be(&c.report)
				becomes(t, state, c.want, 2*time.Second)
				holds(t, state, c.want, time.Hour)
				if freezes, _, _ := f.counts(); freezes != 0 {
					t.Error("what was under way there was ended")
				}
				f.be(&Report{})
				becomes(t, state, Well, 4*time.Second)
			})
		})
	}
}

func TestAServerThatWasAwayIsLoggedInToOnceItAnswers(t *testing.T) {
	watching(t, func(t *testing.T, f *fake, state func() State) {
		f.be(&Report{Finding: Refuses, Err: errRefused})
		becomes(t, state, Away, 2*time.Second)
		f.be(&Report{})
		becomes(t, state, Slow, 2*time.Second)
		if _, thaws, _ := f.counts(); thaws != 1 {
			t.Errorf("thawed %d times", thaws)
		}
	})
}

func TestAFrozenServerThatIsRestartedIsAway(t *testing.T) {
	watching(t, func(t *testing.T, f *fake, state func() State) {
		f.be(nil)
		becomes(t, state, Frozen, DefaultStall+2*time.Second)
		f.be(&Report{Finding: Refuses, Err: errRefused})
		becomes(t, state, Away, 2*time.Second)
		if _, thaws, frozen := f.counts(); thaws != 1 || frozen != nil {
			t.Errorf("statements don't wait for it: thawed %d times, %v", thaws, frozen)
		}
	})
}

func TestAReadOnlyServerIsNamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &fake{report: &Report{ReadOnly: true}, changed: make(chan struct{})}
		w := &Watch{Servers: func() []Server { return []Server{f} }, Log: slog.New(slog.DiscardHandler)}
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { w.Run(ctx) })
		time.Sleep(2 * time.Second) // virtual
		synctest.Wait()
		s := w.Load()
		if got := s.Servers[0]; got.State != ReadOnly || got.State.String() != "read-only" || !s.Well("s0") {
			t.Errorf("it is %+v; reads may go there: %v", got, s.Well("s0"))
		}
		stop()
		running.Wait()
	})
}

// A process that was suspended doesn't report a server as frozen because of bytes that it could not receive.
func TestAWatchThatWasStoppedItselfBlamesNobody(t *testing.T) {
	f := &fake{changed: make(chan struct{})}
	w := &Watch{Servers: func() []Server { return []Server{f} }, Log: slog.New(slog.DiscardHandler)}
	now := time.Now()
	w.step(now, 0, func(Server) {})
	for range 3 {
		now = now.Add(time.Hour)
		w.step(now, time.Hour, func(Server) {})
	}
	if freezes, _, _ := f.counts(); freezes != 0 {
		t.Fatal("it is frozen since this process did not run")
	}
	for range 2 * DefaultStall / look {
		now = now.Add(look)
		w.step(now, look, func(Server) {})
	}
	if freezes, _, _ := f.counts(); freezes != 1 {
		t.Fatal("it is not frozen though it has said nothing since")
	}
}

func TestServersThatAreGoneAreForgotten(t *testing.T) {
	f, other := &fake{changed: make(chan struct{})}, &fake{changed: make(chan struct{})}
	list := []Server{f, other}
	w := &Watch{Servers: func() []Server { return list }, Log: slog.New(slog.DiscardHandler)}
	now := time.Now()
	w.step(now, 0, func(Server) {})
	list = []Server{other}
	w.step(now.Add(look), look, func(Server) {})
	if n := len(w.Load().Servers); n != 1 {
		t.Errorf("%d servers are known", n)
	}
}
