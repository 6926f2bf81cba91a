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

// Pool keeps the connections to one shard. It is safe for concurrent use.
type Pool struct {
	shard  router.ShardName
	limits Limits
	log    *slog.Logger
	dial   dialFunc
	kills  chan struct{} // one token per running KILL
	// several holds one token for each borrower that may take several connections at once.
	several chan struct{}
	counts  counts
	// cleaning counts the running resets of returned connections.
	cleaning sync.WaitGroup
	version  atomic.Pointer[string] // version of the server at the last login; nil before the first
	stale    atomic.Pointer[Pool]   // pool of the last known primary, see LastKnown; nil before the target first allows stale reads

	mu         sync.Mutex // guards the fields below; never held across I/O; released by unlock if a connection was doomed
	target     Target
	generation int                // incremented when target's server changes
	schemas    int                // incremented when a database changes
	all        map[*Conn]struct{} // every connection, lent or idle
	idle       []*Conn            // the most recently used one is last
	dialing    int                // logins in progress, each with a place in the limit
	queue      queue              // empty unless nothing can be granted to its first waiter
	breaker    breaker
	suspicion  time.Time // connections not used since then may have died
	orphans    orphans
	waker      *time.Timer     // serves the queue when the breaker admits the next login; nil until first needed
	doomed     []*Conn         // removed from the pool, closed when mu is released
	held       bool            // no connection is lent, and returned connections are closed
	term       *stream.Term    // lending ends with it; nil for no end. Each server has its own
	expiry     *time.Timer     // fires at the end of the term; nil before the first term
	confirmed  bool            // the term was leased at least once
	began      time.Time       // when the term began
	resting    bool            // returned connections are closed
	frozen     error           // why nothing is sent to the server, or nil
	warm       context.Context // ends when the server freezes; ends logins in progress
	chill      context.CancelCauseFunc
	prompt     context.Context // ends when the server is overdue; ends waits of borrowers that can ask another server
	turn       context.CancelCauseFunc
	heard      uint64 // reads on connections that are gone
	prober     *Conn  // connection of the last probe; nil while a probe runs
	closed     bool
	empty      chan struct{} // closed once the pool is closed and has no connections
}

// NewPool makes a pool. It doesn't dial yet. [Registry.Run] maintains idle connections, or the caller calls Sweep regularly.
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
	p.offerStale(t)
	return p
}

// Shard returns the shard that the pool's connections go to.
func (p *Pool) Shard() router.ShardName { return p.shard }

// LeaveDatabases records that a database was created, altered or dropped. A connection keeps properties of its current
// database, such as @@collation_database, from when it entered it, and MariaDB doesn't re-enter the current database. So
// connections with a current database are closed, borrowed ones when they come back.
func (p *Pool) LeaveDatabases() {
	p.each((*Pool).leaveDatabases)
}

func (p *Pool) leaveDatabases() {
	p.mu.Lock()
	defer p.unlock()
	p.schemas++
	p.doomIdle(func(c *Conn) bool { return c.database != "" })
	p.serve(time.Now())
}

// SetTarget points the pool at the shard's current server. If that is another server, idle connections to the old one are
// closed at once and borrowed ones when they come back. Failures of the old server don't count for the new one.
func (p *Pool) SetTarget(t Target) {
	moved := p.retarget(t)
	p.offerStale(t)
	if moved {
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

// resize applies another limit of connections. Connections above the limit are closed when they come back.
func (p *Pool) resize(l Limits) {
	p.each(func(p *Pool) { p.limit(l) })
}

func (p *Pool) limit(l Limits) {
	p.mu.Lock()
	defer p.unlock()
	l = l.withDefaults()
	p.limits.MaxOpen, p.limits.MaxIdle = l.MaxOpen, l.MaxIdle // the other limits are read without mu
	p.serve(time.Now())
}

// checkAfter is how long a connection is unused before Sweep checks that it is alive.
const checkAfter = 5 * time.Second

// Sweep closes idle connections that were unused for Limits.IdleTimeout, are older than Limits.MaxLifetime, or have died.
func (p *Pool) Sweep(now time.Time) {
	p.each(func(p *Pool) { p.sweep(now) })
}

func (p *Pool) sweep(now time.Time) {
	p.mu.Lock()
	defer p.unlock()
	p.doomIdle(func(c *Conn) bool {
		idle := now.Sub(c.returned)
		return idle >= p.limits.IdleTimeout || !now.Before(c.expires) || idle >= checkAfter && !c.pulse.alive()
	})
}

// places returns the number of connections that count towards the limit. lent returns the number of borrowed connections.
func (p *Pool) places() int { return len(p.all) + p.dialing }
func (p *Pool) lent() int   { return len(p.all) - len(p.idle) }

// remove frees a connection's place. The caller closes the connection and serves the queue.
func (p *Pool) remove(c *Conn) {
	delete(p.all, c)
	p.heard += c.stream.Received()
	p.settle()
}

// doom removes a connection, which is closed when mu is released.
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

// unlock releases mu and closes the connections that were marked for closing while it was held.
func (p *Pool) unlock() {
	doomed := p.doomed
	p.doomed = nil
	p.mu.Unlock()
	for _, c := range doomed {
		c.leave()
	}
}
