package backend

import (
	"sync/atomic"
	"time"

	"locus/router"
)

// counts only grow.
type counts struct {
	lent uint64 // under the pool's mutex, on the hot path

	logins, loginFailures, refused atomic.Uint64
	waits, exhausted               atomic.Uint64
	transitions, dead, discarded   atomic.Uint64
	kills, unforeseen              atomic.Uint64
	resets                         resets
}

// resets counts connections that were reset: as something may have been left on them, or to carry other settings.
type resets struct{ clean, settings atomic.Uint64 }

// count notes the reset of a transition. A connection that no pool has lent counts nowhere.
func (r *resets) count(t transition) {
	switch {
	case r == nil:
	case t.cleans:
		r.clean.Add(1)
	default:
		r.settings.Add(1)
	}
}

// Stats is a pool's state at one moment, for metrics. The second half only grows.
type Stats struct {
	Shard   router.ShardName
	Addr    string
	Limit   int           // of connections
	Open    int           // connections, idle or lent
	Idle    int           // nobody uses them
	Lent    int           // borrowers have them
	Dialing int           // logins under way
	Waiting int           // borrowers in the queue
	Blocked time.Duration // until the next login is tried, after failures; 0: logins are allowed

	Borrowed      uint64 // connections lent
	Logins        uint64 // tried
	LoginFailures uint64
	Refused       uint64 // borrowers turned away since logins had failed
	Waits         uint64 // borrowers that had to queue
	Exhausted     uint64 // of these, gave up
	Transitions   uint64 // session state was set
	Resets        uint64 // connections reset, with which the statements prepared on them went
	Cleaned       uint64 // of these, since a borrower's statements may have left something; others were to carry other settings
	Dead          uint64 // idle connections found dead
	Discarded     uint64 // connections closed when they came back
	Kills         uint64 // KILL QUERY sent
	Unforeseen    uint64 // connections lent on as clean though the server, if it tracks the state, told of a change
}

// Stats may be called at any time.
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
	s.Resets = s.Cleaned + p.counts.resets.settings.Load()
	if p.breaker.open() {
		s.Blocked = max(0, time.Until(p.breaker.until))
	}
	return s
}
