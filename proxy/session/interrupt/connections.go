package interrupt

import (
	"context"
	"slices"
	"time"

	"locus/router"
)

// Conn is a connection to a shard. Its methods don't wait, but for Absorb.
type Conn interface {
	Shard() router.ShardName
	// ThreadID is its number at the server.
	ThreadID() uint32
	// Interrupt ends a wait for its answer, now or later. It is good for nothing then.
	Interrupt()
	// Absorb has a kill that is still on its way hit a statement without effects.
	Absorb(ctx context.Context)
}

// Pool is where it comes from.
type Pool interface {
	// KillQuery has the server end what runs on a connection, and returns once it has taken note.
	KillQuery(ctx context.Context, thread uint32) error
}

// awaited is a connection whose answers the session waits for, so that another goroutine can end the wait, or what is waited
// for. It is taken out before it is given back: neither an interruption nor a kill may ever hit its next borrower. killed: a
// kill was sent that may hit whatever runs on it next.
type awaited struct {
	pool   Pool
	conn   Conn
	killed bool
}

// Await makes a connection that was borrowed one of those that a cancellation ends. If it has come already, nobody would end
// what is sent now: the error says why, and the caller gives the connection back. It is the session's own.
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

// Remove takes a connection out, and tells whether a kill may still hit what runs on it next. It waits for kills under way. It is
// the session's own.
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

// awaitCalm waits until no kill is under way. The caller holds mu.
func (h *Handle) awaitCalm() {
	for h.killing > 0 {
		h.calm.Wait()
	}
}

// At tells whether one of the connections is of that pool.
func (h *Handle) At(pool Pool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.conns, func(c awaited) bool { return c.pool == pool })
}

// Thread gives the number that a shard knows one of the connections by; 0: none of them goes there.
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

// absorbTime bounds what absorbs kills. A connection that takes longer is closed.
const absorbTime = 5 * time.Second

// absorb runs an empty statement on each connection that was killed and is still the session's.
func (h *Handle) absorb() {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(h.session), absorbTime)
	defer cancel()
	for _, c := range h.struck() {
		c.Absorb(ctx)
	}
}

// struck takes the marks of kills off, and gives the connections that had one.
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
