package session

import (
	"slices"
	"strings"

	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/proxy/wire"
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
	if err := s.refuseUnderReadLock(); err != nil {
		return err
	}
	var locked []catalog.TableName
	for _, t := range r.Facts.Statement.LockTables {
		locked = append(locked, r.FullName(t.TableName))
	}
	var on []txn.TableLocks
	for _, shard := range r.Snapshot.Catalog.Shards {
		if tables := p.Locks[shard]; len(tables) > 0 {
			on = append(on, txn.TableLocks{Shard: shard, Text: lockText(tables)})
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
		b.WriteString(plan.Quote(t.Name) + " " + t.Mode)
	}
	return b.String()
}
