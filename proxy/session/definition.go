package session

import (
	"errors"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/ddl"
	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// definer returns the parts of the session that a definition uses.
func (s *Session) definer(r *exec.Execution) *ddl.Session {
	return &ddl.Session{
		Services: &s.Definitions, Context: s.ctx, User: s.user, Conns: s.conns, Observer: s.observer, Diagnostics: &s.vars,
		Servers: s.servers(), Message: func(err error) string { return s.clientError(err).Message },
		Commit: func() error {
			if err := s.conns.Commit(); err != nil {
				return err
			}
			s.held.Release() // the rows with the numbers of earlier statements of this command are committed
			r.LogEffects()
			return nil
		},
	}
}

// definition returns a statement in the form in which package ddl runs it.
func (s *Session) definition(r *exec.Execution) ddl.Statement {
	p, _ := r.Plan.(*plan.Definition)
	return ddl.Statement{Plan: p, Facts: r.Facts, Values: r.Values, Under: r.Snapshot, Schema: r.Schema(), Settings: s.vars.Settings}
}

// runDefinition runs CREATE TABLE, ALTER TABLE and similar statements on tables, views and routines that are on every shard.
func (s *Session) runDefinition(r *exec.Execution) error {
	if r.Facts.Statement.OneDialect { // no shard is sent the text
		refused := s.readByServer(r.Snapshot, string(r.Values.Text))
		if e, ok := errors.AsType[*mysql.MyError](refused); ok && e.Code == mysql.ER_PARSE_ERROR {
			return refused
		}
	}
	s.defining.Store(true)
	defer s.defining.Store(false)
	ok, err := s.definer(r).Define(s.definition(r))
	if err != nil {
		return err
	}
	return s.engine.Done(ok)
}

// locksForTrigger reports whether the statement creates a trigger while its table is locked.
func (s *Session) locksForTrigger(r *exec.Execution) bool {
	t := r.Facts.Statement.Trigger
	return t != nil && t.Creates && s.definer(r).LocksForTrigger(r.FullName(t.On))
}

// runTrigger runs CREATE TRIGGER on one shard.
func (s *Session) runTrigger(r *exec.Execution, shard router.ShardName) error {
	if err := r.AdmitUnsharded(); err != nil {
		return err
	}
	ok, err := s.definer(r).DefineTrigger(s.definition(r), shard)
	if err != nil {
		return err
	}
	return s.engine.Done(ok)
}

// runSchema runs CREATE, ALTER or DROP DATABASE on every shard.
func (s *Session) runSchema(r *exec.Execution) error {
	st, definer := s.definition(r), s.definer(r)
	total, err := definer.DefineDatabase(st)
	if err != nil {
		return err
	}
	if dropped := st.Dropped(); dropped != "" && s.vars.Settings.Database() == dropped {
		s.engine.Carry(s.vars.Settings.WithDatabase(""))
		s.vars.TrackSchema()
	}
	if s.defines(r) {
		definer.Reread(catalog.Anything)
	}
	return s.engine.Done(total)
}

// defines reports whether names may have other meanings after a statement on one shard. Temporary tables belong to the session alone.
func (s *Session) defines(r *exec.Execution) bool {
	st := r.Facts.Statement
	switch {
	case st.Kind == stmt.CreateSchema:
		return st.Features&stmt.DropsSchema != 0
	case st.Kind != stmt.DDL && st.Kind != stmt.Other || st.Features&(stmt.TemporaryTable|stmt.SwitchesKeys) != 0:
		return false
	case st.Verb == "DROP" && len(st.Dropped) > 0 && !slices.ContainsFunc(st.Dropped, func(t stmt.TableName) bool { return !slices.Contains(s.conns.TemporaryTables(), r.FullName(t)) }):
		return false
	}
	return st.Verb == "CREATE" || st.Verb == "ALTER" || st.Verb == "DROP" || st.Verb == "RENAME"
}

// redefining returns the endings that make all proxies read a definition on one shard before the client gets its OK.
func (s *Session) redefining(r *exec.Execution) func(router.ShardName, reply.Ending) reply.Ending {
	return func(shard router.ShardName, last reply.Ending) reply.Ending {
		st, definer := s.definition(r), s.definer(r)
		change := st.Change(shard)
		ending := func(dst, packet []byte) ([]byte, error) {
			ok, err := wire.ParseOK(packet[wire.HeaderSize:], 0)
			switch {
			case packet[wire.HeaderSize] == mysql.ERR_HEADER && !st.FailsPartly():
			case err == nil && st.FoundNothing(shard, ok.Warnings):
			default:
				definer.Reread(change)
			}
			if last != nil {
				return last(dst, packet)
			}
			return append(dst, packet...), nil
		}
		if s.declaresNothing(r) {
			return s.notingUndeclared(r, ending)
		}
		return ending
	}
}

// declaresNothing reports whether the statement creates an undeclared table in a database with sharded tables. Its rows will be
// on the default shard alone, which may not be what the client intended.
func (s *Session) declaresNothing(r *exec.Execution) bool {
	st := r.Facts.Statement
	if st.Features&stmt.MakesTable == 0 || len(st.Tables) == 0 || !s.wantsNotes() {
		return false
	}
	name := r.FullName(st.Tables[0])
	_, declared := r.Snapshot.Catalog.Declared(name)
	return !declared && r.Snapshot.Catalog.HasSharded(name.Schema)
}

// wantsNotes reports whether the session has not switched off notes.
func (s *Session) wantsNotes() bool {
	literal, set := s.vars.Settings.Lookup("sql_notes")
	return !set || literal != "0" && literal != "OFF" && literal != "'OFF'"
}

// notingUndeclared returns an ending that adds a note to the OK of a shard.
func (s *Session) notingUndeclared(r *exec.Execution, next reply.Ending) reply.Ending {
	name := r.FullName(r.Facts.Statement.Tables[0])
	return func(dst, packet []byte) ([]byte, error) {
		if packet[wire.HeaderSize] != mysql.OK_HEADER {
			return next(dst, packet)
		}
		ok, err := wire.ParseOK(packet[wire.HeaderSize:], 0)
		if err != nil {
			return nil, err
		}
		s.vars.Note(mysql.ER_UNKNOWN_ERROR, "table "+name.String()+" is not declared: all its rows are on the default shard; a COMMENT 'locus: …' declares it")
		ok.Warnings++
		_, seq := wire.Header(packet)
		noted, _ := wire.AppendOK(nil, seq, ok, s.client.Capabilities)
		return next(dst, noted)
	}
}
