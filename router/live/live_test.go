package live_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"locus/router/live"
)

// state is what the tests build: the value of k, unless it begins with "bad".
type state struct{ text string }

func build(_ context.Context, values map[string][]byte, _ int64) (*state, error) {
	text := string(values["k"])
	if strings.HasPrefix(text, "bad") {
		return nil, fmt.Errorf("%q is refused", text)
	}
	return &state{text}, nil
}

func configOf(s *source) live.Config[state] {
	return live.Config[state]{Source: s, Build: build}
}

// running starts a Live in a synctest bubble and runs it until the test ends.
func running(t *testing.T, c live.Config[state]) *live.Live[state] {
	t.Helper()
	l := live.New(c)
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	follow(t, l)
	return l
}

func follow(t *testing.T, l *live.Live[state]) {
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- l.Run(ctx) }()
	t.Cleanup(func() {
		cancel()
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Errorf("Run ended with %v", err)
		}
	})
	synctest.Wait()
}

func expect(t *testing.T, l *live.Live[state], want string) {
	t.Helper()
	synctest.Wait()
	if got := l.Load(); got == nil || got.text != want {
		t.Errorf("in force is %+v, want %q", got, want)
	}
}

func TestAChangeComesIntoForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		l := running(t, configOf(s))
		expect(t, l, "a")
		before := l.Load()
		s.set("b")
		expect(t, l, "b")
		if before.text != "a" {
			t.Error("the old state was edited")
		}
		if got := l.Status(); got.Revision != 11 || got.Away != nil || got.Refused != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestNothingIsInForceBeforeTheFirstRead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("bad")
		l := live.New(configOf(s))
		if l.Load() != nil {
			t.Error("a state out of nowhere")
		}
		if err := l.Start(t.Context()); err == nil || err.Error() != `"bad" is refused` || l.Load() != nil {
			t.Errorf("%v", err)
		}
		if got := l.Status().String(); got != `no state, read 0s ago, revision 10 refused: "bad" is refused` {
			t.Errorf("%s", got)
		}
		s.goAway(errAway)
		if err := l.Start(t.Context()); !errors.Is(err, errAway) {
			t.Errorf("%v", err)
		}
		s.goAway(nil)
		s.set("a")
		follow(t, l) // Start has failed before
		expect(t, l, "a")
	})
}

func TestARefusedStateLeavesTheOneInForce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		var log bytes.Buffer
		c := configOf(s)
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		l := running(t, c)
		s.set("bad1")
		expect(t, l, "a")
		got := l.Status()
		if got.Revision != 10 || got.RefusedRevision != 11 || got.Refused == nil || got.Refused.Error() != `"bad1" is refused` {
			t.Errorf("%+v", got)
		}
		time.Sleep(time.Hour) // virtual: tried again and again
		synctest.Wait()
		if n := strings.Count(log.String(), "state refused"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, log.String())
		}
		s.set("b")
		expect(t, l, "b")
		if got := l.Status(); got.Revision != 12 || got.Refused != nil || got.RefusedRevision != 0 {
			t.Errorf("%+v", got)
		}
	})
}

// The reason of a refusal may pass without a change of the source.
func TestARefusedStateIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		c := configOf(s)
		var ready atomic.Bool
		c.Build = func(ctx context.Context, values map[string][]byte, revision int64) (*state, error) {
			if string(values["k"]) == "b" && !ready.Load() {
				return nil, errors.New("a shard doesn't have the column yet")
			}
			return build(ctx, values, revision)
		}
		l := running(t, c)
		s.set("b")
		expect(t, l, "a")
		ready.Store(true)
		time.Sleep(time.Minute) // virtual
		expect(t, l, "b")
	})
}

func TestTheSourceGoesAwayAndComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		var log bytes.Buffer
		c := configOf(s)
		c.Log = slog.New(slog.NewTextHandler(&log, nil))
		l := running(t, c)
		s.goAway(errAway)
		time.Sleep(time.Hour) // virtual
		expect(t, l, "a")
		got := l.Status()
		if !errors.Is(got.Away, errAway) || time.Since(got.Confirmed) < 59*time.Minute {
			t.Errorf("%+v", got)
		}
		if text := got.String(); text != "revision 10, read 59m30s ago, etcd unreachable: nobody home" && text != "revision 10, read 1h0m0s ago, etcd unreachable: nobody home" {
			t.Errorf("%s", text)
		}
		s.hush("b")
		s.goAway(nil)
		time.Sleep(time.Minute) // virtual
		expect(t, l, "b")
		if got := l.Status(); got.Away != nil || time.Since(got.Confirmed) > time.Minute {
			t.Errorf("%+v", got)
		}
		if n := strings.Count(log.String(), "etcd unreachable"); n != 1 {
			t.Errorf("logged %d times:\n%s", n, log.String())
		}
	})
}

func TestAChangeThatWasNotToldOfIsFound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		c := configOf(s)
		c.Refresh = time.Minute
		l := running(t, c)
		s.hush("b")
		time.Sleep(59 * time.Second) // virtual
		expect(t, l, "a")
		time.Sleep(time.Second) // virtual
		expect(t, l, "b")
	})
}

// A read without a change must not replace the state, because sessions would discard what they derive from it
// every half minute.
func TestTheSameValuesStayTheSameState(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		l := running(t, configOf(s))
		before, reads := l.Load(), s.readsSoFar()
		s.set("a")            // the revision alone moves
		time.Sleep(time.Hour) // virtual
		synctest.Wait()
		if l.Load() != before || s.readsSoFar() < reads+60 {
			t.Errorf("replaced: %v, after %d reads", l.Load() != before, s.readsSoFar()-reads)
		}
	})
}

func TestWhatWasReadAlreadyIsNotReadAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		l := running(t, configOf(s))
		s.set("b")
		expect(t, l, "b")
		reads := s.readsSoFar()
		s.tell()
		synctest.Wait()
		if again := s.readsSoFar() - reads; again != 0 {
			t.Errorf("read %d times more", again)
		}
	})
}

// Confirm reads changes that the watch has not reported, and keeps the state if there are none.
func TestConfirmReadsTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		l := running(t, configOf(s))
		before := l.Load()
		if err := l.Confirm(t.Context()); err != nil || l.Load() != before {
			t.Errorf("nothing had changed: replaced %v, %v", l.Load() != before, err)
		}
		s.hush("b")
		if err := l.Confirm(t.Context()); err != nil || l.Load().text != "b" {
			t.Errorf("in force is %+v, %v", l.Load(), err)
		}
	})
}

// Confirm doesn't return before a read that began after the call has succeeded and its state is in force.
func TestConfirmWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		var meanwhile func()
		c := configOf(s)
		c.Build = func(ctx context.Context, values map[string][]byte, revision int64) (*state, error) {
			if meanwhile != nil {
				meanwhile()
			}
			return build(ctx, values, revision)
		}
		l := running(t, c)
		confirmed := make(chan string)
		confirm := func() {
			if err := l.Confirm(t.Context()); err != nil {
				t.Error(err)
			}
			confirmed <- l.Load().text
		}
		meanwhile = func() { // Live is building the state from the values that it read before the call
			meanwhile = nil
			s.hush("c")
			go confirm()
			synctest.Wait()
		}
		s.set("b")
		if got := <-confirmed; got != "c" {
			t.Errorf("confirmed %q", got)
		}
		s.goAway(errAway)
		s.hush("d")
		go confirm()
		synctest.Wait()
		s.goAway(nil)
		if got := <-confirmed; got != "d" {
			t.Errorf("confirmed %q after the source had been away", got)
		}
		s.hush("bad")
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := l.Confirm(ctx); !errors.Is(err, context.DeadlineExceeded) || l.Load().text != "d" {
			t.Errorf("confirmed what is refused: %v", err)
		}
	})
}

func TestAnOlderRevisionIsRefused(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		l := running(t, configOf(s))
		s.set("b")
		expect(t, l, "b")
		s.hush("old")
		s.rewind(5)
		time.Sleep(time.Minute) // virtual
		expect(t, l, "b")
		if got := l.Status(); got.RefusedRevision != 5 || !strings.Contains(fmt.Sprint(got.Refused), "restored from a backup") {
			t.Errorf("%+v", got)
		}
		s.hush("b")
		s.rewind(11)
		time.Sleep(time.Minute) // virtual
		synctest.Wait()
		if got := l.Status(); got.Refused != nil {
			t.Errorf("%+v", got)
		}
	})
}

func TestRunEndsWhenTheSourceHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		l := live.New(configOf(s))
		done := make(chan error, 1)
		go func() { done <- l.Run(t.Context()) }()
		synctest.Wait()
		s.end()
		if err := <-done; err == nil || err.Error() != "the source has ended" {
			t.Errorf("%v", err)
		}
		if l.Load() == nil {
			t.Error("the last state is gone")
		}
	})
}

func TestReadsAndBuildsHaveADeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		c := configOf(s)
		c.Build = func(ctx context.Context, _ map[string][]byte, _ int64) (*state, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		}
		began := time.Now()
		if err := live.New(c).Start(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 30*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		c.Source = stuck{s}
		began = time.Now()
		if err := live.New(c).Start(t.Context()); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
	})
}

// stuck never answers.
type stuck struct{ *source }

func (stuck) Read(ctx context.Context, _ int64) (map[string][]byte, int64, error) {
	<-ctx.Done()
	return nil, 0, ctx.Err()
}

func TestASavedStateServesWithoutTheSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "state.json")
		s := newSource("a")
		c := configOf(s)
		c.Save = func(values map[string][]byte, revision int64) error { return live.WriteFile(path, values, revision) }
		l := running(t, c)
		s.set("b")
		expect(t, l, "b")
		s.set("bad")
		time.Sleep(2 * time.Second) // virtual; it is saved a moment later

		s.goAway(errAway)
		second := live.New(configOf(s))
		if err := second.Start(t.Context()); !errors.Is(err, errAway) {
			t.Fatal(err)
		}
		values, revision, err := live.ReadFile(path)
		if err != nil || revision != 11 {
			t.Fatalf("%d, %v", revision, err)
		}
		if err := second.Restore(t.Context(), values, revision); err != nil {
			t.Fatal(err)
		}
		follow(t, second)
		expect(t, second, "b")
		if got := second.Status(); got.Revision != 11 || got.Away == nil || !got.Confirmed.IsZero() {
			t.Errorf("%+v", got)
		}
		s.hush("c")
		s.goAway(nil)
		time.Sleep(time.Minute) // virtual
		expect(t, second, "c")
	})
}

// A slow disk delays no acknowledgement. If several states follow quickly, only the last is saved, and at the
// end the one that is left.
func TestStatesAreSavedBesideAll(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newSource("a")
		c := configOf(s)
		var mu sync.Mutex
		var happened []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			happened = append(happened, what)
		}
		c.Save = func(values map[string][]byte, _ int64) error {
			time.Sleep(time.Minute) // virtual
			note(string(values["k"]) + " saved")
			return nil
		}
		c.Acknowledge = func(_ context.Context, st *state, _ int64) error {
			note(st.text)
			return nil
		}
		l := live.New(c)
		if err := l.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() { done <- l.Run(ctx) }()
		synctest.Wait()
		for _, text := range []string{"b", "c"} {
			s.set(text)
			expect(t, l, text)
		}
		time.Sleep(2 * time.Second) // virtual; now "c" is being saved
		s.set("d")
		expect(t, l, "d")
		cancel()
		<-done
		if got, want := strings.Join(happened, ", "), "a, b, c, d, c saved, d saved"; got != want {
			t.Errorf("%s; want %s", got, want)
		}
	})
}

func TestReadersNeverWait(t *testing.T) {
	s := newSource("0")
	c := configOf(s)
	last := make(chan struct{})
	c.Acknowledge = func(_ context.Context, st *state, _ int64) error {
		if st.text == "200" {
			close(last)
		}
		return nil
	}
	l := live.New(c)
	if err := l.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	var group sync.WaitGroup
	group.Go(func() { _ = l.Run(ctx) })
	for range 4 {
		group.Go(func() {
			last := 0
			for ctx.Err() == nil {
				var n int
				if _, err := fmt.Sscan(l.Load().text, &n); err != nil || n < last {
					t.Errorf("%q after %d", l.Load().text, last)
					return
				}
				last = n
				_ = l.Status()
			}
		})
	}
	for i := range 200 {
		s.set(fmt.Sprint(i + 1))
	}
	<-last
	cancel()
	group.Wait()
}
