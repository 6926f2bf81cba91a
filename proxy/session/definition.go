package session

import (
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

// definer returns what a definition uses of the session.
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
	s.defining.Store(true)
	defer s.defining.Store(false)
	ok, err := s.definer(r).Define(s.definition(r))
	if err != nil {
		return err
	}
	return s.done(ok)
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
	return s.done(total)
}

// runMaintenance runs ANALYZE TABLE and similar statements on tables that are on every shard.
func (s *Session) runMaintenance(r *exec.Execution, p *plan.Maintenance) error {
	st := r.Facts.Statement
	if p.Stays && !r.Snapshot.Map.Moving().Empty() {
		return ddl.Moving(st.Verb + " TABLE of a sharded or global table")
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

// redefining returns an ending that makes all proxies read a definition on one shard before the client gets its OK.
func (s *Session) redefining(r *exec.Execution, shard router.ShardName, next reply.Ending) reply.Ending {
	st := s.definition(r)
	change, definer := st.Change(shard), s.definer(r)
	return func(dst, packet []byte) ([]byte, error) {
		if packet[wire.HeaderSize] != mysql.ERR_HEADER {
			definer.Reread(change)
		}
		if next != nil {
			return next(dst, packet)
		}
		return append(dst, packet...), nil
	}
}
