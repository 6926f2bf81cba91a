package backend

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// trust is how long after its last use an idle connection is lent without a liveness check.
//
// A check never makes lending safe, since the server can go away right after it. So the pool never repeats a statement, and a
// session whose statement met a dead connection reports its effect as unknown. The check only makes that rare. It would be
// frequent otherwise, because servers and firewalls drop connections that were idle for minutes. For a connection used within the
// last second a check would find almost nothing and would cost a system call per statement. Once one connection is found dead,
// all others are checked before they are lent. That includes those returned within trust afterwards, since a server may take a
// moment to close them all. So a server's restart costs a statement or two, not one per connection.
const trust = time.Second

// Borrow lends a connection that carries want. The caller ends the lease with Return or Discard.
//
// It waits in the queue for at most Limits.WaitTimeout. If the server has gone away, it waits until Limits.RestartWait has passed
// since then. It never waits longer than ctx. All of its errors mean that nothing of the caller's was sent: *ServerError if the
// server refuses the settings, such as an unknown database (1049); *ExhaustedError; *UnavailableError; *LoginError; ErrClosed;
// *LostError if the connection broke while its state was set; ctx's cause. A nil want means Default.
func (p *Pool) Borrow(ctx context.Context, want *Settings, prof Profile) (*Conn, error) {
	return p.lend(ctx, want, prof, waits)
}

// BorrowSoon is Borrow for a caller that can ask another server. It doesn't wait for a server that is down.
func (p *Pool) BorrowSoon(ctx context.Context, want *Settings, prof Profile) (*Conn, error) {
	return p.lend(ctx, want, prof, hurries)
}

// BorrowElsewhere is BorrowSoon for a caller that can ask another server even after a command was sent. It waits neither for an
// overdue server nor for its answer. See [Conn.Elsewhere].
func (p *Pool) BorrowElsewhere(ctx context.Context, want *Settings, prof Profile) (*Conn, error) {
	c, err := p.lend(ctx, want, prof, turns)
	if err == nil {
		c.Elsewhere()
	}
	return c, err
}

// haste determines how a borrower behaves while the server is down.
type haste uint8

const (
	waits haste = iota
	hurries
	turns
)

func (p *Pool) lend(ctx context.Context, want *Settings, prof Profile, h haste) (*Conn, error) {
	if want == nil {
		want = Default // a connection's nil settings mean unknown, not Default
	}
	p.mu.Lock()
	c := p.takeCarrying(want, prof)
	suspicion := p.suspicion
	p.mu.Unlock()
	if c == nil {
		return p.await(ctx, want, prof, h)
	}
	if c.doubtful(suspicion) && !c.pulse.alive() {
		p.bury(c)
		return p.await(ctx, want, prof, h)
	}
	c.waited = 0
	return c, nil
}

// await calls borrow and records how long it took.
func (p *Pool) await(ctx context.Context, want *Settings, prof Profile, h haste) (*Conn, error) {
	began := time.Now()
	if h == turns {
		until, release := p.untilOverdue(ctx)
		defer release()
		ctx = until
	}
	c, err := p.borrow(ctx, want, prof, h)
	if err == nil {
		c.waited = time.Since(began)
	}
	return c, err
}

// borrow lends a connection that does not carry want yet, and makes it carry want.
func (p *Pool) borrow(ctx context.Context, want *Settings, prof Profile, h haste) (*Conn, error) {
	if ctx.Err() != nil {
		return nil, fmt.Errorf("shard %s: borrow a connection: %w", p.shard, context.Cause(ctx))
	}
	deadline := time.Now().Add(p.limits.WaitTimeout)
	var misfit *Conn
	for {
		g := p.next(ctx, deadline, wish{want, prof, h}, misfit)
		misfit = nil
		switch {
		case g.err != nil:
			return nil, g.err
		case g.conn == nil:
			c, err := p.login(ctx, prof, g.ticket)
			if errors.Is(err, errMoved) || ctx.Err() == nil && away(err) && h == waits && p.awaits() {
				continue
			}
			if err == nil {
				err = p.prepare(ctx, c, want)
			}
			return lentOr(c, err)
		case !g.conn.serves(want, prof):
			misfit = g.conn
		case !g.conn.pulse.alive():
			p.bury(g.conn)
		default:
			err := p.prepare(ctx, g.conn, want)
			if _, lost := errors.AsType[*LostError](err); lost && ctx.Err() == nil && time.Now().Before(deadline) {
				continue // the connection had died; nothing of the caller's was sent
			}
			return lentOr(g.conn, err)
		}
	}
}

func lentOr(c *Conn, err error) (*Conn, error) {
	if err != nil {
		return nil, err
	}
	return c, nil
}

// doubtful reports whether c may have died since it was given back.
func (c *Conn) doubtful(suspicion time.Time) bool {
	return c.returned.Sub(suspicion) <= trust || time.Since(c.returned) > trust
}

// serves reports whether c has the profile and can be brought to want without closing it.
func (c *Conn) serves(want *Settings, prof Profile) bool {
	return c.profile == prof && reaches(c.database, want)
}

// prepare brings c to want. If that fails, c no longer belongs to the caller.
func (p *Pool) prepare(ctx context.Context, c *Conn, want *Settings) error {
	t := between(c.settings, c.database, want)
	if t.empty() {
		c.settings = want
		return nil
	}
	p.counts.transitions.Add(1)
	ctx, cancel := context.WithTimeoutCause(ctx, p.limits.ConnectTimeout, errNoAnswer)
	defer cancel()
	err := c.apply(ctx, t, want)
	if err == nil && !c.Usable() { // ctx ended at the same time as the answer arrived
		err = c.Lost(false, context.Cause(ctx))
	}
	if lost, ok := errors.AsType[*LostError](err); ok {
		lost.Sent = false // no statement of the caller was sent
	}
	switch {
	case err == nil:
	case c.Usable():
		p.Return(c)
	default:
		p.Discard(c)
	}
	return err
}

var errNoAnswer = errors.New("no answer while the session state was set")
