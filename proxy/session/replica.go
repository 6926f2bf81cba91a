package session

import (
	"locus/proxy/exec"
	"locus/proxy/sysvars"
	"locus/router/plan"
	"locus/router/stmt"
)

// place says where a plain read may be sent, and that it may do without some shards, where the session asked for that. Without etcd, the
// shard's last known primary may answer it.
func (s *Session) place(r *exec.Work) {
	plain := s.readsPlainly(r.Facts)
	r.Stale = plain && !s.conns.ReservesAny()
	plain = plain && !r.Facts.Metadata
	r.Replica, r.Partial = plain && s.vars.Reads != sysvars.Primary, plain && s.vars.Partial
}

// readsPlainly tells a plain read outside a transaction. Routines might write, and locks hold on the primary alone.
func (s *Session) readsPlainly(f *plan.Facts) bool {
	return s.vars.Autocommit && !s.conns.Running() && readsAlone(f)
}

// readsAlone tells a read that may be run aside, whatever comes of it.
func readsAlone(f *plan.Facts) bool {
	const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget | stmt.SetsUserVariable
	return f.Statement.Kind == stmt.Select && !f.Writes && f.Statement.Features&never == 0 && f.Leaves == plan.LeavesNothing
}
