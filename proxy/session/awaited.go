package session

import (
	"context"
	"errors"
	"sync"

	"locus/proxy/backend"
	"locus/router"
)

// awaited are the connections whose answers the session waits for, so that
// another goroutine can end the wait, or what is waited for. A connection is
// taken out before it is given back: neither an interruption nor a kill may ever
// hit its next borrower.
type awaited struct {
	mu    sync.Mutex // never held across I/O
	conns []awaitedConn
	ended bool // every further one is interrupted at once

	// killing counts the kills under way, during which nothing is taken out.
	killing int
	calm    sync.Cond // of mu: killing is 0
}

// awaitedConn is one connection. killed: a kill was sent that may hit whatever
// runs on it next.
type awaitedConn struct {
	pool   *backend.Pool
	conn   *backend.Conn
	killed bool
}

// add puts a connection in. The caller holds mu.
func (a *awaited) add(pool *backend.Pool, c *backend.Conn) {
	a.conns = append(a.conns, awaitedConn{pool: pool, conn: c})
	if a.ended {
		c.Interrupt()
	}
}

// remove takes a connection out, and tells whether a kill may still hit what
// runs on it next; it waits for an interruption or a kill under way.
func (a *awaited) remove(c *backend.Conn) (killed bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.killing > 0 {
		a.calm.Wait()
	}
	for i := range a.conns {
		if a.conns[i].conn == c {
			killed = a.conns[i].killed
			a.conns[i] = a.conns[len(a.conns)-1]
			a.conns[len(a.conns)-1] = awaitedConn{}
			a.conns = a.conns[:len(a.conns)-1]
			return killed
		}
	}
	return false
}

// thread gives the number that a shard knows one of the connections by; 0: none
// of them goes there.
func (a *awaited) thread(shard router.ShardName) uint32 {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, c := range a.conns {
		if c.conn.Shard() == shard {
			return c.conn.ThreadID()
		}
	}
	return 0
}

func (a *awaited) interrupt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, c := range a.conns {
		c.conn.Interrupt()
	}
}

// kill has the shards end what runs on the connections, all at once. The caller
// has counted it in killing, and taken the list, under mu.
func (a *awaited) kill(ctx context.Context, conns []awaitedConn) error {
	errs := make([]error, len(conns))
	var tasks sync.WaitGroup
	for i, c := range conns {
		tasks.Go(func() { errs[i] = c.pool.KillQuery(ctx, c.conn.ThreadID()) })
	}
	tasks.Wait()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.killing--; a.killing == 0 {
		a.calm.Broadcast()
	}
	return errors.Join(errs...)
}

// struck takes the marks of kills off those connections that are still the
// session's, and gives them.
func (a *awaited) struck() (conns []*backend.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for a.killing > 0 {
		a.calm.Wait()
	}
	for i := range a.conns {
		if a.conns[i].killed {
			a.conns[i].killed = false
			conns = append(conns, a.conns[i].conn)
		}
	}
	return conns
}
