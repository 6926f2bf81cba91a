package interrupt

import (
	"context"
	"slices"
	"time"

	"locus/router"
)

// Conn is a connection to a shard. Its methods don't block, except Absorb.
type Conn interface {
	Shard() router.ShardName
	// ThreadID returns its ID at the server.
	ThreadID() uint32
	// Interrupt ends a wait for its answer, now or later. The connection is then unusable.
	Interrupt()
	// Absorb runs a statement without effects for a late kill to hit.
	Absorb(ctx context.Context)
}

// Pool is the pool of a connection.
type Pool interface {
	// KillQuery makes the server end the statement on a connection. It returns once the server has accepted the kill.
	KillQuery(ctx context.Context, thread uint32) error
}

// awaited is a connection whose answers the session waits for, so that another goroutine can end the wait or the statement. It is
// removed before it is returned to its pool, because neither an interruption nor a kill may hit its next borrower. killed reports
// that a kill was sent that may hit the next statement on it.
type awaited struct {
	pool   Pool
	conn   Conn
	killed bool
}

// Await registers a borrowed connection for cancellation. If the command is already cancelled, a statement that is sent now
// would never be ended. Await then returns the reason, and the caller returns the connection. Only the session may call it.
func (h *Handle) Await(pool Pool, c Conn) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.unwanted(); err != nil {
		return err
	}
	h.conns = append(h.conns, awaited{pool: pool, conn: c})
	if h.cut {
		c.Interrupt()
	}
	return nil
}

// Remove unregisters a connection and reports whether a kill may still hit the next statement on it. It waits for kills in
// progress. Only the session may call it.
func (h *Handle) Remove(c Conn) (killed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.awaitCalm()
	for i := range h.conns {
		if h.conns[i].conn == c {
			killed = h.conns[i].killed
			last := len(h.conns) - 1
			h.conns[i], h.conns[last] = h.conns[last], awaited{}
			h.conns = h.conns[:last]
			return killed
		}
	}
	return false
}

// awaitCalm waits until no kill is in progress. The caller holds mu.
func (h *Handle) awaitCalm() {
	for h.killing > 0 {
		h.calm.Wait()
	}
}

// UsesPool reports whether one of the connections belongs to the pool.
func (h *Handle) UsesPool(pool Pool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.conns, func(c awaited) bool { return c.pool == pool })
}

// Thread returns the ID at a shard of one of the connections, or 0 if none goes there.
func (h *Handle) Thread(shard router.ShardName) uint32 {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, c := range h.conns {
		if c.conn.Shard() == shard {
			return c.conn.ThreadID()
		}
	}
	return 0
}

// absorbTime is the time limit for absorbing kills. A connection that takes longer is closed.
const absorbTime = 5 * time.Second

// absorb runs an empty statement on each killed connection that the session still has.
func (h *Handle) absorb() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.session), absorbTime)
	defer cancel()
	for _, c := range h.struck() {
		c.Absorb(ctx)
	}
}

// struck clears the marks of kills and returns the connections that had one.
func (h *Handle) struck() (conns []Conn) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.awaitCalm()
	for i := range h.conns {
		if h.conns[i].killed {
			h.conns[i].killed = false
			conns = append(conns, h.conns[i].conn)
		}
	}
	return conns
}

// interrupt ends the wait for every connection. The caller holds mu.
func (h *Handle) interrupt() {
	for _, c := range h.conns {
		c.conn.Interrupt()
	}
}
