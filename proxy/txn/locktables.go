package txn

import (
	"slices"

	"locus/router"
	"locus/router/catalog"
)

// TableLocks is a LOCK TABLES statement for one shard.
type TableLocks struct {
	Shard router.ShardName
	Text  string
}

// LockTables runs LOCK TABLES on shards one after the other, and reserves their connections until UNLOCK TABLES. Either all tables are locked or
// none.
func (c *Connections) LockTables(tables []catalog.TableName, on []TableLocks) error {
	if err := c.UnlockTables(); err != nil {
		return err
	}
	if err := c.Commit(); err != nil { // as MySQL does
		return err
	}
	for _, locks := range on {
		if err := c.lockOn(locks, tables); err != nil {
			_ = c.UnlockTables()
			return err
		}
	}
	return nil
}

// lockOn runs LOCK TABLES on one shard, and reserves the connection.
func (c *Connections) lockOn(locks TableLocks, tables []catalog.TableName) error {
	if err := c.Unwanted(); err != nil {
		return err
	}
	var l Lease
	var err error
	if b := c.on(locks.Shard); b != nil {
		l, err = c.leaseBranch(b, 0, c.settings())
	} else {
		l, err = c.lease(locks.Shard, 0, c.settings(), Multi)
	}
	if err != nil {
		return err
	}
	if _, err := l.Conn.Exec(c.ctx, locks.Text); err != nil {
		c.giveBackAfter(l.branch, err)
		return err
	}
	l.Reserve(LockedTables)
	c.reserved.locked = tables
	l.Done(l.Conn.Status()) // with autocommit off, LOCK TABLES has begun a transaction
	return nil
}

// LockedNames returns the tables that LOCK TABLES locked, or nil.
func (c *Connections) LockedNames() []catalog.TableName {
	if !c.Reserved(LockedTables) {
		return nil
	}
	return c.reserved.locked
}

// UnlockTables runs UNLOCK TABLES. It commits first, as the servers do.
func (c *Connections) UnlockTables() error {
	if !c.Reserved(LockedTables) {
		return nil
	}
	if err := c.Commit(); err != nil {
		return err
	}
	for _, r := range slices.Clone(c.reserved.list) {
		if !r.has(LockedTables) {
			continue
		}
		if _, err := r.Conn.Own().Exec(c.ctx, "UNLOCK TABLES"); err != nil {
			c.giveBackAfter(r.branch, err)
			return err
		}
	}
	c.unreserve(LockedTables, nil)
	return nil
}
