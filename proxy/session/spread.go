package session

import (
	"fmt"
	"slices"

	"locus/proxy/exec"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// runSpread runs an UPDATE or DELETE on every shard of its route that may have matching rows, in one transaction. While genes are
// being moved, each shard leaves out the rows of other shards.
func (s *Session) runSpread(r *exec.Execution, p *plan.Change) error {
	lookups, err := s.lookups(r, p)
	if err != nil {
		return err
	}
	var total exec.Totals
	if lookups == nil {
		if !s.route.Whole() { // otherwise the rows of one owner are on two shards for now
			if err := s.engine.Account.MayScatterWrite(len(s.route.Shards), &s.vars.Diagnostics); err != nil {
				return err
			}
		}
		parts, err := s.changeParts(r, p, s.route.Shards)
		if err != nil {
			return err
		}
		total, err = s.runParts(r, parts)
		if err != nil {
			return err
		}
	} else if total, err = s.runFound(r, p, lookups); err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings}
	if r.Facts.Statement.Kind == stmt.Update {
		ok.Info = fmt.Appendf(nil, "Rows matched: %d  Changed: %d  Warnings: %d", total.Matched, total.Changed, total.Warnings)
	}
	return s.done(ok)
}

// changeParts returns the part of each shard.
func (s *Session) changeParts(r *exec.Execution, p *plan.Change, shards []int) ([]exec.Part, error) {
	parts := make([]exec.Part, 0, len(shards))
	for _, shard := range shards {
		added, err := p.Own(r.Snapshot.Map, &s.route, shard, p.Added)
		if err != nil {
			return nil, err
		}
		parts = append(parts, exec.Part{Shard: r.Snapshot.Map.Shard(shard), Text: slices.Clone(r.Spliced(added))})
	}
	return parts, nil
}

// lookups returns the queries that ask each shard of the route whether it has matching rows. It returns nil if the shards can't
// be asked.
func (s *Session) lookups(r *exec.Execution, p *plan.Change) (lookups []exec.Look, err error) {
	if p.Finding == nil {
		return nil, nil
	}
	for _, shard := range s.route.Shards {
		foreign, err := p.Foreign(r.Snapshot.Map, &s.route, shard)
		if err != nil {
			return nil, err
		}
		text, ok := p.Look(r.Values, foreign)
		if !ok {
			return nil, nil
		}
		lookups = append(lookups, exec.Look{Shard: r.Snapshot.Map.Shard(shard), Text: text})
	}
	if s.route.Whole() {
		return lookups, nil
	}
	return lookups, s.engine.Account.MayScatter(len(lookups), &s.vars.Diagnostics)
}

// runFound runs an UPDATE or DELETE on the shards on which a locking read has found rows. If there are no rows, it runs on one
// shard, whose answer the client gets.
func (s *Session) runFound(r *exec.Execution, p *plan.Change, lookups []exec.Look) (total exec.Totals, err error) {
	route := slices.Clone(s.route.Shards)
	err = s.runTogether(r, func() error {
		found, err := r.Find(lookups)
		if err != nil {
			return err
		}
		var shards []int
		for i, shard := range route {
			switch found[i] {
			case exec.None:
			case exec.Moved:
				return p.Moves(r.Values)
			case exec.Staying:
				shards = append(shards, shard)
			}
		}
		switch {
		case len(shards) > 1:
			err = p.Spreads()
		case shards == nil:
			shards = route[:1]
		}
		if err != nil {
			return err
		}
		parts, err := s.changeParts(r, p, shards)
		if err == nil {
			total, err = r.Change(parts)
		}
		return err
	})
	return total, err
}
