package backend

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"locus/proxy/flavor"
	"locus/proxy/stream"
)

// errMoved means that the target changed during a login. The login is then repeated.
var errMoved = errors.New("the shard has moved")

// slowLogin is how long a login must take before its borrower's own deadline counts as the server's failure.
const slowLogin = 500 * time.Millisecond

// ticket permits one login, for which a place in the limit is reserved.
type ticket struct {
	target     Target
	generation int // the pool's generation when it was issued
	round      int // the breaker's round when it was issued
	term       *stream.Term
}

func (p *Pool) issue() ticket {
	p.dialing++
	return ticket{p.target, p.generation, p.breaker.round, p.term}
}

// login uses a ticket. The connection is lent to the caller.
func (p *Pool) login(ctx context.Context, prof Profile, t ticket) (*Conn, error) {
	began := time.Now()
	dialing, release := p.untilFrozen(ctx)
	c, err := p.dial(dialing, t.target, prof, p.limits.ConnectTimeout)
	release()
	p.counts.logins.Add(1)
	if err == nil {
		version := c.version // a pointer into c would keep all of c in memory for as long as the pool lives
		p.version.Store(&version)
	}
	wasOpen, isOpen, err := p.record(ctx, t, c, err, began)
	switch {
	case isOpen && !wasOpen:
		p.log.Warn("shard unavailable", "err", err)
	case wasOpen && !isOpen:
		p.log.Info("shard available again", "addr", t.target.Addr)
	}
	return lentOr(c, err)
}

// record records a login's result. It reports whether the breaker was open before and whether it is open now.
func (p *Pool) record(ctx context.Context, t ticket, c *Conn, err error, began time.Time) (wasOpen, isOpen bool, _ error) {
	now := time.Now()
	p.mu.Lock()
	defer p.unlock()
	p.dialing--
	wasOpen = p.breaker.open()
	err = p.outcome(ctx, t, err, now.Sub(began), now)
	switch {
	case err == nil:
		p.enrol(c, t.generation, now)
	case c != nil:
		p.doomed = append(p.doomed, c)
	}
	p.settle()
	p.serve(now)
	return wasOpen, p.breaker.open(), err
}

// outcome evaluates a login, after changes of the pool during the login, and updates the breaker.
func (p *Pool) outcome(ctx context.Context, t ticket, err error, took time.Duration, now time.Time) error {
	if err != nil {
		p.counts.loginFailures.Add(1)
	}
	switch {
	case p.closed:
		return p.closedError()
	case t.generation != p.generation, t.term != p.term, p.held && p.target.Cut, p.term.Over():
		return errMoved
	case err == nil:
		p.breaker.succeeded()
	case blamesServer(ctx, took):
		p.breaker.failed(now, t.round, err)
	}
	return err
}

// blamesServer reports whether a failed login is the server's fault rather than the effect of a borrower that gave up
// early.
func blamesServer(ctx context.Context, took time.Duration) bool {
	return ctx.Err() == nil || errors.Is(ctx.Err(), context.DeadlineExceeded) && took >= slowLogin
}

func (p *Pool) enrol(c *Conn, generation int, now time.Time) {
	c.generation, c.resets = generation, &p.counts.resets
	c.expires = now.Add(p.limits.MaxLifetime - rand.N(p.limits.MaxLifetime/10+1)) // so that they don't all expire at once
	c.prepared.limit = p.limits.MaxPreparedPerConn
	c.prepared.forgets = flavor.Of(c.version).ForgetsBindings()
	c.lent, c.schemas, c.term = true, p.schemas, p.term
	c.stream.SetTerm(p.term)
	p.counts.lent++
	p.heard++ // the answer to the login
	p.all[c] = struct{}{}
}
