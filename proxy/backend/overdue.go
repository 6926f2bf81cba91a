package backend

import "context"

// Elsewhere declares that another server can answer what the borrower sends next. The pool gives this one up if it becomes
// overdue before any part of an answer has arrived. The declaration ends with the lease.
func (c *Conn) Elsewhere() { c.elsewhere.Store(c.stream.Received() + 1) }

// leavesNow reports whether the command may be given up for another server's answer, because nothing of this one's has arrived.
func (c *Conn) leavesNow() bool { return c.elsewhere.Load() == c.stream.Received()+1 }

// stays ends Elsewhere with the lease.
func (c *Conn) stays() {
	if c.elsewhere.Load() != 0 {
		c.elsewhere.Store(0)
	}
}

// Overdue gives up the requests that another server can answer, since this one has answered neither a probe nor any connection
// for a while. Requests that only this server can answer go on waiting, and no borrower is refused, because the server may just
// be slow.
func (p *Pool) Overdue(why error) {
	p.each(func(p *Pool) { p.overdue(why) })
}

func (p *Pool) overdue(why error) {
	p.mu.Lock()
	defer p.unlock()
	if p.closed || p.frozen != nil {
		return
	}
	p.turn(&UnavailableError{Shard: p.shard, Addr: p.target.Addr, Reason: why})
	p.prompt, p.turn = context.WithCancelCause(context.Background())
	for c := range p.all {
		if c.lent && c.leavesNow() {
			c.givenUp.Store(&why)
			c.Interrupt()
		}
	}
}

// untilOverdue returns a context that also ends when the server becomes overdue. It is for waits of a borrower that can ask
// another server.
func (p *Pool) untilOverdue(ctx context.Context) (_ context.Context, release func()) {
	p.mu.Lock()
	prompt := p.prompt
	p.mu.Unlock()
	return either(ctx, prompt)
}

// either returns a copy of ctx that also ends when other does, with that one's cause.
func either(ctx, other context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
