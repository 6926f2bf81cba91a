package txn

import (
	"errors"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/twophase"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/stmt"
)

// A lock on all shards may have to wait for transactions that are committed on only some of them. It is attempted wholeTries times, with a pause
// of wholePause between attempts.
const (
	wholeTries = 40
	wholePause = 250 * time.Millisecond
)

// LockServers runs FLUSH TABLES WITH READ LOCK, or LOCK INSTANCE FOR BACKUP, on shards one after the other. It reserves their connections until
// FreeServers. Either all servers are locked or none. Under a read lock, no transaction on several shards is committed on only some of them. So
// the data of all shards is of one moment.
func (c *Connections) LockServers(lock stmt.ServerLock, shards []router.ShardName) error {
	if err := c.ensureReady(lock, shards); err != nil {
		return err
	}
	for range wholeTries {
		if err := c.lockEach(lock, shards); err != nil {
			_ = c.FreeServers(lock)
			return err
		}
		whole, err := c.noneHalfCommitted(lock, shards)
		if err == nil && whole {
			return nil
		}
		if undo := c.FreeServers(lock); err == nil {
			err = undo
		}
		if err != nil {
			return err
		}
		select {
		case <-c.Waits().Done():
			return c.Unwanted()
		case <-time.After(wholePause):
		}
	}
	return wire.Errorf(mysql.ER_LOCK_WAIT_TIMEOUT, wire.StateGeneral, "%s: each time that all shards were locked, a transaction over several of them was committed on some and not yet on others; "+
		"nothing is locked: try again, and see locus doctor for transactions that stay so", lock)
}

// ensureReady checks whether transactions may span the shards, before the shards are locked. The first check of a shard writes to it, which would
// wait for the lock. If transactions may not span a shard, the error is left to the transaction.
func (c *Connections) ensureReady(lock stmt.ServerLock, shards []router.ShardName) error {
	if lock != stmt.ReadLock || c.Spanning != XA || len(shards) < 2 {
		return nil
	}
	for _, shard := range shards {
		err := c.Coordinator.Ready(c.Waits(), shard)
		if _, lacks := errors.AsType[*twophase.LackError](err); err != nil && !lacks {
			return wire.Errorf(mysql.ER_LOCK_WAIT_TIMEOUT, wire.StateGeneral, "%s: %v; nothing is locked: try again", lock, err)
		}
	}
	return nil
}

// noneHalfCommitted reports whether no transaction is committed on only some of the locked shards.
func (c *Connections) noneHalfCommitted(lock stmt.ServerLock, shards []router.ShardName) (bool, error) {
	if lock != stmt.ReadLock || c.Spanning != XA || len(shards) < 2 {
		return true, nil
	}
	halves, err := c.Coordinator.Halves(c.Waits(), shards)
	return len(halves) == 0, err
}

// lockEach locks the servers of shards and reserves their connections. It stops at the first error, and leaves the earlier locks to the caller.
func (c *Connections) lockEach(lock stmt.ServerLock, shards []router.ShardName) error {
	for _, shard := range shards {
		l, err := c.AcquireAs(shard, Outside, c.settingsAnywhere())
		if err != nil {
			return err
		}
		if _, err := l.Conn.Exec(c.ctx, lock.String()); err != nil {
			l.Fail(err)
			return err
		}
		l.Reserve(reasonOf(lock))
		l.Done(l.Conn.Status())
	}
	return nil
}

// settingsAnywhere returns settings that a connection to any shard can have. The session's database may exist on the default shard only.
func (c *Connections) settingsAnywhere() *backend.Settings {
	settings := c.settings()
	if settings.Database() == "" {
		return settings
	}
	return settings.WithDatabase("information_schema")
}

func reasonOf(lock stmt.ServerLock) Reason {
	if lock == stmt.ReadLock {
		return ReadLock
	}
	return InstanceLock
}

// FreeServers releases the locks of LockServers. An open transaction continues.
func (c *Connections) FreeServers(lock stmt.ServerLock) error {
	reason, text := reasonOf(lock), "UNLOCK TABLES"
	if reason == InstanceLock {
		text = stmt.InstanceFreed.String()
	}
	if !c.Reserved(reason) {
		return nil
	}
	var failure error
	for _, r := range slices.Clone(c.reserved.list) {
		if !r.has(reason) {
			continue
		}
		if _, err := r.Conn.Own().Exec(c.ctx, text); err != nil { // if the unlock fails, the connection is closed, which releases the lock
			failure = err
			if c.on(r.Shard) != nil {
				c.loseTransaction(r.Shard)
			} else {
				c.discard(r.branch)
			}
		}
	}
	c.unreserve(reason, nil)
	return failure
}
