package handshake

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Limits for password guessing.
const (
	freeGuesses   = 3                      // failures without a delay
	firstDelay    = 250 * time.Millisecond // doubled with each further failure
	longestDelay  = 4 * time.Second
	forgetAfter   = 10 * time.Minute // time without a failure
	mostRemember  = 8192             // remembered addresses, and as many users
	mostUndecided = 32               // refused logins of an address that wait for their answers
)

// Attempts limits password guessing. It delays the answer to a failed login, longer with each failure from the address or
// for the user. It refuses an address with many waiting logins. A correct password is never delayed. It is bounded and
// safe for concurrent use.
type Attempts struct {
	now func() time.Time

	mu        sync.Mutex // never held across a wait
	addresses map[netip.Addr]*attempts
	users     map[string]*attempts
}

// attempts counts the failures of one address or user.
type attempts struct {
	failures int
	last     time.Time // time of the last failure
	waiting  int
}

// NewAttempts returns an Attempts that uses now as its clock.
func NewAttempts(now func() time.Time) *Attempts {
	return &Attempts{now: now, addresses: map[netip.Addr]*attempts{}, users: map[string]*attempts{}}
}

// Blocked reports whether an address must be refused.
func (g *Attempts) Blocked(addr netip.Addr) bool {
	if g == nil {
		return false
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	a := g.addresses[addr]
	return a != nil && a.waiting >= mostUndecided
}

// failed records a failed login. It returns the delay of its answer. The caller calls done after the delay.
func (g *Attempts) failed(addr netip.Addr, user string) (delay time.Duration, done func()) {
	if g == nil {
		return 0, func() {}
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	now := g.now()
	a, u := note(g.addresses, addr, now), note(g.users, user, now)
	a.waiting++
	return max(a.delay(), u.delay()), func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		a.waiting--
	}
}

// Passed forgets the failures of a user who gave the correct password. It keeps those of the address, so that the owner
// of one account can't guess the passwords of others.
func (g *Attempts) Passed(user string) {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	delete(g.users, user)
}

func (s *attempts) delay() time.Duration {
	over := s.failures - freeGuesses
	if over <= 0 {
		return 0
	}
	return min(firstDelay<<min(over-1, 10), longestDelay)
}

// note counts a failure.
func note[K comparable](m map[K]*attempts, key K, now time.Time) *attempts {
	s := m[key]
	if s == nil {
		if len(m) >= mostRemember {
			makeRoom(m)
		}
		s = &attempts{}
		m[key] = s
	}
	if now.Sub(s.last) > forgetAfter {
		s.failures = 0
	}
	s.failures++
	s.last = now
	return s
}

// makeRoom forgets one entry without waiting logins. From a sample it takes the one whose last failure is oldest.
func makeRoom[K comparable](m map[K]*attempts) {
	const looked = 16
	var victim K
	var oldest time.Time
	n := 0
	for key, s := range m { // in random order
		if s.waiting > 0 {
			continue
		}
		if n == 0 || s.last.Before(oldest) {
			victim, oldest = key, s.last
		}
		if n++; n == looked {
			break
		}
	}
	if n > 0 {
		delete(m, victim)
	}
}

// addressOf returns the address that a login is counted for.
func addressOf(c net.Conn) netip.Addr {
	tcp, ok := c.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	return CountedFor(tcp.AddrPort().Addr())
}

// CountedFor returns the address that a login from addr is counted for. For IPv6 that is the /64 network, since one
// machine may use all of its addresses.
func CountedFor(addr netip.Addr) netip.Addr {
	addr = addr.Unmap()
	if prefix, err := addr.Prefix(64); err == nil && addr.Is6() {
		return prefix.Addr()
	}
	return addr
}

// admit refuses a blocked address without checking its password.
func (d *dialogue) admit() error {
	if d.cfg.Attempts.Blocked(addressOf(d.stream.NetConn())) {
		return mysql.NewError(mysql.ER_HOST_IS_BLOCKED, fmt.Sprintf(
			"Host '%s' is refused for some seconds: too many failed logins from it are waiting for their answer", d.host()))
	}
	return nil
}

// punish delays the answer to a failed login.
func (d *dialogue) punish(ctx context.Context, user string) {
	d.cfg.Attempts.Punish(ctx, addressOf(d.stream.NetConn()), user)
}

// Punish records a failed login and waits for the delay of its answer.
func (g *Attempts) Punish(ctx context.Context, addr netip.Addr, user string) {
	delay, done := g.failed(addr, user)
	defer done()
	if delay == 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-ctx.Done():
	}
}
