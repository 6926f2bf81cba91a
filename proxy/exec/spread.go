package exec

import (
	"fmt"
	"locus/proxy/sysvars"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
	"slices"
)

// runParts runs the parts of a statement in one transaction. That is the client's transaction, which runParts begins if
// autocommit is off, or else one of the statement's own. If a part fails, none of the parts takes effect.
func (x *Execution) runParts(parts []Part) (total totals, err error) {
	err = x.runTogether(func() (err error) {
		total, err = x.change(parts)
		return err
	})
	return total, err
}

// runTogether calls do, which runs a statement on several shards, in one transaction as runParts does.
func (x *Execution) runTogether(do func() error) error {
	x.Tally.Scattered.Add(1)
	began := !x.Conns.Running() && !x.Vars.Autocommit
	err := x.Conns.Atomically(do)
	if err != nil && began && x.Unbegun(err) {
		x.Conns.Unbegin()
	}
	return err
}

// runSpread runs an UPDATE or DELETE on every shard of its route that may have matching rows, in one transaction. While genes are
// being moved, each shard leaves out the rows of other shards.
func (x *Execution) runSpread(p *plan.Change) error {
	lookups, err := x.lookups(p)
	if err != nil {
		return err
	}
	var total totals
	if lookups == nil {
		if !x.route.Whole() { // otherwise the rows of one owner are on two shards for now
			if err := x.Account.MayScatterWrite(len(x.route.Shards), &x.Vars.Diagnostics); err != nil {
				return err
			}
		}
		err := x.runTogether(func() (err error) {
			total, err = x.changeOn(p, x.route.Shards)
			return err
		})
		if err != nil {
			return err
		}
	} else if total, err = x.runFound(p, lookups); err != nil {
		return err
	}
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings}
	if x.Facts.Statement.Kind == stmt.Update {
		ok.Info = fmt.Appendf(nil, "Rows matched: %d  Changed: %d  Warnings: %d", total.Matched, total.Changed, total.Warnings)
	}
	return x.Done(ok)
}

// changeParts returns the part of each shard.
func (x *Execution) changeParts(p *plan.Change, shards []int) ([]Part, error) {
	parts := make([]Part, 0, len(shards))
	for _, shard := range shards {
		added, err := p.AppendOwned(x.Snapshot.Map, &x.route, shard, p.Added)
		if err != nil {
			return nil, err
		}
		parts = append(parts, Part{Shard: x.Snapshot.Map.Shard(shard), Text: slices.Clone(x.Spliced(added))})
	}
	return parts, nil
}

// changeOn changes rows on the shards, within the transaction.
func (x *Execution) changeOn(p *plan.Change, shards []int) (total totals, err error) {
	if p.Limit != nil && len(shards) > 1 {
		return x.changeInTurn(p, shards)
	}
	parts, err := x.changeParts(p, shards)
	if err != nil {
		return total, err
	}
	return x.change(parts)
}

// changeInTurn runs a change with a LIMIT on one shard after the other. Each may change as many rows as the ones before have left of
// the LIMIT. The last shards are not asked if nothing is left.
func (x *Execution) changeInTurn(p *plan.Change, shards []int) (total totals, err error) {
	left, ok := plan.LimitNumber(x.Values.Operand(&p.Limit.Count))
	if !ok {
		return total, sysvars.BadLimit()
	}
	each := func() error {
		for i, shard := range shards {
			if left == 0 && i > 0 {
				return nil
			}
			part, err := x.limitedPart(p, shard, left)
			if err != nil {
				return err
			}
			changed, err := x.changeOnce([]Part{part})
			if err != nil {
				return err
			}
			total.join(changed)
			left -= min(left, changed.used(x.Facts.Statement.Kind))
		}
		return nil
	}
	if x.Facts.Clock && !x.Vars.SetsTime() {
		return total, x.atOneTime(each)
	}
	return total, each()
}

// limitedPart returns the part of a shard that may change n rows.
func (x *Execution) limitedPart(p *plan.Change, shard int, n uint64) (Part, error) {
	added, err := p.AppendOwned(x.Snapshot.Map, &x.route, shard, p.Added)
	if err != nil {
		return Part{}, err
	}
	edits := stmt.SortEdits(append(plan.Edits(x.Values, added), p.LimitEdit(x.Values, n)))
	part := Part{Shard: x.Snapshot.Map.Shard(shard)}
	if x.Prepared != nil {
		part.Params = slices.Clone(x.Params)
		edits = bindNumbers(x.Values.Lexed, edits, part.Params)
	}
	part.Text = stmt.AppendEdited(nil, x.Values.Text, edits)
	return part, nil
}

// lookups returns the queries that ask each shard of the route whether it has matching rows. It returns nil if the shards can't
// be asked.
func (x *Execution) lookups(p *plan.Change) (lookups []lookup, err error) {
	if p.Finding == nil {
		return nil, nil
	}
	for _, shard := range x.route.Shards {
		foreign, err := p.Foreign(x.Snapshot.Map, &x.route, shard)
		if err != nil {
			return nil, err
		}
		text, ok := p.LookupQuery(x.Values, foreign)
		if !ok {
			return nil, nil
		}
		lookups = append(lookups, lookup{Shard: x.Snapshot.Map.Shard(shard), Text: text})
	}
	if x.route.Whole() {
		return lookups, nil
	}
	return lookups, x.Account.MayScatter(len(lookups), &x.Vars.Diagnostics)
}

// runFound runs an UPDATE or DELETE on the shards on which a locking read has found rows. If there are no rows, it runs on one
// shard, whose answer the client gets.
func (x *Execution) runFound(p *plan.Change, lookups []lookup) (total totals, err error) {
	route := slices.Clone(x.route.Shards)
	err = x.runTogether(func() error {
		found, err := x.find(lookups)
		if err != nil {
			return err
		}
		var shards []int
		for i, shard := range route {
			switch found[i] {
			case foundNone:
			case foundMoved:
				return p.MoveRefusal(x.Values)
			case foundStaying:
				shards = append(shards, shard)
			}
		}
		switch {
		case len(shards) > 1:
			err = p.SpreadRefusal()
		case shards == nil:
			shards = route[:1]
		}
		if err != nil {
			return err
		}
		total, err = x.changeOn(p, shards)
		return err
	})
	return total, err
}
