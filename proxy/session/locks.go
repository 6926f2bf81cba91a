package session

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// lockTables runs LOCK TABLES on every shard that has one of the tables. The shards are locked in the map's order, so that two
// sessions never wait for each other. The connections are reserved for the session until UNLOCK TABLES.
func (s *Session) lockTables(r *exec.Execution, p *plan.Local) error {
	if err := s.checkLockable(r); err != nil {
		return err
	}
	if err := s.engine.RefuseUnderReadLock(); err != nil {
		return err
	}
	var locked []catalog.TableName
	for _, t := range r.Facts.Statement.LockTables {
		locked = append(locked, r.FullName(t.TableName))
	}
	var on []txn.TableLocks
	for _, shard := range r.Snapshot.Catalog.Shards {
		if tables := p.Locks[shard]; len(tables) > 0 {
			on = append(on, txn.TableLocks{Shard: shard, Text: lockText(tables) + r.Facts.Statement.LockWait})
		}
	}
	return s.conns.LockTables(locked, on)
}

// refuseUnlocked refuses declared tables that LOCK TABLES did not name, as servers do. A shard that has none of the locks would
// run the statement.
func (s *Session) refuseUnlocked(r *exec.Execution) error {
	if !s.conns.Reserved(txn.LockedTables) {
		return nil
	}
	switch r.Facts.Statement.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.LoadData:
	default:
		return nil
	}
	for _, t := range r.Facts.Statement.Tables {
		name := r.FullName(t)
		declared, err := r.Snapshot.Catalog.Find(name)
		if err == nil && declared != nil && !slices.Contains(s.conns.LockedNames(), name) {
			return wire.Errorf(erNotLocked, wire.StateGeneral, "Table '%s' was not locked with LOCK TABLES", t.Name)
		}
	}
	return nil
}

// lockText returns the LOCK TABLES statement for some tables.
func lockText(tables []stmt.LockTable) string {
	var b strings.Builder
	b.WriteString("LOCK TABLES ")
	for i, t := range tables {
		if i > 0 {
			b.WriteString(", ")
		}
		if t.Schema != "" {
			b.WriteString(plan.Quote(t.Schema) + ".")
		}
		b.WriteString(plan.Quote(t.Name))
		if t.Alias != "" {
			b.WriteString(" AS " + plan.Quote(t.Alias))
		}
		b.WriteString(" " + t.Mode)
	}
	return b.String()
}

// erLockedAlready is ER_LOCK_OR_ACTIVE_TRANSACTION.
const erLockedAlready = mysql.ER_LOCK_OR_ACTIVE_TRANSACTION

// lockServers runs FLUSH TABLES WITH READ LOCK, LOCK INSTANCE FOR BACKUP and UNLOCK INSTANCE on every shard, in the map's order.
// The connections are reserved for the session until the lock ends.
func (s *Session) lockServers(r *exec.Execution) error {
	lock := r.Facts.Statement.ServerLock
	if !s.engine.Account.Admin {
		return &plan.Refusal{Code: plan.NotAllowed, Message: fmt.Sprintf("%s is for users with admin: true: it concerns the servers of all shards, and all of their users", lock)}
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
		if err := r.Admit(nil, true, nil); err != nil {
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

// checkLockable returns the server's error for a LOCK TABLES that names tables of information_schema, which can't be locked.
// Servers detect the error when they parse the statement. So the transaction continues, and locked tables stay locked.
func (s *Session) checkLockable(r *exec.Execution) error {
	if !slices.ContainsFunc(r.Facts.Statement.Tables, func(t stmt.TableName) bool {
		return strings.EqualFold(r.FullName(t).Schema, "information_schema")
	}) {
		return nil
	}
	refused := s.readByServer(r.Snapshot, lockText(r.Facts.Statement.LockTables))
	if e, ok := errors.AsType[*mysql.MyError](refused); ok && e.Code != mysql.ER_UNSUPPORTED_PS {
		return refused
	}
	return nil
}
