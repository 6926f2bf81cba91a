package backend

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// takeCarrying takes the most recently used idle connection that carries want.
func (p *Pool) takeCarrying(want *Settings, prof Profile) *Conn {
	for i := len(p.idle) - 1; i >= 0; i-- {
		if c := p.idle[i]; c.settings == want && c.profile == prof {
			return p.takeOut(i)
		}
	}
	return nil
}

// takeServing takes an idle connection that can serve want. It prefers one that carries want, then the most recently used one
// with default settings, then the least recently used one, whose settings are the least likely to be wanted again.
func (p *Pool) takeServing(want *Settings, prof Profile) *Conn {
	if c := p.takeCarrying(want, prof); c != nil {
		return c
	}
	if want != Default {
		if c := p.takeCarrying(Default, prof); c != nil {
			return c
		}
	}
	i := slices.IndexFunc(p.idle, func(c *Conn) bool { return c.serves(want, prof) })
	if i < 0 {
		return nil
	}
	return p.takeOut(i)
}

func (p *Pool) takeOut(i int) *Conn {
	c := p.idle[i]
	p.idle = slices.Delete(p.idle, i, i+1)
	c.lent, c.schemas = true, p.schemas
	p.counts.lent++
	return c
}

// wish is a borrower's request.
type wish struct {
	settings *Settings
	profile  Profile
	haste    haste
}

// next returns an idle connection or a place to dial in, and waits for one if necessary. misfit is a connection granted before
// that can't serve. If a login is allowed, misfit is closed to make room for it.
func (p *Pool) next(ctx context.Context, deadline time.Time, want wish, misfit *Conn) grant {
	p.mu.Lock()
	now := time.Now()
	if misfit != nil {
		p.exchange(misfit, now)
	}
	g, ok := p.take(want.settings, want.profile, now)
	if !ok && want.haste != waits && (p.breaker.failures > 0 || p.term.Over()) {
		g, ok = grant{err: p.unavailable(now)}, true
	}
	var w *waiter
	if !ok {
		if w = p.queue.join(); w == nil {
			g.err = p.exhausted(0)
		}
	}
	p.serve(now)
	p.unlock()
	if w == nil {
		return g
	}
	p.counts.waits.Add(1)
	return p.wait(ctx, w, deadline, want.haste)
}

// take finds something to grant at once.
func (p *Pool) take(want *Settings, prof Profile, now time.Time) (grant, bool) {
	if c := p.takeServing(want, prof); c != nil {
		return grant{conn: c}, true
	}
	return p.offer(now)
}

// offer grants a login, or an error if none will be possible.
func (p *Pool) offer(now time.Time) (g grant, ok bool) {
	if p.closed {
		return grant{err: p.closedError()}, true
	}
	if p.withheld() {
		return grant{}, false
	}
	if p.frozen != nil {
		return grant{err: p.unavailable(now)}, true
	}
	switch p.breaker.admit(now, p.dialing, p.lent()) {
	case refuseDial:
		return grant{err: p.unavailable(now)}, true
	case waitForDial:
		return grant{}, false
	case dialNow:
	}
	if p.places() >= p.limits.MaxOpen {
		if len(p.idle) == 0 {
			return grant{}, false
		}
		coldest := p.idle[0]
		p.idle = slices.Delete(p.idle, 0, 1)
		p.doom(coldest)
	}
	return grant{ticket: p.issue()}, true
}

// serve grants connections and permissions to waiting borrowers. It is called after every event that could help them.
func (p *Pool) serve(now time.Time) {
	for p.queue.len() > 0 {
		g, ok := p.offer(now)
		if !ok {
			p.serveLater(now)
			return
		}
		p.queue.grantFirst(g)
	}
}

// serveLater schedules serve for when the breaker admits the next login, since no other event would trigger it.
func (p *Pool) serveLater(now time.Time) {
	if !p.breaker.open() || p.dialing > 0 {
		return
	}
	wait := p.breaker.until.Sub(now)
	if p.waker != nil {
		p.waker.Reset(wait)
		return
	}
	p.waker = time.AfterFunc(wait, func() {
		p.mu.Lock()
		defer p.unlock()
		p.serve(time.Now())
	})
}

// awaits reports whether the server is down and borrowers wait for it.
func (p *Pool) awaits() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.closed && p.frozen == nil && p.breaker.awaited(time.Now())
}

// exchange closes misfit if its place can be used for a login. Otherwise it gives misfit to other borrowers.
func (p *Pool) exchange(misfit *Conn, now time.Time) {
	if p.closed || p.withheld() || p.frozen != nil || p.breaker.admit(now, p.dialing, p.lent()) == dialNow {
		p.doom(misfit)
		return
	}
	p.put(misfit)
}

func (p *Pool) exhausted(waited time.Duration) error {
	p.counts.exhausted.Add(1)
	return &ExhaustedError{Shard: p.shard, Limit: p.limits.MaxOpen, Open: p.places(), Waiting: p.queue.len(), Waited: waited, Held: p.held, Unleased: p.term.Over(), Since: p.term.Ended(), StaleAllowed: p.target.StaleReads}
}

func (p *Pool) unavailable(now time.Time) error {
	p.counts.refused.Add(1)
	if p.term.Over() {
		return &UnavailableError{Shard: p.shard, Addr: p.target.Addr, Reason: unleasedSince(p.term.Ended(), p.target.StaleReads)}
	}
	if p.frozen != nil {
		return &UnavailableError{Shard: p.shard, Addr: p.target.Addr, Reason: p.frozen}
	}
	return &UnavailableError{Shard: p.shard, Addr: p.target.Addr, Retry: max(0, p.breaker.until.Sub(now)), Reason: p.breaker.reason}
}

// wait waits for w's grant. It waits past the deadline while the server is awaited. A grant that arrives at the end of the wait
// is used, or passed on if ctx has ended.
func (p *Pool) wait(ctx context.Context, w *waiter, deadline time.Time, h haste) grant {
	began := time.Now()
	timer := time.NewTimer(time.Until(deadline))
	defer timer.Stop()
	for patient := true; patient; {
		select {
		case g := <-w.granted:
			return g
		case <-timer.C:
			if patient = h == waits && p.awaits(); patient {
				timer.Reset(p.limits.RestartWait) // after this time the server is back, or borrowers no longer wait for it
			}
		case <-ctx.Done():
			patient = false
		}
	}
	p.mu.Lock()
	defer p.unlock()
	granted := !p.queue.leave(w)
	switch {
	case ctx.Err() != nil:
		if granted {
			p.decline(<-w.granted)
		}
		return grant{err: fmt.Errorf("shard %s: wait for a connection: %w", p.shard, context.Cause(ctx))}
	case granted:
		return <-w.granted
	default:
		return grant{err: p.exhausted(time.Since(began))}
	}
}

// decline passes a grant on to the next waiter.
func (p *Pool) decline(g grant) {
	switch {
	case g.conn != nil:
		p.put(g.conn)
	case g.err == nil:
		p.dialing--
		p.settle()
		p.serve(time.Now())
	}
}
