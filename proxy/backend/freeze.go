package backend

import (
	"context"
	"time"
)

// Freeze gives the server up that has stopped to answer: what is under way there ends with that reason, and its effect unknown,
// idle connections are closed, and borrowers are refused at once, until Thaw. Only who probes the server can tell a frozen one
// from a slow statement.
func (p *Pool) Freeze(why error) {
	p.mu.Lock()
	defer p.unlock()
	if p.closed || p.frozen != nil {
		return
	}
	p.frozen = why
	p.chill(why)
	for c := range p.all { // lent, cleaned or idle, none of which anybody else can have meanwhile
		c.givenUp.Store(&why)
		c.Interrupt()
	}
	p.doomIdle(func(*Conn) bool { return true })
	p.serve(time.Now())
}

// Thaw lets borrowers through again: the server was found to answer, after a freeze or after logins had failed.
func (p *Pool) Thaw() {
	p.mu.Lock()
	defer p.unlock()
	p.melt()
	p.breaker.answers()
	p.serve(time.Now())
}

// melt ends a freeze. The caller holds mu.
func (p *Pool) melt() {
	if p.frozen == nil {
		return
	}
	p.frozen = nil
	p.warm, p.chill = context.WithCancelCause(context.Background())
}

// untilFrozen is ctx that ends when the server freezes, too: for what waits on connections that the pool doesn't know.
func (p *Pool) untilFrozen(ctx context.Context) (_ context.Context, release func()) {
	p.mu.Lock()
	warm := p.warm
	p.mu.Unlock()
	return either(ctx, warm)
}

// Received is another number whenever a byte has come over one of the connections that are lent, or a login was answered.
func (p *Pool) Received() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.heard
	for c := range p.all {
		n += c.stream.Received()
	}
	return n
}
