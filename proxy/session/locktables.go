package session

import (
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// lockTables runs LOCK TABLES: on every shard that has one of the tables, in the
// map's order, so that two sessions never wait for each other's. The connections
// stay the session's until UNLOCK TABLES.
func (s *Session) lockTables(r *request) error {
	if err := s.locksNothing(r); err != nil {
		return err
	}
	if err := s.unlockTables(); err != nil {
		return err
	}
	if err := s.commit(); err != nil { // as MySQL does
		return err
	}
	var locked []catalog.TableName
	for _, t := range r.plan.Statement.LockTables {
		locked = append(locked, s.fullName(r, t.TableName))
	}
	for _, shard := range r.world.Catalog.Shards {
		tables := r.plan.LockTables[shard]
		if len(tables) == 0 {
			continue
		}
		if err := s.lockOn(shard, lockText(tables)); err != nil {
			_ = s.unlockTables()
			return err
		}
		s.pins.locked = locked
	}
	return nil
}

// notLocked refuses declared tables that LOCK TABLES does not name, as servers do: on a
// shard that has none of the locks the server would let the statement pass.
func (s *Session) notLocked(r *request) error {
	if !s.pins.has(lockedTables) {
		return nil
	}
	switch r.plan.Statement.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete, stmt.LoadData:
	default:
		return nil
	}
	for _, t := range r.plan.Statement.Tables {
		name := s.fullName(r, t)
		declared, err := r.world.Catalog.Find(name)
		if err == nil && declared != nil && !slices.Contains(s.pins.locked, name) {
			return fail(erNotLocked, stateGeneral, "Table '%s' was not locked with LOCK TABLES", t.Name)
		}
	}
	return nil
}

func (s *Session) lockOn(shard router.ShardName, text string) error {
	l, err := s.lendSpanning(shard, false, Multi)
	if err != nil {
		return err
	}
	if _, err := l.conn.Exec(s.ctx, text); err != nil {
		s.release(l.branch, err)
		return err
	}
	s.pin(l, lockedTables)
	s.done(l, l.conn.Status()) // with autocommit off it has begun a transaction
	return nil
}

func lockText(tables []stmt.LockTable) string {
	var b strings.Builder
	b.WriteString("LOCK TABLES ")
	for i, t := range tables {
		if i > 0 {
			b.WriteString(", ")
		}
		if t.Schema != "" {
			b.WriteString(quotedName(t.Schema) + ".")
		}
		b.WriteString(quotedName(t.Name) + " " + t.Mode)
	}
	return b.String()
}

func quotedName(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }

// unlockTables runs UNLOCK TABLES, which commits what was done under the locks.
func (s *Session) unlockTables() error {
	if !s.pins.has(lockedTables) {
		return nil
	}
	if err := s.commit(); err != nil {
		return err
	}
	for _, p := range append([]pin(nil), s.pins.list...) {
		if p.reasons&(1<<lockedTables) == 0 {
			continue
		}
		if _, err := p.conn.Own().Exec(s.ctx, "UNLOCK TABLES"); err != nil {
			s.release(p.branch, err)
			return err
		}
	}
	s.unpin(lockedTables, nil)
	return nil
}

// runPartsLocked runs the parts of a statement under LOCK TABLES, which BEGIN
// would end: in a transaction that autocommit being off begins.
func (s *Session) runPartsLocked(r *request, parts []part) (totals, error) {
	settings := s.vars.Settings
	s.carry(settings.With("autocommit", "0"))
	defer func() { s.carry(settings) }()
	s.txn.imply(true)
	total, err := s.runEach(r, parts)
	if err != nil {
		s.rollbackBranches()
		s.txn.lost = false // it was the statement's own
		return total, err
	}
	return total, s.commit()
}
