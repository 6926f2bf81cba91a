package session

import (
	"locus/router/plan"
	"locus/router/stmt"
)

// mayBeLate tells whether a statement may be sent to a replica: a plain read
// outside a transaction, of a session that asked for it. Routines might write, and
// locks hold on the primary alone.
func (s *Session) mayBeLate(f *plan.Facts) bool {
	const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget | stmt.SetsUserVariable
	return s.vars.Late && f.Statement.Kind == stmt.Select && !f.Writes && !f.Metadata && s.vars.Autocommit && !s.conns.Running() &&
		f.Statement.Features&never == 0 && f.Leaves == plan.LeavesNothing
}
