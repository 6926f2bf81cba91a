package backend

import (
	"context"
	"time"
)

// Freeze gives up a server that no longer answers. Running statements fail with why, and their effect is unknown. Idle
// connections are closed, and borrowers are refused at once, until Thaw. Only the prober can distinguish a frozen server from a
// slow statement.
func (p *Pool) Freeze(why error) {
	p.each(func(p *Pool) { p.freeze(why) })
}

func (p *Pool) freeze(why error) {
	p.mu.Lock()
	defer p.unlock()
	if p.closed || p.frozen != nil {
		return
	}
	p.frozen = why
	p.chill(why)
	for c := range p.all { // lent, cleaned or idle; no other borrower can get them meanwhile
		c.givenUp.Store(&why)
		c.Interrupt()
	}
	p.doomIdle(func(*Conn) bool { return true })
	p.serve(time.Now())
}

// Thaw admits borrowers again. The server answered after a freeze or after failed logins.
func (p *Pool) Thaw() {
	p.each((*Pool).thaw)
}

func (p *Pool) thaw() {
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

// untilFrozen returns a context that also ends when the server freezes. It is for waits on connections that the pool doesn't
// track.
func (p *Pool) untilFrozen(ctx context.Context) (_ context.Context, release func()) {
	p.mu.Lock()
	warm := p.warm
	p.mu.Unlock()
	return either(ctx, warm)
}

// Received returns a number that changes whenever a byte arrives on a lent connection, or a login is answered.
func (p *Pool) Received() (n uint64) {
	p.each(func(p *Pool) { n += p.received() })
	return n
}

func (p *Pool) received() uint64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := p.heard
	for c := range p.all {
		n += c.stream.Received()
	}
	return n
}
