package backend

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// trust is how long after its last use an idle connection is lent without a look whether it still lives.
//
// Looking never makes lending safe, as a server can go away right after it; that is why the pool never repeats a statement, and
// why a session whose statement found a dead connection reports its effect as unknown. Looking only makes that rare, where it
// would be frequent: servers and firewalls drop connections that were idle for minutes. For one used within the last second it
// would find next to nothing, at the price of a system call per statement. And the first connection that is found dead has all
// others looked at again, and those that come back within the time of trust, for a server may take a moment to close them all: so
// its restart costs a statement or two, not one per connection.
const trust = time.Second

// Borrow lends a connection that carries want. The caller gives it back with Return or Discard.
//
// It waits for at most Limits.WaitTimeout in the queue, for a server that has gone away until Limits.RestartWait has passed since
// it did, and for no longer than ctx. All of its errors mean that nothing of the caller's was sent: *ServerError if the server
// refuses the settings, such as an unknown database (1049); *ExhaustedError; *UnavailableError; *LoginError; ErrClosed;
// *LostError if the connection broke while its state was set; ctx's cause. A nil want is Default.
func (p *Pool) Borrow(ctx context.Context, want *Settings, prof Profile) (*Conn, error) {
	return p.lend(ctx, want, prof, waits)
}

// BorrowSoon is Borrow by who has another server to ask: one that has gone away is not waited for.
func (p *Pool) BorrowSoon(ctx context.Context, want *Settings, prof Profile) (*Conn, error) {
	return p.lend(ctx, want, prof, hurries)
}

// BorrowElsewhere is BorrowSoon by who may ask the other server also once a command was sent: neither one that is overdue is
// waited for, nor its answer. See [Conn.Elsewhere].
func (p *Pool) BorrowElsewhere(ctx context.Context, want *Settings, prof Profile) (*Conn, error) {
	c, err := p.lend(ctx, want, prof, turns)
	if err == nil {
		c.Elsewhere()
	}
	return c, err
}

// haste is what a borrower does while the server is away.
type haste uint8

const (
	waits haste = iota
	hurries
	turns
)

func (p *Pool) lend(ctx context.Context, want *Settings, prof Profile, h haste) (*Conn, error) {
	if want == nil {
		want = Default // and not what nil means in a connection
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

// await is borrow, and notes how long it took.
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

// borrow is lend once there is no idle connection that carries want.
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
				continue // it had died; nothing of the caller's was sent
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

// serves reports whether c, or any connection like it, can be brought to want under a profile.
func (c *Conn) serves(want *Settings, prof Profile) bool {
	return c.profile == prof && reaches(c.database, want)
}

// prepare brings c to want. If that fails, c is no longer the caller's.
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
	if err == nil && !c.Usable() { // ctx ended together with the answer
		err = c.Lost(false, context.Cause(ctx))
	}
	if lost, ok := errors.AsType[*LostError](err); ok {
		lost.Sent = false // of the caller's
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
