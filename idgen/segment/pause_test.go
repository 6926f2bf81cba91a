package segment

import (
	"context"
	"errors"
	"testing"
	"time"
)

// pauseClock is a clock that advances by a second with each reading.
type pauseClock struct{ now time.Time }

func (c *pauseClock) read() time.Time {
	c.now = c.now.Add(time.Second)
	return c.now
}

func TestAPausedCounterGrantsNothing(t *testing.T) {
	kv := newFakeKV()
	setter, other := NewCASStore(kv, "t/", "a", time.Now), NewCASStore(kv, "t/", "b", time.Now)
	if _, err := other.Raise(t.Context(), "n", 1000); err != nil {
		t.Fatal(err)
	}
	p, err := setter.Pause(t.Context(), "n")
	if err != nil || p.Bound != 1000 {
		t.Fatalf("%+v, %v", p, err)
	}
	paused := &PausedError{}
	for what, do := range map[string]func() error{
		"Extend": func() error { _, err := other.Extend(t.Context(), "n", 1); return err },
		"Raise":  func() error { _, err := other.Raise(t.Context(), "n", 5); return err },
		"Bound":  func() error { _, err := other.Bound(t.Context(), "n"); return err },
	} {
		if err := do(); !errors.As(err, &paused) {
			t.Errorf("%s of a paused counter: %v", what, err)
		}
	}
	if err := setter.Resume(t.Context(), p, 0); err != nil {
		t.Fatal(err)
	}
	if err := paused.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if g, err := NewCASStore(kv, "t/", "b", time.Now).Extend(t.Context(), "n", 2); err != nil || g != (Grant{1, 2}) {
		t.Errorf("granted %v, %v", g, err)
	}
	if g, err := setter.Extend(t.Context(), "n", 1); err != nil || g.First != 3 {
		t.Errorf("granted %v, %v", g, err)
	}
	if _, err := other.Extend(t.Context(), "n", 1); !errors.Is(err, ErrWentBack) {
		t.Errorf("a store that remembers the former bound: %v", err)
	}
}

// A process that has crashed leaves no counter paused, and can't resume one that another process has resumed.
func TestAPauseThatIsLeftEnds(t *testing.T) {
	kv, clock := newFakeKV(), &pauseClock{time.Unix(1, 0)}
	setter, waiter := NewCASStore(kv, "t/", "a", time.Now), NewCASStore(kv, "t/", "b", clock.read)
	if _, err := setter.Extend(t.Context(), "n", 7); err != nil {
		t.Fatal(err)
	}
	left, err := setter.Pause(t.Context(), "n")
	if err != nil {
		t.Fatal(err)
	}
	paused := &PausedError{}
	if _, err := waiter.Extend(t.Context(), "n", 1); !errors.As(err, &paused) {
		t.Fatal(err)
	}
	if err := paused.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := setter.Resume(t.Context(), left, 0); !errors.Is(err, errResumed) {
		t.Errorf("resumed twice: %v", err)
	}
	if g, err := waiter.Extend(t.Context(), "n", 1); err != nil || g.First != 8 {
		t.Errorf("granted %v, %v", g, err)
	}
}

// The last of two processes that pause a counter resumes it.
func TestAPauseIsTakenOver(t *testing.T) {
	kv := newFakeKV()
	a, b := NewCASStore(kv, "t/", "a", time.Now), NewCASStore(kv, "t/", "b", time.Now)
	first, err := a.Pause(t.Context(), "n")
	if err != nil {
		t.Fatal(err)
	}
	second, err := b.Pause(t.Context(), "n")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Resume(t.Context(), first, 5); !errors.Is(err, errResumed) {
		t.Errorf("the first resumes it: %v", err)
	}
	if err := b.Resume(t.Context(), second, 6); err != nil {
		t.Error(err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	if _, err = b.Pause(ctx, "n"); err != nil {
		t.Fatal(err)
	}
	paused := &PausedError{}
	if _, err := a.Bound(ctx, "n"); !errors.As(err, &paused) {
		t.Fatal(err)
	}
	cancel()
	if err := paused.Wait(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("the wait ends with %v", err)
	}
}
