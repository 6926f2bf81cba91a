package backend

import "context"

// Elsewhere tells that what the borrower sends next may be asked of another server. It is given up if this one is overdue, as
// long as nothing has come in answer. It holds for one lease.
func (c *Conn) Elsewhere() { c.elsewhere.Store(c.stream.Received() + 1) }

// leavesNow tells whether what was sent may be given up for another server's answer: nothing of this one's has come.
func (c *Conn) leavesNow() bool { return c.elsewhere.Load() == c.stream.Received()+1 }

// stays ends Elsewhere with the lease.
func (c *Conn) stays() {
	if c.elsewhere.Load() != 0 {
		c.elsewhere.Store(0)
	}
}

// Overdue gives up what another server can be asked as well, since this one has answered neither a probe nor anybody else for a
// while. What only this one can answer goes on waiting, and nobody is refused: it may just be slow.
func (p *Pool) Overdue(why error) {
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

// untilOverdue is ctx that ends when the server is overdue, too: for who has another one to ask, and waits for a connection.
func (p *Pool) untilOverdue(ctx context.Context) (_ context.Context, release func()) {
	p.mu.Lock()
	prompt := p.prompt
	p.mu.Unlock()
	return either(ctx, prompt)
}

// either is ctx that ends when another does, too, with that one's cause.
func either(ctx, other context.Context) (_ context.Context, release func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(other, func() { cancel(context.Cause(other)) })
	return ctx, func() {
		stop()
		cancel(nil)
	}
}
