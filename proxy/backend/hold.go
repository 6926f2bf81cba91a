package backend

// hold has the pool lend nothing, or lend again. Who borrows meanwhile waits in the queue. What comes back is closed: when the
// hold ends the shard may be another server. The caller holds mu, and serves the queue.
func (p *Pool) hold(held bool) {
	if p.held = held; held {
		p.doomIdle(func(*Conn) bool { return true })
	}
}

// Emptied reports whether nothing goes on at the server that was borrowed for before a hold began: neither over a connection
// that is lent or being made, nor over one that was closed without an answer. False where there is no hold.
func (p *Pool) Emptied() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.held || p.dialing > 0 || len(p.orphans.list) > 0 {
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
	if !p.held {
		return
	}
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
