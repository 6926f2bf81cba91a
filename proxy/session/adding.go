package session

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/router/plan"
	"locus/router/stmt"
)

// adding returns the ALTER TABLE that adds columns while statements on the table go on. It returns nil if the statement must run as an
// ordinary definition: it does something else, or a server is too old.
func (s *Session) adding(r *exec.Work, with *exec.Altering) *exec.Adding {
	p, is := r.Plan.(*plan.Definition)
	if !is || p.Adds == nil || with == nil || slices.ContainsFunc(s.servers(), func(server stmt.Server) bool { return !server.HidesColumns() }) {
		return nil
	}
	return &exec.Adding{
		Altering: *with, Columns: p.Adds,
		Known: func() { // the error is reported at the end
			if s.Redefined != nil {
				_ = s.Redefined(s.interrupts.Waits(), s.changeOf(r))
			}
		},
	}
}

// altering returns the alteration of an existing table that other sessions use. It returns nil if the statement is something else, or if
// the session has locked the table itself. Notes counts the notes for the client.
func (s *Session) altering(r *exec.Work, notes *uint16) *exec.Altering {
	p, is := r.Plan.(*plan.Definition)
	if !is || p.Course == plan.AtOnce || p.Declares != nil || s.mayHoldTables() {
		return nil
	}
	return &exec.Altering{
		Flavor: r.Snapshot.Flavor,
		Plain: func(why string) {
			s.vars.Note(mysql.ER_UNKNOWN_ERROR, why)
			*notes++
		},
		May: func() error {
			if err := s.stillDeclared(s.env.Request(r)); err != nil {
				return err
			}
			if s.Snapshot().Map.Moving().Empty() {
				return nil
			}
			return moving("changing the definition of a table")
		},
	}
}

// mayHoldTables reports whether the session has something on a connection for which a lock of a table must wait. Named locks, which
// migration tools take, are not among it.
func (s *Session) mayHoldTables() bool {
	return slices.ContainsFunc(txn.Reasons(), func(r txn.Reason) bool {
		return r != txn.NamedLock && r != txn.TemporaryTable && s.conns.Reserved(r)
	})
}
