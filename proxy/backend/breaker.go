package backend

import (
	"math/rand/v2"
	"time"
)

const (
	tripAfter       = 3                      // consecutive failed logins
	shortestBackoff = 250 * time.Millisecond // doubled by each failed probe
	longestBackoff  = 5 * time.Second
	mostDials       = 16 // concurrent dials, so that a returning server isn't overloaded
)

// verdict is a breaker's answer to a request to dial.
type verdict int

const (
	dialNow verdict = iota
	waitForDial
	refuseDial
)

// breaker decides when a pool may dial. It depends on neither the pool nor the clock.
//
//	closed ── three failures in a row ──▶ open ── the back-off passed ──▶ one probe
//	   ▲                                   ▲                                │ │
//	   │                                   └──────── fails: twice as long ──┘ │
//	   └─────────── succeeds: dials at once 2, 4, 8, 16 ──────────────────────┘
//
// A server that has gone away may be restarting. Until patience has passed since the first failure, borrowers wait for it
// instead of being refused, and it is probed at the shortest back-off.
//
// The zero value isn't ready; see newBreaker. The owner synchronizes access.
type breaker struct {
	patience  time.Duration
	since     time.Time // time of the first failure
	failures  int       // consecutive failed logins
	allowance int       // concurrent dials allowed while closed
	until     time.Time // open: no dial before then
	reason    error     // the last failure
	round     int       // incremented at every change of state; results of dials from earlier rounds are stale
}

func newBreaker(patience time.Duration) breaker {
	return breaker{patience: patience, allowance: mostDials}
}

func (b *breaker) open() bool { return b.failures >= tripAfter }

// admit decides whether one more dial may begin. lent connections show that the server is alive. If it refused us for too
// many connections, waiting for one of them is better than failing.
func (b *breaker) admit(now time.Time, dialing, lent int) verdict {
	switch {
	case !b.open() && dialing < b.allowance:
		return dialNow
	case !b.open():
		return waitForDial
	case dialing == 0 && !now.Before(b.until):
		return dialNow
	case full(b.reason) && lent > 0, b.awaited(now):
		return waitForDial
	default:
		return refuseDial
	}
}

// failed records the failure of a dial that began in the given round.
func (b *breaker) failed(now time.Time, round int, reason error) {
	b.reason = reason
	if round != b.round {
		return
	}
	if b.failures++; b.failures == 1 {
		b.since = now
	}
	b.allowance = 1
	if !b.open() {
		return
	}
	probes := b.failures - tripAfter
	if b.awaited(now) {
		probes = 0
	}
	b.until = now.Add(backoff(probes))
	b.round++
}

// awaited reports whether the server went down so recently that borrowers wait for it.
func (b *breaker) awaited(now time.Time) bool {
	return away(b.reason) && now.Sub(b.since) < b.patience
}

func (b *breaker) succeeded() {
	if b.failures > 0 {
		b.round++
	}
	b.failures, b.reason = 0, nil
	b.allowance = min(2*b.allowance, mostDials)
}

// answers records that the server was found again. One login at a time is allowed at first, so that the server isn't
// overloaded.
func (b *breaker) answers() {
	if b.failures > 0 {
		b.failures, b.reason, b.allowance = 0, nil, 1
		b.round++
	}
}

// forget resets the breaker for another server.
func (b *breaker) forget() {
	*b = breaker{patience: b.patience, allowance: mostDials, round: b.round + 1}
}

// backoff doubles with each failed probe. It is shortened by a random amount of up to a fifth, so that proxies don't probe
// in step.
func backoff(probes int) time.Duration {
	d := min(shortestBackoff<<min(probes, 10), longestBackoff)
	return d - rand.N(d/5)
}
