package session

import (
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// mayBeLate tells whether a statement may be sent to a replica: a plain read
// outside a transaction, of a session that asked for it. Routines might write, and
// locks hold on the primary alone.
func (s *Session) mayBeLate(p *plan.Plan) bool {
	const never = stmt.Locking | stmt.UnknownFunction | stmt.NamedLock | stmt.ReadsNamedLock | stmt.IntoTarget | stmt.SetsUserVariable
	return s.late && p.Statement.Kind == stmt.Select && !p.Writes && !p.Metadata && s.autocommit && !s.txn.running() &&
		p.Statement.Features&never == 0 && p.Leaves == plan.LeavesNothing
}

// borrowReplica takes a connection to a usable replica; false: the primary serves.
func (s *Session) borrowReplica(shard router.ShardName) (branch, bool) {
	pool, ok := s.Pools.Replica(shard)
	if !ok {
		return branch{}, false
	}
	conn, err := s.borrowFrom(pool, s.settings)
	if err != nil {
		return branch{}, false // if it was interrupted, the primary's isn't lent either
	}
	s.Counts.OnReplicas.Add(1)
	return branch{shard: shard, pool: pool, conn: conn}, true
}

// readFrom reads the values of locus_read.
func readFrom(literal string) (late bool, err error) {
	switch strings.ToLower(strings.Trim(literal, "'")) {
	case "replica":
		return true, nil
	case "primary", "default":
		return false, nil
	}
	return false, fail(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "Variable 'locus_read' can't be set to the value of %s: use primary or replica", literal)
}
