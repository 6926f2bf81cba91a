package backend

import (
	"errors"
	"time"

	"locus/proxy/stream"
)

// errUnleased is why a statement has no answer whose proxy has lost its lease.
var errUnleased = errors.New("this proxy was cut off from etcd, and another server of the shard may be the primary by now")

// Lease has the pool lend until then, if its target is of that epoch, and says whether it is. At that moment, unless there was a
// later call, what is lent is cut off and borrowers wait: another server may be written to from then on. An answer that is read
// after it is told to nobody.
func (p *Pool) Lease(epoch int64, until time.Time) bool {
	p.mu.Lock()
	defer p.unlock()
	if p.target.Epoch != epoch {
		return false
	}
	if p.term != nil && !p.closed {
		p.term.Extend(until)
		p.watchTerm()
		p.serve(time.Now())
	}
	return true
}

// Epoch is that of its target.
func (p *Pool) Epoch() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.target.Epoch
}

// leased makes the term one of its own for each server, and none where there are no leases. The caller holds mu.
func (p *Pool) leased(leased, moved bool) {
	switch {
	case !leased && p.term != nil:
		p.term.Lift()
		p.term = nil
	case leased && (p.term == nil || moved):
		p.doomIdle(func(*Conn) bool { return true }) // which have another term, or none
		if p.term != nil {
			p.cutOff(errLeft)
		}
		p.term = &stream.Term{}
		p.term.Extend(time.Now()) // nobody has leased anything yet
	}
}

// watchTerm has the pool looked at when its term ends. The caller holds mu.
func (p *Pool) watchTerm() {
	if p.expiry != nil {
		p.expiry.Stop()
	}
	p.expiry = time.AfterFunc(max(p.term.Left(), 0), p.expire)
}

// expire cuts off what is lent, if the term is over.
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

// withheld tells whether nothing is lent, whatever there is. The caller holds mu.
func (p *Pool) withheld() bool { return p.held || p.term.Over() }
