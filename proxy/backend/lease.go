package backend

import (
	"errors"
	"fmt"
	"time"

	"locus/proxy/stream"
)

// errUnleased is the error of a statement without an answer whose proxy has lost its lease.
var errUnleased = errors.New("this proxy was cut off from etcd, and another server of the shard may be the primary by now: check etcd (locus doctor) and the network to it")

// unleasedSince returns the reason for a refusal by a proxy whose lease ended at a time.
func unleasedSince(at time.Time, stale bool) error {
	const limits = "; with stale_reads, a plain SELECT outside of a transaction goes on, and nothing else: no write, no transaction, no autocommit = 0, no locking read, " +
		"no function that may write, and no session with state on a connection (LOCK TABLES, temporary tables, cursors)"
	err := fmt.Errorf("this proxy is cut off from etcd, which alone says which of the shard's servers is the primary; its lease ended at %s: check etcd (locus doctor) and the network to it",
		at.Local().Format(time.DateTime))
	if stale {
		return fmt.Errorf("%w%s", err, limits)
	}
	return err
}

// Lease allows the pool to lend until the given time if its target has the given epoch. It reports whether it has. At that time,
// unless Lease was called again, lent connections are cut off and borrowers wait, because another server may become the primary.
// An answer read later is discarded.
func (p *Pool) Lease(epoch int64, until time.Time) bool {
	if !p.lease(epoch, until) {
		return false
	}
	if stale := p.stale.Load(); stale != nil {
		stale.rest(true)
	}
	return true
}

func (p *Pool) lease(epoch int64, until time.Time) bool {
	p.mu.Lock()
	defer p.unlock()
	if p.target.Epoch != epoch {
		return false
	}
	if p.term != nil && !p.closed {
		p.term.Extend(until)
		p.confirmed = true
		p.watchTerm()
		p.serve(time.Now())
	}
	return true
}

// Epoch returns the target's epoch.
func (p *Pool) Epoch() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target.Epoch
}

// leased gives each server a term of its own, or none without leases. The caller holds mu.
func (p *Pool) leased(leased, moved bool) {
	switch {
	case !leased && p.term != nil:
		p.term.Lift()
		p.term = nil
	case leased && (p.term == nil || moved):
		p.doomIdle(func(*Conn) bool { return true }) // these connections have another term, or none
		if p.term != nil {
			p.cutOff(errLeft)
		}
		p.term, p.confirmed, p.began = &stream.Term{}, false, time.Now()
		p.term.Extend(p.began) // nothing is leased yet
	}
}

// watchTerm schedules a check of the pool for the end of its term. The caller holds mu.
func (p *Pool) watchTerm() {
	if p.expiry != nil {
		p.expiry.Stop()
	}
	p.expiry = time.AfterFunc(max(p.term.Left(), 0), p.expire)
}

// expire cuts off lent connections if the term is over.
func (p *Pool) expire() {
	p.mu.Lock()
	defer p.unlock()
	switch {
	case p.term == nil || p.closed:
	case !p.term.Over():
		p.watchTerm()
	default:
		p.doomIdle(func(*Conn) bool { return true })
		p.cutOff(errUnleased)
	}
}

// withheld reports whether lending is stopped. The caller holds mu.
func (p *Pool) withheld() bool { return p.held || p.term.Over() }
