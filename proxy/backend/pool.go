package backend

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"locus/proxy/stream"
	"locus/router"
)

// Pool keeps the connections to one shard. All methods may be called concurrently.
type Pool struct {
	shard  router.ShardName
	limits Limits
	log    *slog.Logger
	dial   dialFunc
	kills  chan struct{} // a token per KILL under way
	// several has a token for each that may take several connections at once.
	several chan struct{}
	counts  counts
	// cleaning are the resets of connections that were given back.
	cleaning sync.WaitGroup
	version  atomic.Pointer[string] // of the server that was logged in to last; nil: none yet

	mu         sync.Mutex // guards what follows; never held across I/O; released by unlock if anything was doomed
	target     Target
	generation int                // raised when target's server changes
	schemas    int                // raised when a database changes
	all        map[*Conn]struct{} // every connection, lent or idle
	idle       []*Conn            // the one used last at the end
	dialing    int                // logins under way, each with a place in the limit
	queue      queue              // not empty only while nothing can be granted to its first
	breaker    breaker
	suspicion  time.Time // connections that weren't used since then may have died
	orphans    orphans
	waker      *time.Timer     // serves the queue when the breaker lets the next login through; nil before that was needed
	doomed     []*Conn         // taken out of the pool, to be closed when mu is released
	held       bool            // nothing is lent, and nothing is kept that comes back
	term       *stream.Term    // until when something is lent; nil: that has no end. Another server has another one
	expiry     *time.Timer     // looks at the end of the term; nil before there was one
	frozen     error           // why nothing is sent to the server; nil: it may be
	warm       context.Context // ends when the server freezes, and with it logins under way
	chill      context.CancelCauseFunc
	prompt     context.Context // ends when the server is overdue, and with it waits of who has another to ask
	turn       context.CancelCauseFunc
	heard      uint64 // what came over connections that are gone
	prober     *Conn  // of the last probe; nil while one is under way
	closed     bool
	empty      chan struct{} // closed once the pool is closed and has no connection left
}

// NewPool makes a pool and dials nothing yet. Its idle connections are looked after by [Registry.Run], or by whoever calls
// Sweep now and then.
func NewPool(t Target, l Limits, log *slog.Logger) *Pool {
	return newPool(t, l, log, login)
}

func newPool(t Target, l Limits, log *slog.Logger, dial dialFunc) *Pool {
	l = l.withDefaults()
	warm, chill := context.WithCancelCause(context.Background())
	prompt, turn := context.WithCancelCause(context.Background())
	p := &Pool{
		shard:   t.Shard,
		limits:  l,
		log:     log.With("shard", string(t.Shard)),
		dial:    dial,
		kills:   make(chan struct{}, mostKills),
		several: make(chan struct{}, severalOf(t, l)),
		target:  t,
		held:    t.Held,
		all:     make(map[*Conn]struct{}),
		queue:   queue{most: l.MaxWaiting},
		breaker: newBreaker(l.RestartWait),
		empty:   make(chan struct{}),
		warm:    warm,
		chill:   chill,
		prompt:  prompt,
		turn:    turn,
	}
	p.leased(t.Epoch > 0, false)
	return p
}

// Shard is the shard that the pool's connections go to.
func (p *Pool) Shard() router.ShardName { return p.shard }

// LeaveDatabases tells that a database was made, altered or dropped. A connection keeps what it knew of its current database
// when it came there, @@collation_database for one, and MariaDB comes to no database where it is already: those that are
// somewhere are closed, borrowed ones when they come back.
func (p *Pool) LeaveDatabases() {
	p.mu.Lock()
	defer p.unlock()
	p.schemas++
	p.doomIdle(func(c *Conn) bool { return c.database != "" })
	p.serve(time.Now())
}

// SetTarget moves the pool to where the shard's server is now. If that is another server, idle connections to the old one are
// closed, and borrowed ones when they come back; what failed there doesn't count here.
func (p *Pool) SetTarget(t Target) {
	if p.retarget(t) {
		p.log.Info("shard moved", "addr", t.Addr, "user", t.User)
	}
}

func (p *Pool) retarget(t Target) (moved bool) {
	p.mu.Lock()
	defer p.unlock()
	moved = !p.target.sameServer(t)
	p.target = t
	p.hold(t)
	p.leased(t.Epoch > 0, moved)
	if moved {
		p.generation++
		p.breaker.forget()
		p.melt()
		p.doomIdle(func(*Conn) bool { return true })
	}
	p.serve(time.Now())
	return moved
}

// resize takes over another limit of connections; those beyond it go as they come
// back.
func (p *Pool) resize(l Limits) {
	p.mu.Lock()
	defer p.unlock()
	l = l.withDefaults()
	p.limits.MaxOpen, p.limits.MaxIdle = l.MaxOpen, l.MaxIdle // the rest is read without mu
	p.serve(time.Now())
}

// checkAfter is how long a connection is unused before it is looked at whether it still lives.
const checkAfter = 5 * time.Second

// Sweep closes idle connections that were unused for Limits.IdleTimeout, are older than Limits.MaxLifetime, or have died.
func (p *Pool) Sweep(now time.Time) {
	p.mu.Lock()
	defer p.unlock()
	p.doomIdle(func(c *Conn) bool {
		idle := now.Sub(c.returned)
		return idle >= p.limits.IdleTimeout || !now.Before(c.expires) || idle >= checkAfter && !c.pulse.alive()
	})
}

// places is the number of places taken in the limit, lent that of connections that borrowers have.
func (p *Pool) places() int { return len(p.all) + p.dialing }
func (p *Pool) lent() int   { return len(p.all) - len(p.idle) }

// remove gives up a connection's place. Whoever calls it closes the connection, and serves the queue.
func (p *Pool) remove(c *Conn) {
	delete(p.all, c)
	p.heard += c.stream.Received()
	p.settle()
}

// doom removes a connection that is to be closed when mu is released.
func (p *Pool) doom(c *Conn) {
	p.remove(c)
	p.doomed = append(p.doomed, c)
}

func (p *Pool) doomIdle(which func(*Conn) bool) {
	kept := p.idle[:0]
	for _, c := range p.idle {
		if which(c) {
			p.doom(c)
		} else {
			kept = append(kept, c)
		}
	}
	clear(p.idle[len(kept):])
	p.idle = kept
}

// unlock releases mu and closes what was doomed under it.
func (p *Pool) unlock() {
	doomed := p.doomed
	p.doomed = nil
	p.mu.Unlock()
	for _, c := range doomed {
		c.leave()
	}
}
