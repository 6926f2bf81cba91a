package session

import (
	"sync"

	"locus/proxy/backend"
)

// awaited are the connections whose answers the session waits for, so that
// another goroutine can end the wait. A connection is taken out before it is
// given back: an interruption must never hit its next borrower.
type awaited struct {
	mu    sync.Mutex
	conns []*backend.Conn
	ended bool // every further one is interrupted at once
}

// add puts a connection in.
func (a *awaited) add(c *backend.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.conns = append(a.conns, c)
	if a.ended {
		c.Interrupt()
	}
}

// remove takes a connection out; it waits for an interruption under way.
func (a *awaited) remove(c *backend.Conn) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for i := range a.conns {
		if a.conns[i] == c {
			a.conns[i] = a.conns[len(a.conns)-1]
			a.conns = a.conns[:len(a.conns)-1]
			return
		}
	}
}

func (a *awaited) interrupt() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	for _, c := range a.conns {
		c.Interrupt()
	}
}
