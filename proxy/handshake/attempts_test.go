package handshake

import (
	"fmt"
	"net/netip"
	"testing"
	"time"
)

// clock is a time that changes only when the test changes it.
type clock struct{ at time.Time }

func (c *clock) now() time.Time { return c.at }

func TestGuessesAreSlowed(t *testing.T) {
	c := &clock{time.Unix(1e9, 0)}
	g := NewAttempts(c.now)
	here, there := netip.MustParseAddr("192.0.2.1"), netip.MustParseAddr("192.0.2.2")
	fail := func(addr netip.Addr, user string) time.Duration {
		delay, done := g.failed(addr, user)
		done()
		return delay
	}
	for i := range freeGuesses {
		if d := fail(here, "a"); d != 0 {
			t.Errorf("failure %d waits %v", i, d)
		}
	}
	for _, want := range []time.Duration{firstDelay, 2 * firstDelay, 4 * firstDelay, 8 * firstDelay, 16 * firstDelay, longestDelay, longestDelay} {
		if d := fail(here, "a"); d != want {
			t.Errorf("waits %v, want %v", d, want)
		}
	}
	if d := fail(here, "other"); d != longestDelay {
		t.Errorf("another user from the address waits %v", d)
	}
	if d := fail(there, "a"); d != longestDelay {
		t.Errorf("the user from another address waits %v", d)
	}
	if d := fail(there, "b"); d != 0 {
		t.Errorf("another user from another address waits %v", d)
	}
	g.Passed("a")
	if d := fail(netip.MustParseAddr("192.0.2.3"), "a"); d != 0 {
		t.Errorf("after the right password the user waits %v", d)
	}
	if d := fail(here, "a"); d != longestDelay {
		t.Errorf("after the right password the address waits %v", d)
	}
	c.at = c.at.Add(forgetAfter + time.Second)
	if d := fail(here, "a"); d != 0 {
		t.Errorf("long afterwards it waits %v", d)
	}
}

func TestAnAddressIsTurnedAwayWhileItsFailuresWait(t *testing.T) {
	g := NewAttempts((&clock{time.Unix(1e9, 0)}).now)
	here := netip.MustParseAddr("192.0.2.1")
	var waiting []func()
	for i := range mostUndecided {
		if g.Blocked(here) {
			t.Fatalf("blocked with %d waiting", i)
		}
		_, done := g.failed(here, fmt.Sprint(i))
		waiting = append(waiting, done)
	}
	if !g.Blocked(here) || g.Blocked(netip.MustParseAddr("192.0.2.2")) {
		t.Error("the address is not blocked, or another one is")
	}
	waiting[0]()
	if g.Blocked(here) {
		t.Error("blocked though one has been answered")
	}
}

func TestGuessesAreBounded(t *testing.T) {
	g := NewAttempts((&clock{time.Unix(1e9, 0)}).now)
	watched := netip.MustParseAddr("198.51.100.1")
	_, done := g.failed(watched, "first")
	defer done()
	for i := range 3 * mostRemember {
		addr := netip.AddrFrom4([4]byte{10, byte(i >> 16), byte(i >> 8), byte(i)})
		_, answered := g.failed(addr, fmt.Sprint("user", i))
		answered()
	}
	if len(g.addresses) > mostRemember || len(g.users) > mostRemember {
		t.Errorf("%d addresses and %d users are remembered", len(g.addresses), len(g.users))
	}
	if g.addresses[watched] == nil {
		t.Error("an address with an answer outstanding was forgotten")
	}
}
