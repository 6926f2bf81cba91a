package backend

import (
	"errors"
	"testing"
	"time"
)

var errDown = errors.New("down")

func fail(b *breaker, now time.Time, times int) {
	for range times {
		b.failed(now, b.round, errDown)
	}
}

func wantVerdict(t *testing.T, b *breaker, now time.Time, dialing, lent int, want verdict) {
	t.Helper()
	if got := b.admit(now, dialing, lent); got != want {
		t.Errorf("%d dialing, %d lent after %d failures: %v, want %v", dialing, lent, b.failures, got, want)
	}
}

func TestBreakerOpensAfterThreeFailures(t *testing.T) {
	b, now := newBreaker(0), time.Now()
	fail(&b, now, tripAfter-1)
	wantVerdict(t, &b, now, 0, 0, dialNow)
	wantVerdict(t, &b, now, 1, 0, waitForDial) // after a failure, one login at a time
	fail(&b, now, 1)
	wantVerdict(t, &b, now, 0, 0, refuseDial)
	wantVerdict(t, &b, now, 0, 5, refuseDial)
}

func TestBreakerProbesOnce(t *testing.T) {
	b, now := newBreaker(0), time.Now()
	fail(&b, now, tripAfter)
	now = now.Add(shortestBackoff)
	wantVerdict(t, &b, now, 0, 0, dialNow)
	wantVerdict(t, &b, now, 1, 0, refuseDial)
	fail(&b, now, 1)
	wantVerdict(t, &b, now, 0, 0, refuseDial)
	wantVerdict(t, &b, now.Add(shortestBackoff), 0, 0, refuseDial) // twice as long now
	wantVerdict(t, &b, now.Add(2*shortestBackoff), 0, 0, dialNow)
}

func TestBackoffGrowsToItsBound(t *testing.T) {
	for probes, most := range map[int]time.Duration{0: shortestBackoff, 1: 2 * shortestBackoff, 4: 16 * shortestBackoff, 5: longestBackoff, 1000: longestBackoff} {
		if d := backoff(probes); d > most || d < most*4/5 {
			t.Errorf("after %d probes: %v, want at most %v and at least four fifths of it", probes, d, most)
		}
	}
}

func TestBreakerStartsSlowly(t *testing.T) {
	b, now := newBreaker(0), time.Now()
	wantVerdict(t, &b, now, mostDials-1, 0, dialNow)
	wantVerdict(t, &b, now, mostDials, 0, waitForDial)
	fail(&b, now, tripAfter)
	for _, allowed := range []int{2, 4, 8, 16, 16} {
		b.succeeded()
		wantVerdict(t, &b, now, allowed-1, 0, dialNow)
		wantVerdict(t, &b, now, allowed, 0, waitForDial)
	}
}

// Sixteen dials under way when a server goes down are one event, not sixteen.
func TestStaleFailuresDontPush(t *testing.T) {
	b, now := newBreaker(0), time.Now()
	round := b.round
	for range 16 {
		b.failed(now, round, errDown)
	}
	if b.failures != tripAfter {
		t.Errorf("%d failures counted, want %d", b.failures, tripAfter)
	}
	b.forget()
	b.failed(now, round, errDown)
	wantVerdict(t, &b, now, 0, 0, dialNow)
}

func TestAFullServerIsWaitedFor(t *testing.T) {
	b, now := newBreaker(0), time.Now()
	for range tripAfter {
		b.failed(now, b.round, &LoginError{Err: &ServerError{Code: 1040}})
	}
	wantVerdict(t, &b, now, 0, 1, waitForDial)
	wantVerdict(t, &b, now, 0, 0, refuseDial)
}
