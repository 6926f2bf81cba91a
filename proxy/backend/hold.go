package backend

import "errors"

// hold stops or resumes the pool's lending, as t requires. Meanwhile borrowers wait in the queue. Returned connections are closed,
// because after the hold the shard may be another server. The caller holds mu and serves the queue.
func (p *Pool) hold(t Target) {
	if p.held = t.Held; !p.held {
		return
	}
	p.doomIdle(func(*Conn) bool { return true })
	if t.Cut {
		p.cutOff(errLeft)
	}
}

// errLeft is the error of a statement without an answer whose server is replaced by another one.
var errLeft = errors.New("another server of the shard is its primary from now on")

// Emptied reports whether nothing is left at the server from before the hold began: no lent connection, no login in progress, no
// connection that was closed without an answer. In a hold that cuts off, it reports whether nothing can be received from the
// server any more. It returns false without a hold.
func (p *Pool) Emptied() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held || !p.target.Cut && (p.dialing > 0 || len(p.orphans.list) > 0) {
		return false
	}
	for c := range p.all {
		if !c.cutOff {
			return false
		}
	}
	return true
}

// CutOff closes all connections that are still lent, for a hold that can't wait any longer. The statements fail
// with why, and their effect is unknown. Borrowers may keep their connections but can't send anything on them.
// CutOff asks the server to kill the connections and their statements.
func (p *Pool) CutOff(why error) {
	p.mu.Lock()
	defer p.unlock()
	if p.held {
		p.cutOff(why)
	}
}

// cutOff is CutOff for a caller that holds mu.
func (p *Pool) cutOff(why error) {
	for c := range p.all {
		if c.cutOff {
			continue
		}
		c.cutOff = true
		c.givenUp.Store(&why)
		c.Interrupt()
		p.orphans.note(c)
	}
}
