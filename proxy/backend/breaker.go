package backend

import (
	"math/rand/v2"
	"time"
)

const (
	tripAfter       = 3                      // logins that failed in a row
	shortestBackoff = 250 * time.Millisecond // doubled by each failed probe
	longestBackoff  = 5 * time.Second
	mostDials       = 16 // under way at once, so that a server that comes back isn't stormed
)

// verdict is a breaker's answer to the wish to dial.
type verdict int

const (
	dialNow verdict = iota
	waitForDial
	refuseDial
)

// breaker decides when a pool may dial. It knows neither the pool nor the clock.
//
//	closed ── three failures in a row ──▶ open ── the back-off passed ──▶ one probe
//	   ▲                                   ▲                                │ │
//	   │                                   └──────── fails: twice as long ──┘ │
//	   └─────────── succeeds: dials at once 2, 4, 8, 16 ──────────────────────┘
//
// A server that has gone away may be restarting: for as long as its owner's patience lasts, counted from the first failure,
// borrowers wait for it in place of being refused, and it is probed at the shortest back-off.
//
// Its zero value isn't ready: see newBreaker. Its owner guards it.
type breaker struct {
	patience  time.Duration
	since     time.Time // of the first of the failures
	failures  int       // logins that failed in a row
	allowance int       // dials that may be under way at once while closed
	until     time.Time // open: no dial before
	reason    error     // of the last failure
	round     int       // raised at every change of state: news of a dial that began before is stale
}

func newBreaker(patience time.Duration) breaker {
	return breaker{patience: patience, allowance: mostDials}
}

func (b *breaker) open() bool { return b.failures >= tripAfter }

// admit says whether one more dial may begin. lent connections show that the server lives: if it refused us for having too
// many, waiting for one of them beats failing.
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

// failed records that a dial begun in the given round failed.
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

// awaited reports whether the server has gone away so recently that it is waited for.
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

// answers notes that the server was found back. Logins begin with one at once, so that it isn't stormed.
func (b *breaker) answers() {
	if b.failures > 0 {
		b.failures, b.reason, b.allowance = 0, nil, 1
		b.round++
	}
}

// forget begins anew, for another server.
func (b *breaker) forget() {
	*b = breaker{patience: b.patience, allowance: mostDials, round: b.round + 1}
}

// backoff doubles per failed probe and is shortened by up to a fifth at random, so that proxies don't probe in step.
func backoff(probes int) time.Duration {
	d := min(shortestBackoff<<min(probes, 10), longestBackoff)
	return d - rand.N(d/5)
}
