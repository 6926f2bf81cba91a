package session

import (
	"locus/proxy/backend"
	"locus/proxy/interrupt"
)

// interrupts adapts the session's interrupt handle to the interface that its connections need.
type interrupts struct{ *interrupt.Handle }

func (i interrupts) Await(pool *backend.Pool, c *backend.Conn) error { return i.Handle.Await(pool, c) }
func (i interrupts) Remove(c *backend.Conn) (killed bool)            { return i.Handle.Remove(c) }
