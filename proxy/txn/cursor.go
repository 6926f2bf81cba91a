package txn

import (
	"slices"

	"locus/proxy/backend"
	"locus/router"
)

// Cursor is a result that a shard keeps for a prepared statement. A nil Cursor is a closed one.
type Cursor struct {
	of *Connections
	on *cursorConn // nil if the cursor is closed, or was lost with its connection
	// There is the statement on the shard, which was prepared for this cursor alone.
	There *backend.Statement
}

// cursorConn is a connection that stays with the session while cursors are open on it. When the transaction ends, one of its branches becomes the
// session's own, because the end of the transaction does not end cursors.
type cursorConn struct {
	branch
	open []*Cursor
	own  bool // the connection belongs to no transaction
}

// Open records that the shard has opened the requested cursor. From then on no other execution may use the statement.
func (l Lease) Open(there *backend.Statement) *Cursor {
	c := l.of
	h := c.cursorConnOf(l.Conn)
	if h == nil {
		h = &cursorConn{branch: l.branch}
		c.cursors = append(c.cursors, h)
	}
	l.Conn.Claim(there)
	cursor := &Cursor{of: c, on: h, There: there}
	h.open = append(h.open, cursor)
	return cursor
}

// Conn returns the connection from which the cursor's rows are read. It is nil if the cursor is closed or lost.
func (o *Cursor) Conn() *backend.Conn {
	if o == nil || o.on == nil {
		return nil
	}
	return o.on.Conn
}

// Close closes a cursor. Closing the last cursor of a connection gives the connection back. The server sends no answer to it.
func (o *Cursor) Close() {
	if o.Conn() == nil {
		return
	}
	h := o.on
	o.on = nil
	_ = h.Conn.Unprepare(o.There) // if this breaks the connection, it is not lent again
	h.open = slices.DeleteFunc(h.open, func(other *Cursor) bool { return other == o })
	if len(h.open) > 0 {
		return
	}
	o.of.forgetCursorConn(h)
	if h.own {
		o.of.giveBack(h.branch)
	}
}

// Lost gives up a connection that was lost while a cursor was read.
func (o *Cursor) Lost() {
	if o.Conn() == nil {
		return
	}
	c, h := o.of, o.on
	c.loseCursors(h.Conn)
	if slices.ContainsFunc(c.branches, func(b branch) bool { return b.Conn == h.Conn }) {
		c.loseTransaction(h.Shard)
	} else { // the connection is kept for the cursor, or reserved
		c.discard(h.branch)
	}
}

// takeForCursor returns a connection of the session that already has cursors, and clears its own flag. It returns nil if there is none, or if a
// transaction runs, which determines the connection.
func (c *Connections) takeForCursor(shard router.ShardName, settings *backend.Settings) *cursorConn {
	for _, h := range c.cursors {
		if h.own && h.Shard == shard && !c.Running() && h.Conn.Carry(c.ctx, settings) == nil {
			h.own = false
			return h
		}
	}
	return nil
}

func (c *Connections) cursorConnOf(conn *backend.Conn) *cursorConn {
	for _, h := range c.cursors {
		if h.Conn == conn {
			return h
		}
	}
	return nil
}

// keepForCursors keeps a connection that would otherwise be given back, and reports whether cursors are open on it.
func (c *Connections) keepForCursors(b branch) bool {
	h := c.cursorConnOf(b.Conn)
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

func (c *Connections) forgetCursorConn(h *cursorConn) {
	c.cursors = slices.DeleteFunc(c.cursors, func(other *cursorConn) bool { return other == h })
}

// loseCursors marks the cursors of a closed connection as lost.
func (c *Connections) loseCursors(conn *backend.Conn) {
	h := c.cursorConnOf(conn)
	if h == nil {
		return
	}
	c.forgetCursorConn(h)
	for _, o := range h.open {
		o.on = nil
	}
}
