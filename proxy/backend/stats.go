package backend

import (
	"sync/atomic"
	"time"

	"locus/router"
)

// counts holds the counters of a pool.
type counts struct {
	lent uint64 // guarded by the pool's mutex, since it is on the hot path

	logins, loginFailures, refused atomic.Uint64
	waits, exhausted, stale        atomic.Uint64
	transitions, dead, discarded   atomic.Uint64
	kills, unforeseen              atomic.Uint64
	resets                         resets
}

// resets counts connection resets: those that cleared left state, and those that changed settings.
type resets struct{ clean, settings atomic.Uint64 }

// count records a transition's reset. A connection that belongs to no pool has a nil receiver and isn't counted.
func (r *resets) count(t transition) {
	switch {
	case r == nil:
	case t.cleans:
		r.clean.Add(1)
	default:
		r.settings.Add(1)
	}
}

// Stats is a pool's state at one moment, for metrics. The fields in its second part are counters.
type Stats struct {
	Shard   router.ShardName
	Addr    string
	Limit   int           // of open connections
	Open    int           // connections, idle or lent
	Idle    int           // not in use
	Lent    int           // held by borrowers
	Dialing int           // logins in progress
	Waiting int           // until the next login is tried, after failures; 0 if logins are allowed
	Blocked time.Duration // until the next login is tried, after failures; 0: logins are allowed
	// Unleased is the time when the lease ended without which no connection is lent, because etcd doesn't answer. It is zero
	// if the lease has not ended, or if none is needed.
	Unleased time.Time
	// StaleAllowed reports whether plain reads continue after that, on the last known primary.
	StaleAllowed bool

	Borrowed      uint64 // connections lent
	StaleReads    uint64 // reads of the last known primary without a lease
	Logins        uint64 // logins tried
	LoginFailures uint64
	Refused       uint64 // borrowers refused because logins had failed
	Waits         uint64 // borrowers that had to queue
	Exhausted     uint64 // the borrowers in Waits that gave up
	Transitions   uint64 // times that session state was set
	Resets        uint64 // connections reset, which discards their prepared statements
	Cleaned       uint64 // the resets in Resets after statements that may have left state; the others changed settings
	Dead          uint64 // idle connections found dead
	Discarded     uint64 // connections closed when they came back
	Kills         uint64 // KILL statements sent
	Unforeseen    uint64 // connections lent again without a reset although the server reported a change of session state
}

// Stats returns the pool's state. It is safe for concurrent use.
func (p *Pool) Stats() Stats {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := Stats{
		Shard: p.shard, Addr: p.target.Addr, Limit: p.limits.MaxOpen,
		Open: len(p.all), Idle: len(p.idle), Lent: p.lent(), Dialing: p.dialing, Waiting: p.queue.len(),
		Borrowed: p.counts.lent,
		Logins:   p.counts.logins.Load(), LoginFailures: p.counts.loginFailures.Load(), Refused: p.counts.refused.Load(),
		Waits: p.counts.waits.Load(), Exhausted: p.counts.exhausted.Load(),
		Transitions: p.counts.transitions.Load(), Cleaned: p.counts.resets.clean.Load(),
		Dead: p.counts.dead.Load(), Discarded: p.counts.discarded.Load(), Kills: p.counts.kills.Load(),
		Unforeseen: p.counts.unforeseen.Load(),
	}
	s.Unleased, s.StaleAllowed, s.StaleReads = p.term.Ended(), p.target.StaleReads, p.counts.stale.Load()
	s.Resets = s.Cleaned + p.counts.resets.settings.Load()
	if p.breaker.open() {
		s.Blocked = max(0, time.Until(p.breaker.until))
	}
	return s
}
