package txn

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/stmt"
)

// atomicMark undoes a statement's parts within a transaction.
const atomicMark = "locus_statement"

// Atomically runs a statement's parts on several shards so that all of them remain, or
// none: in the client's transaction, which it begins with autocommit off, or in one of its
// own.
func (c *Connections) Atomically(f func() error) error {
	locked := c.Reserved(LockedTables)
	switch {
	case c.Running():
		return c.within(f)
	case !c.client.Autocommit():
		c.imply(locked)
		return c.within(f)
	case locked:
		c.imply(true)
		c.ownLocked = true
	default:
		c.open(stmt.Opening{})
	}
	c.own = true
	defer func() { c.own, c.ownLocked = false, false }()
	if err := f(); err != nil {
		c.RollBack()
		c.lost = false // it was the statement's own
		return err
	}
	return c.Commit()
}

// within runs the parts in the client's transaction.
func (c *Connections) within(f func() error) error {
	if err := c.Savepoint(stmt.Mark{Verb: "savepoint", Name: atomicMark}); err != nil {
		return err
	}
	err := f()
	if err == nil || !c.Running() {
		return err
	}
	if undo := c.Savepoint(stmt.Mark{Verb: "rollback", Name: atomicMark}); undo != nil {
		c.RollBack()
		code, state := uint16(mysql.ER_UNKNOWN_ERROR), wire.StateGeneral
		if e, ok := refusal(err); ok {
			code, state = e.Code, e.State
		}
		return wire.Errorf(code, state, "%v; the transaction was rolled back", err)
	}
	return err
}

// Reading runs reads of several shards at one moment, in a transaction of their own.
func (c *Connections) Reading(f func() error) error {
	c.open(stmt.Opening{Access: stmt.ReadOnly})
	c.reading = true
	defer func() {
		c.reading = false
		c.rollback(c.branches)
		next := c.next
		c.end()
		c.next, c.lost = next, false
	}()
	return f()
}
