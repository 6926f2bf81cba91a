package session

import (
	"fmt"
	"slices"

	"locus/proxy/exec"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// runSpread runs an UPDATE or DELETE on every shard of its route, in one
// transaction. While genes are on the move each shard leaves others' rows out.
func (s *Session) runSpread(r *request, p *plan.Change) error {
	if err := s.account.MayScatterWrite(len(s.route.Shards), &s.vars.Diagnostics); err != nil {
		return err
	}
	parts := make([]exec.Part, 0, len(s.route.Shards))
	for _, shard := range s.route.Shards {
		added, err := s.ownRows(r, &p.Keyed, shard, p.Added)
		if err != nil {
			return err
		}
		parts = append(parts, exec.Part{Shard: r.snapshot.Map.Shard(shard), Text: slices.Clone(s.spliced(r, added))})
	}
	total, err := s.runParts(r, parts)
	if err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings}
	if r.facts.Statement.Kind == stmt.Update {
		ok.Info = fmt.Appendf(nil, "Rows matched: %d  Changed: %d  Warnings: %d", total.Matched, total.Changed, total.Warnings)
	}
	return s.done(ok)
}
