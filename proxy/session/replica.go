package session

import (
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// mayBeLate tells whether a statement may be sent to a replica: a plain read
// outside a transaction, of a session that asked for it. Routines might write, and
// locks hold on the primary alone.
func (s *Session) mayBeLate(p *plan.Plan) bool {
	const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget | stmt.SetsUserVariable
	return s.vars.Late && p.Statement.Kind == stmt.Select && !p.Writes && !p.Metadata && s.vars.Autocommit && !s.txn.running() &&
		p.Statement.Features&never == 0 && p.Leaves == plan.LeavesNothing
}

// borrowReplica takes a connection to a usable replica; false: the primary serves.
func (s *Session) borrowReplica(shard router.ShardName) (branch, bool) {
	pool, ok := s.Pools.Replica(shard)
	if !ok {
		return branch{}, false
	}
	conn, err := s.borrowFrom(pool, s.vars.Settings)
	if err != nil {
		return branch{}, false // if it was interrupted, the primary's isn't lent either
	}
	s.Counts.OnReplicas.Add(1)
	return branch{shard: shard, pool: pool, conn: conn}, true
}
