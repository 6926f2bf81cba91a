package txn

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/stmt"
)

// atomicMark is the savepoint that undoes the parts of a statement within a transaction.
const atomicMark = "locus_statement"

// Atomically runs the parts of a statement on several shards so that either all of them take effect or none. f runs in the client's transaction,
// which Atomically begins if autocommit is off. Otherwise f runs in a transaction of its own.
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
		c.lost = false // the lost transaction was the statement's own
		return err
	}
	return c.Commit()
}

// within runs the parts in the client's transaction. If f fails, it rolls back to a savepoint. If that fails too, it rolls back the transaction.
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

// Reading runs reads of several shards in a read-only transaction of their own, so that all shards read at the same moment. It rolls that
// transaction back.
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
