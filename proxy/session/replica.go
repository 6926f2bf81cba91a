package session

import (
	"locus/proxy/sysvars"
	"locus/router/plan"
	"locus/router/stmt"
)

// readsPlainly tells whether a statement may be sent to a replica, or do without some shards, where the session asked for that:
// a plain read outside a transaction. Routines might write, and locks hold on the primary alone.
func (s *Session) readsPlainly(f *plan.Facts) bool {
	return (s.vars.Reads != sysvars.Primary || s.vars.Partial) && !f.Metadata && s.vars.Autocommit && !s.conns.Running() && readsAlone(f)
}

// readsAlone tells a read that may be run aside, whatever comes of it.
func readsAlone(f *plan.Facts) bool {
	const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget | stmt.SetsUserVariable
	return f.Statement.Kind == stmt.Select && !f.Writes && f.Statement.Features&never == 0 && f.Leaves == plan.LeavesNothing
}
