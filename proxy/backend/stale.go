package backend

import "time"

// confirms is how long a pool waits for the first lease of a term before it allows stale reads. Without it, every start of a proxy and
// every change of the primary would mark some reads as stale.
const confirms = 2 * time.Second

// LastKnown returns a pool of connections to the last known primary while the lease is over. Another server may be the primary by
// then, so only reads that may return stale rows may use it. It returns false while etcd confirms the primary, and if the target does
// not allow stale reads.
func (p *Pool) LastKnown() (*Pool, bool) {
	stale := p.stale.Load()
	if stale == nil { // the usual case takes no lock
		return nil, false
	}
	p.mu.Lock()
	over := !p.closed && p.target.StaleReads && p.term.Over() && (p.confirmed || time.Since(p.began) >= confirms)
	p.mu.Unlock()
	if over {
		stale.rest(false)
	}
	return stale, over
}

// offerStale makes the pool of the last known primary follow t. The pool is made once and lives as long as p.
func (p *Pool) offerStale(t Target) {
	stale := p.stale.Load()
	offered := t.StaleReads && t.Epoch != 0
	t.Epoch, t.Held, t.Cut, t.Replicas, t.StaleReads = 0, false, false, nil, false
	switch {
	case stale != nil:
		stale.retarget(t)
	case offered:
		limits := p.limits
		limits.RestartWait = 0
		stale = newPool(t, limits, p.log, p.dial)
		stale.resting, stale.orphans.news = true, p.orphans.news
		p.stale.Store(stale)
	}
	if stale != nil && !offered {
		stale.rest(true)
	}
}

// rest closes idle connections, and those that are returned from now on. Borrowers are still served. With false, it ends that.
func (p *Pool) rest(on bool) {
	p.mu.Lock()
	defer p.unlock()
	if p.resting == on {
		return
	}
	if p.resting = on; on {
		p.doomIdle(func(*Conn) bool { return true })
	}
}

// CountStale counts a read of the last known primary without a lease.
func (p *Pool) CountStale() { p.counts.stale.Add(1) }

// each calls f with the pool, and with its pool of the last known primary if there is one.
func (p *Pool) each(f func(*Pool)) {
	f(p)
	if stale := p.stale.Load(); stale != nil {
		f(stale)
	}
}
