package backend

import "errors"

// hold has the pool lend nothing, or lend again. Who borrows meanwhile waits in the queue. What comes back is closed: when the
// hold ends the shard may be another server. The caller holds mu, and serves the queue.
func (p *Pool) hold(t Target) {
	if p.held = t.Held; !p.held {
		return
	}
	p.doomIdle(func(*Conn) bool { return true })
	if t.Cut {
		p.cutOff(errLeft)
	}
}

// errLeft is why a statement has no answer whose server is given up for another one.
var errLeft = errors.New("another server of the shard is its primary from now on")

// Emptied reports whether nothing goes on at the server that was borrowed for before a hold began: neither over a connection
// that is lent or being made, nor over one that was closed without an answer; in a hold that cuts off, that nothing is heard of it
// any more. False where there is no hold.
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

// CutOff ends what is still lent, with that reason and its effect unknown: for what a hold can't wait for any longer. Borrowers
// may keep their connections, and can send nothing more over them; the server is asked to end them, and what it does for them.
func (p *Pool) CutOff(why error) {
	p.mu.Lock()
	defer p.unlock()
	if p.held {
		p.cutOff(why)
	}
}

// cutOff is it for a caller that holds mu.
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
