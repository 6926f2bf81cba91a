package session

import (
	"fmt"
	"slices"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/exec"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router"
	"locus/router/plan"
	"locus/router/stmt"
)

// checkShardName refuses a SET of locus_shard to a shard that does not exist.
func (s *Session) checkShardName(next *sysvars.Set, shards []router.ShardName) error {
	if next.Shard == "" || next.Shard == s.vars.Shard || slices.Contains(shards, next.Shard) {
		return nil
	}
	names := make([]string, len(shards))
	for i, shard := range shards {
		names[i] = string(shard)
	}
	return wire.Errorf(mysql.ER_WRONG_VALUE_FOR_VAR, "42000", "Variable 'locus_shard' can't be set to the value of '%s': the shards are %s", next.Shard, strings.Join(names, ", "))
}

// mayRunNamed refuses statements that may change or lock rows on a shard that the session has named. Only users with admin may
// run them, and only while no genes move.
func (s *Session) mayRunNamed(r *exec.Execution) error {
	p, is := r.Plan.(*plan.OneShard)
	if !is || !p.Named || !exec.MayWrite(r.Facts) && r.Facts.Statement.Features&stmt.Locking == 0 {
		return nil
	}
	if !s.engine.Account.Admin {
		return &plan.Refusal{Code: plan.ShardNamed, Message: fmt.Sprintf("user %s may only read on shard %s, which the session has named (locus_shard): users with admin: true may change and lock rows there", s.user, p.Shard)}
	}
	if moving := r.Snapshot.Map.Moving(); !moving.Empty() {
		return &plan.Refusal{Code: plan.ShardNamed, Message: fmt.Sprintf("rows are changed and locked on a shard that the session has named (locus_shard) while no genes are on the move, and %s are: wait until the job is done", moving)}
	}
	return nil
}
