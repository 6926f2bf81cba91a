package session

import (
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// runDefinition runs CREATE TABLE, ALTER TABLE and similar statements on tables that are on every shard. No transaction can undo them.
// They are refused while genes are being moved, except CREATE TABLE IF NOT EXISTS of an existing table, which changes nothing:
// applications run it when they start.
func (s *Session) runDefinition(asked *exec.Work, p *plan.Definition) error {
	s.defining.Store(true)
	defer s.defining.Store(false)
	r := s.env.Request(asked)
	if p.Renames != nil {
		return s.runRename(r, p.Renames)
	}
	own := r.Work
	ifNotExists := own.Facts.Statement.IfNotExists != nil
	routine := own.Facts.Statement.Defined != nil // moves don't touch any
	if !own.Snapshot.Map.Moving().Empty() && !routine && !(ifNotExists && r.MadeEverywhere()) {
		return moving("changing the definition of a table")
	}
	if err := s.conns.Commit(); err != nil {
		return err
	}
	s.held.Release() // what earlier statements of the same command held is written
	s.env.TellLeft(own)
	d := s.declaring(r)
	r.Ready = func() error {
		if err := s.stillDeclared(r); err != nil {
			return err
		}
		return d.begin()
	}
	var ok wire.OK
	tell := func(e exec.Defined) {
		ok = s.defined(own, e)
		d.end(e)
		s.spreadViews(r, e)
	}
	var err error
	var notes uint16
	with := s.altering(own, &notes)
	if adds := s.adding(own, with); adds != nil {
		err = r.AddColumns(*adds, tell)
	} else if with != nil {
		err = r.Alter(*with, tell)
	} else {
		err = r.Define(tell)
	}
	if e, is := err.(*exec.DefinitionError); is { //nolint:errorlint // it is never wrapped
		said, after := s.clientError(e.Err), e.After
		if d.stands { // so that something was done
			after = ""
		}
		return wire.Errorf(said.Code, said.State, "%s%s%s%s", e.Before, said.Message, after, d.left)
	}
	switch {
	case err != nil && d.left != "":
		said := s.clientError(err)
		return wire.Errorf(said.Code, said.State, "%s%s", said.Message, d.left)
	case err != nil:
		return err
	case d.refused != nil:
		return d.refused
	}
	ok.Warnings += notes + s.warnImmovable(own)
	return s.done(ok)
}

// warnImmovable warns of everything in the new definition that prevents rows from being moved later, and returns the number of warnings. A
// definition that declares a table may be planned again once the table is declared, so it also warns of what the table had before.
func (s *Session) warnImmovable(own *exec.Work) (n uint16) {
	before, st := own.Snapshot.Catalog, own.Facts.Statement
	declares := false
	if st.Comment != nil {
		_, declares = catalog.Said(*st.Comment)
	}
	var known []catalog.Obstacle
	for i, name := range st.Tables {
		t, err := s.Snapshot().Catalog.Find(s.env.FullName(own, name))
		if err != nil || t == nil {
			continue
		}
		if was, err := before.Find(t.TableName); err == nil && was != nil && (i > 0 || !declares) {
			known = append(known, before.Obstacles(was)...)
		}
		for _, o := range s.Snapshot().Catalog.Obstacles(t) {
			if !slices.Contains(known, o) {
				known = append(known, o)
				s.vars.Warn(o.String())
				n++
			}
		}
	}
	return n
}

// defined records the outcome of a definition, and returns the OK for the client.
func (s *Session) defined(r *exec.Work, d exec.Defined) wire.OK {
	if len(d.Done) == 0 && len(d.Passed) > 0 { // IF NOT EXISTS
		s.vars.Soften(d.Passed[0].Said)
		return wire.OK{Warnings: 1}
	}
	for _, p := range d.Passed {
		s.vars.Note(p.Said.Code, "skipped shard "+string(p.Shard)+": "+p.Said.Message)
	}
	d.OK.Warnings += uint16(len(d.Passed))
	if len(d.Done) > 0 {
		s.reread(s.changeOf(r))
		d.OK.Warnings += s.renumber(r)
	}
	return d.OK
}

// moving returns the refusal of a statement that would disturb a move.
func moving(what string) error {
	return &plan.Refusal{Code: plan.Unsupported, Message: what + " while genes are on the move: wait until locus jobs shows the move to be over"}
}

// renumber sets the next numbers of tables to what a server with all their rows would use after the definition. It returns the number of
// warnings.
func (s *Session) renumber(r *exec.Work) (warnings uint16) {
	if s.Numbers == nil || !r.Facts.Statement.Renumbers {
		return 0
	}
	for _, name := range r.Facts.Statement.Tables {
		t, err := s.Snapshot().Catalog.Find(s.env.FullName(r, name))
		if err != nil || t == nil || t.Kind == catalog.Single || t.Numbered() < 0 {
			continue
		}
		if err := s.Numbers.Renumber(s.interrupts.Waits(), t); err != nil {
			s.vars.Warn(fmt.Sprintf("the definition is made, but the numbers of %s go on from where they were: %v: ALTER TABLE … AUTO_INCREMENT = 1 sets them back later", t.TableName, err))
			warnings++
		}
	}
	return warnings
}

// runMaintenance runs ANALYZE TABLE and similar statements on tables that are on every shard.
func (s *Session) runMaintenance(asked *exec.Work, p *plan.Maintenance) error {
	r := s.env.Request(asked)
	own := r.Work
	st := own.Facts.Statement
	if p.Stays && !own.Snapshot.Map.Moving().Empty() {
		return moving(st.Verb + " TABLE of a sharded or global table")
	}
	if st.Effects&stmt.Commits != 0 {
		if err := s.conns.Commit(); err != nil {
			return err
		}
	}
	columns, rows, err := r.Maintain()
	if err != nil {
		return err
	}
	return s.writeRows(columns, rows)
}

// reread makes all proxies read what a definition has changed on some shard.
func (s *Session) reread(change catalog.Change) {
	if s.Redefined == nil {
		return
	}
	if err := s.Redefined(s.interrupts.Waits(), change); err != nil {
		s.vars.Warn("the definition is made, and not known to every proxy yet: " + err.Error())
	}
}

// changeOf returns what a definition on some shards, or on all, can have changed: the names in it, if the parser knows all of them.
func (s *Session) changeOf(r *exec.Work, shards ...router.ShardName) (c catalog.Change) {
	st := r.Facts.Statement
	if st.Defined != nil {
		return catalog.Change{Shards: shards, Routines: []catalog.TableName{s.env.FullName(r, st.Defined.Name)}}
	}
	if st.Kind != stmt.DDL || st.Features&stmt.Program != 0 {
		return catalog.Anything
	}
	named := slices.Concat(st.Tables, st.Dropped)
	for _, one := range st.Renames {
		named = append(named, one.From, one.To)
	}
	for _, name := range named {
		c = c.And(catalog.Change{Shards: shards, Tables: []catalog.TableName{s.env.FullName(r, name)}})
	}
	if c.Empty() {
		return catalog.Anything
	}
	return c
}

// defines reports whether names may have other meanings after a statement on one shard. Temporary tables belong to the session alone.
func (s *Session) defines(r *exec.Work) bool {
	st := r.Facts.Statement
	switch {
	case st.Kind == stmt.CreateSchema:
		return st.Features&stmt.DropsSchema != 0
	case st.Kind != stmt.DDL && st.Kind != stmt.Other || st.Features&(stmt.TemporaryTable|stmt.SwitchesKeys) != 0:
		return false
	case st.Verb == "DROP" && len(st.Dropped) > 0 && !slices.ContainsFunc(st.Dropped, func(t stmt.TableName) bool { return !slices.Contains(s.conns.TemporaryTables(), s.env.FullName(r, t)) }):
		return false
	}
	return st.Verb == "CREATE" || st.Verb == "ALTER" || st.Verb == "DROP" || st.Verb == "RENAME"
}

// redefining returns an ending that makes all proxies read a definition on one shard before the client gets its OK.
func (s *Session) redefining(r *exec.Work, shard router.ShardName, next reply.Ending) reply.Ending {
	change := s.changeOf(r, shard) // the ending must not hold r, which would then be allocated for each statement
	return func(dst, packet []byte) ([]byte, error) {
		if packet[wire.HeaderSize] != mysql.ERR_HEADER {
			s.reread(change)
		}
		if next != nil {
			return next(dst, packet)
		}
		return append(dst, packet...), nil
	}
}
