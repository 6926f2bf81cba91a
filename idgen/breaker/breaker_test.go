package breaker

import (
	"errors"
	"testing"
	"time"
)

var errAway = errors.New("away")

func TestOpensAfterFailuresInARow(t *testing.T) {
	now := time.Unix(1000, 0)
	b := New(Options{Failures: 2, Pause: time.Minute, Now: func() time.Time { return now }})
	b.Done(errAway)
	b.Done(nil)
	b.Done(errAway)
	if !b.Allow() || b.State() != Closed {
		t.Fatal("it opened although a call between the failures had succeeded")
	}
	b.Done(errAway)
	if b.Allow() || b.State() != Open {
		t.Fatal("two failures in a row did not open it")
	}
	now = now.Add(59 * time.Second)
	if b.Allow() {
		t.Fatal("a call was let through during the pause")
	}
	now = now.Add(2 * time.Second)
	if !b.Allow() || b.State() != Trying {
		t.Fatal("no call is tried after the pause")
	}
	if b.Allow() {
		t.Fatal("a second call was let through beside the one that tries")
	}
	b.Done(errAway)
	if b.Allow() {
		t.Fatal("a failed trial did not begin another pause")
	}
	now = now.Add(61 * time.Second)
	if !b.Allow() {
		t.Fatal("no second trial")
	}
	b.Done(nil)
	if first, second := b.Allow(), b.Allow(); !first || !second || b.State() != Closed {
		t.Fatal("a trial that succeeded did not close it")
	}
}

func TestAClockSetBackDoesNotMakeThePauseLonger(t *testing.T) {
	now := time.Unix(1_000_000, 0)
	b := New(Options{Failures: 1, Pause: time.Minute, Now: func() time.Time { return now }})
	b.Done(errAway)
	now = now.Add(-24 * time.Hour)
	if !b.Allow() {
		t.Fatal("the breaker stays open for a day")
	}
}

// A trial that was not made leaves it to the next caller.
func TestATrialThatIsNotMade(t *testing.T) {
	now := time.Unix(1000, 0)
	b := New(Options{Failures: 1, Pause: time.Minute, Now: func() time.Time { return now }})
	b.Done(errAway)
	now = now.Add(61 * time.Second)
	if !b.Allow() {
		t.Fatal("no trial")
	}
	b.Leave()
	if b.State() != Open || !b.Allow() || b.Allow() {
		t.Fatal("nobody, or everybody, may try after one who did not")
	}
}
