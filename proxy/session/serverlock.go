package session

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// erLockedAlready is ER_LOCK_OR_ACTIVE_TRANSACTION.
const erLockedAlready = mysql.ER_LOCK_OR_ACTIVE_TRANSACTION

// lockServers runs FLUSH TABLES WITH READ LOCK, LOCK INSTANCE FOR BACKUP and UNLOCK INSTANCE on every shard, in the map's order.
// The connections are reserved for the session until the lock ends.
func (s *Session) lockServers(r *exec.Execution) error {
	lock := r.Facts.Statement.ServerLock
	if !s.engine.Account.Admin {
		return &plan.Refusal{Code: plan.NotAllowed, Message: fmt.Sprintf("%s is for users with admin: true: it concerns the servers of all shards, whoever uses them", lock)}
	}
	switch lock {
	case stmt.InstanceFreed:
		return s.conns.FreeServers(lock)
	case stmt.ReadLock:
		if s.conns.Reserved(txn.LockedTables) {
			return wire.Errorf(erLockedAlready, wire.StateGeneral, "Can't execute the given command because you have active locked tables or an active transaction")
		}
		if err := s.conns.Commit(); err != nil {
			return err
		}
	case stmt.InstanceLock:
	}
	return s.conns.LockServers(lock, r.Snapshot.Catalog.Shards)
}

// refuseUnderReadLock refuses LOCK TABLES while the session has the read lock on all shards. UNLOCK TABLES would end both.
func (s *Session) refuseUnderReadLock() error {
	if s.conns.Reserved(txn.ReadLock) {
		return &plan.Refusal{Code: plan.Unsupported, Message: "LOCK TABLES after FLUSH TABLES WITH READ LOCK, which one UNLOCK TABLES would end together: UNLOCK TABLES first"}
	}
	return nil
}

// unlockTables runs UNLOCK TABLES, which ends both kinds of locks. After a read lock on all shards, the transaction continues.
func (s *Session) unlockTables() error {
	if err := s.conns.UnlockTables(); err != nil {
		return err
	}
	return s.conns.FreeServers(stmt.ReadLock)
}

// begin runs BEGIN and START TRANSACTION. WITH CONSISTENT SNAPSHOT, every shard that has rows of declared tables joins at once,
// unless a transaction may be on one shard only. Such a transaction concerns all rows, so that no gene is handed over while it is
// open.
func (s *Session) begin(r *exec.Execution) error {
	how := *r.Facts.Statement.Opening
	if how.Snapshot {
		if err := s.admit(r, nil, true, nil); err != nil {
			return err
		}
	}
	if s.conns.Begun() {
		s.vars.Restate()
	}
	if err := s.conns.Begin(how); err != nil || !how.Snapshot {
		return err
	}
	err := s.engine.Anywhere(s.engine.StandIns(r.Snapshot), true, func(shard router.ShardName, how txn.Mode) error { return s.conns.Join(shard, how, "") })
	if err != nil || s.Spanning == txn.Single {
		return err
	}
	read := snapshotReads(r.Snapshot.Catalog)
	for _, shard := range r.Snapshot.Catalog.Shards {
		if home, _ := s.conns.Home(); shard == home || read[shard] == "" {
			continue
		}
		if err := s.conns.Join(shard, 0, read[shard]); err != nil {
			s.conns.RollBack()
			return err
		}
	}
	return nil
}

// snapshotReads returns a read of a declared table for each shard that has rows of one. A server takes its snapshot at the first
// read, unless the transaction's first statement requests it.
func snapshotReads(c *catalog.Catalog) map[router.ShardName]string {
	read := map[router.ShardName]string{}
	for _, t := range c.Tables() {
		text := "SELECT 1 FROM " + plan.Quote(t.Schema) + "." + plan.Quote(t.Name) + " LIMIT 1"
		if t.Kind == catalog.Single {
			read[t.Shard] = text
			continue
		}
		for _, shard := range c.Shards {
			read[shard] = text
		}
	}
	return read
}
