package session

import (
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/router/plan"
	"locus/router/stmt"
)

// adding returns the ALTER TABLE that adds columns while statements on the table go on. It returns nil if the statement must run as an
// ordinary definition: it does something else, a server is too old, or the session itself holds the table. notes counts the notes that
// the client gets beside that.
func (s *Session) adding(r *exec.Work, notes *uint16) *exec.Adding {
	p, is := r.Plan.(*plan.Definition)
	if !is || p.Adds == nil || p.Declares != nil || s.conns.ReservesAny() {
		return nil
	}
	plain := func(why string) {
		s.vars.Note(mysql.ER_UNKNOWN_ERROR, why)
		*notes++
	}
	if slices.ContainsFunc(s.servers(), func(server stmt.Server) bool { return !server.HidesColumns() }) {
		plain("a server knows no invisible columns: statements on the table were refused until all shards had it")
		return nil
	}
	return &exec.Adding{
		Columns: p.Adds, Flavor: r.Snapshot.Flavor, Plain: plain,
		Known: func() { // at the end it is told who doesn't know
			if s.Redefined != nil {
				_ = s.Redefined(s.interrupts.Waits())
			}
		},
		May: func() error {
			if s.Snapshot().Map.Moving().Empty() {
				return nil
			}
			return moving("changing the definition of a table")
		},
	}
}
