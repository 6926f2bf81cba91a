package txn

import (
	"slices"

	"locus/proxy/backend"
	"locus/router"
)

// Cursor is a result that a shard keeps for a prepared statement. A nil pointer is
// none.
type Cursor struct {
	of *Connections
	on *holding // nil: closed, or lost with its connection
	// There is the statement, prepared for this cursor alone.
	There *backend.Statement
}

// holding is a connection that stays with the session since cursors are open on
// it. One that is a branch of the transaction becomes the session's own when that
// ends: what cursors read doesn't end with it.
type holding struct {
	branch
	open []*Cursor
	own  bool // no transaction has it
}

// Open notes that the shard has opened the cursor it was asked for. Nobody
// else may execute its statement from now on.
func (l Lease) Open(there *backend.Statement) *Cursor {
	c := l.of
	h := c.holdingOf(l.Conn)
	if h == nil {
		h = &holding{branch: l.branch}
		c.cursors = append(c.cursors, h)
	}
	l.Conn.Claim(there)
	cursor := &Cursor{of: c, on: h, There: there}
	h.open = append(h.open, cursor)
	return cursor
}

// Conn is the connection that its rows are read from; nil: it is closed, or was lost.
func (o *Cursor) Conn() *backend.Conn {
	if o == nil || o.on == nil {
		return nil
	}
	return o.on.Conn
}

// Close ends a cursor, and gives the connection back with the last one. The server has
// no answer to it.
func (o *Cursor) Close() {
	if o.Conn() == nil {
		return
	}
	h := o.on
	o.on = nil
	_ = h.Conn.Unprepare(o.There) // a connection that this breaks isn't lent again
	h.open = slices.DeleteFunc(h.open, func(other *Cursor) bool { return other == o })
	if len(h.open) > 0 {
		return
	}
	o.of.forgetHolding(h)
	if h.own {
		o.of.giveBack(h.branch)
	}
}

// Lost ends a connection that was lost while a cursor was read.
func (o *Cursor) Lost() {
	if o.Conn() == nil {
		return
	}
	c, h := o.of, o.on
	c.loseCursors(h.Conn)
	if h.own {
		c.discard(h.branch)
		return
	}
	c.loseTransaction(h.Shard)
}

// forCursor gives a connection that has cursors already, if no transaction
// says which one it must be.
func (c *Connections) forCursor(shard router.ShardName, settings *backend.Settings) *holding {
	for _, h := range c.cursors {
		if h.own && h.Shard == shard && !c.Running() && h.Conn.Carry(c.ctx, settings) == nil {
			h.own = false
			return h
		}
	}
	return nil
}

func (c *Connections) holdingOf(conn *backend.Conn) *holding {
	for _, h := range c.cursors {
		if h.Conn == conn {
			return h
		}
	}
	return nil
}

// keepForCursors keeps a connection that would be given back.
func (c *Connections) keepForCursors(b branch) bool {
	h := c.holdingOf(b.Conn)
	if h == nil {
		return false
	}
	h.own = true
	return true
}

func (c *Connections) closeCursors() {
	for len(c.cursors) > 0 {
		c.cursors[0].open[0].Close()
	}
}

func (c *Connections) forgetHolding(h *holding) {
	c.cursors = slices.DeleteFunc(c.cursors, func(other *holding) bool { return other == h })
}

// loseCursors forgets the cursors on a connection that is given up.
func (c *Connections) loseCursors(conn *backend.Conn) {
	h := c.holdingOf(conn)
	if h == nil {
		return
	}
	c.forgetHolding(h)
	for _, o := range h.open {
		o.on = nil
	}
}
