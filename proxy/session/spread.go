package session

import (
	"fmt"
	"slices"

	"locus/proxy/exec"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// runSpread runs an UPDATE or DELETE on every shard of its route that may have rows of it, in one
// transaction. While genes are on the move each shard leaves others' rows out.
func (s *Session) runSpread(r *exec.Work, p *plan.Change) error {
	looks, err := s.looks(r, p)
	if err != nil {
		return err
	}
	var total exec.Totals
	if looks == nil {
		if !s.route.Whole() { // else its rows are on two shards for now
			if err := s.account.MayScatterWrite(len(s.route.Shards), &s.vars.Diagnostics); err != nil {
				return err
			}
		}
		parts, err := s.spread(r, p, s.route.Shards)
		if err != nil {
			return err
		}
		total, err = s.runParts(r, parts)
		if err != nil {
			return err
		}
	} else if total, err = s.runFound(r, p, looks); err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings}
	if r.Facts.Statement.Kind == stmt.Update {
		ok.Info = fmt.Appendf(nil, "Rows matched: %d  Changed: %d  Warnings: %d", total.Matched, total.Changed, total.Warnings)
	}
	return s.done(ok)
}

// spread gives shards their parts.
func (s *Session) spread(r *exec.Work, p *plan.Change, shards []int) ([]exec.Part, error) {
	parts := make([]exec.Part, 0, len(shards))
	for _, shard := range shards {
		added, err := p.Own(r.Snapshot.Map, &s.route, shard, p.Added)
		if err != nil {
			return nil, err
		}
		parts = append(parts, exec.Part{Shard: r.Snapshot.Map.Shard(shard), Text: slices.Clone(s.env.Spliced(r, added))})
	}
	return parts, nil
}

// looks are the questions which shards of the route have rows; nil: it can't be asked so.
func (s *Session) looks(r *exec.Work, p *plan.Change) (looks []exec.Look, err error) {
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
		looks = append(looks, exec.Look{Shard: r.Snapshot.Map.Shard(shard), Text: text})
	}
	if s.route.Whole() {
		return looks, nil
	}
	return looks, s.account.MayScatter(len(looks), &s.vars.Diagnostics)
}

// runFound runs an UPDATE or DELETE where a locking read has found rows, and where there are none on one shard, which says so in
// its own words.
func (s *Session) runFound(r *exec.Work, p *plan.Change, looks []exec.Look) (total exec.Totals, err error) {
	route := slices.Clone(s.route.Shards)
	err = s.runTogether(r, func() error {
		found, err := s.env.Request(r).Find(looks)
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
		parts, err := s.spread(r, p, shards)
		if err == nil {
			total, err = s.env.Change(r, parts)
		}
		return err
	})
	return total, err
}
