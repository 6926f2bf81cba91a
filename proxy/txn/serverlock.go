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

// What a lock on all shards may wait for transactions that are committed on some of them: so often, with a pause in between.
const (
	wholeTries = 40
	wholePause = 250 * time.Millisecond
)

// LockServers runs FLUSH TABLES WITH READ LOCK, or LOCK INSTANCE FOR BACKUP, on shards one after the other, and reserves their
// connections until that ends. All or none are locked. Under a read lock no transaction over several shards is committed on some
// of them only: what the shards have is of one moment.
func (c *Connections) LockServers(lock stmt.ServerLock, shards []router.ShardName) error {
	if err := c.tried(lock, shards); err != nil {
		return err
	}
	for range wholeTries {
		if err := c.lockEach(lock, shards); err != nil {
			_ = c.FreeServers(lock)
			return err
		}
		whole, err := c.whole(lock, shards)
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

// tried looks whether transactions may span the shards before they are locked: where that was not tried yet it is tried by writing, which would
// wait for the lock. Where they may not, the transaction says so.
func (c *Connections) tried(lock stmt.ServerLock, shards []router.ShardName) error {
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

// whole tells whether no transaction is committed on some of the locked shards only.
func (c *Connections) whole(lock stmt.ServerLock, shards []router.ShardName) (bool, error) {
	if lock != stmt.ReadLock || c.Spanning != XA || len(shards) < 2 {
		return true, nil
	}
	halves, err := c.Coordinator.Halves(c.Waits(), shards)
	return len(halves) == 0, err
}

func (c *Connections) lockEach(lock stmt.ServerLock, shards []router.ShardName) error {
	for _, shard := range shards {
		l, err := c.AcquireAs(shard, Outside, c.anywhere())
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

// anywhere are settings that a connection to any shard can carry: the session's database may be on the default shard alone.
func (c *Connections) anywhere() *backend.Settings {
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

// FreeServers ends what LockServers has locked. The transaction, if one is open, goes on.
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
		if _, err := r.Conn.Own().Exec(c.ctx, text); err != nil { // what can't be told to let go is closed, which lets go
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
