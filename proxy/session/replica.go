package session

import (
	"locus/proxy/exec"
	"locus/proxy/sysvars"
	"locus/router/plan"
	"locus/router/stmt"
)

// setReadModes sets how a plain read may be answered. A replica may answer it, and unreachable shards may be left out, if the
// session has requested that. Without etcd, the shard's last known primary may answer it.
func (s *Session) setReadModes(r *exec.Execution) {
	plain := s.readsPlainly(r.Facts)
	r.Stale = plain && !s.conns.ReservesAny()
	plain = plain && !r.Facts.Metadata
	r.Replica, r.Partial = plain && s.vars.Reads != sysvars.Primary, plain && s.vars.Partial
}

// readsPlainly reports whether a statement is a plain read outside of transactions. Routines might write, and only the primary
// has locks.
func (s *Session) readsPlainly(f *plan.Facts) bool {
	return s.vars.Autocommit && !s.conns.Running() && readsAlone(f)
}

// readsAlone reports whether a statement is a read without any effect, so that it may run on another connection.
func readsAlone(f *plan.Facts) bool {
	const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget | stmt.SetsUserVariable
	return f.Statement.Kind == stmt.Select && !f.Writes && f.Statement.Features&never == 0 && f.Leaves == plan.LeavesNothing
}
