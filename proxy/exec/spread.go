package exec

import (
	"fmt"
	"slices"

	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
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
		if total, err = x.spread(p); err != nil {
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

// spread changes rows on every shard of the route, in one transaction.
func (x *Execution) spread(p *plan.Change) (total totals, err error) {
	if p.Limit == nil {
		parts, err := x.changeParts(p, x.route.Shards)
		if err != nil {
			return total, err
		}
		return x.runParts(parts)
	}
	err = x.runTogether(func() (err error) {
		total, err = x.changeOn(p, x.route.Shards)
		return err
	})
	return total, err
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
// the LIMIT. The last shards are not sent anything if nothing is left. What may be refused is refused before the first shard changes
// rows.
func (x *Execution) changeInTurn(p *plan.Change, shards []int) (total totals, err error) {
	left, ok := plan.LimitNumber(x.Values.Operand(&p.Limit.Count))
	if !ok {
		return total, sysvars.BadLimit()
	}
	parts, edits := make([]Part, len(shards)), make([][]stmt.Edit, len(shards))
	for i, shard := range shards {
		added, err := p.AppendOwned(x.Snapshot.Map, &x.route, shard, p.Added)
		if err != nil {
			return total, err
		}
		parts[i].Shard, edits[i] = x.Snapshot.Map.Shard(shard), plan.Edits(x.Values, added)
	}
	each := func() error {
		leases, err := x.acquire(parts, x.purpose()|txn.Writes)
		if err != nil {
			return err
		}
		for i := range parts {
			x.limit(&parts[i], edits[i], p.LimitEdit(x.Values, left))
			changed, err := x.changeWith(leases[i:i+1], parts[i:i+1])
			if err == nil {
				total.join(changed)
				left -= min(left, changed.used())
			}
			if err != nil || left == 0 {
				release(leases[i+1:])
				return err
			}
		}
		return nil
	}
	if x.Facts.Clock && !x.Vars.SetsTime() {
		err = x.atOneTime(each)
	} else {
		err = each()
	}
	return total, err
}

// limit sets the text and the parameters of a part with a LIMIT of its own.
func (x *Execution) limit(part *Part, edits []stmt.Edit, limit stmt.Edit) {
	edits = stmt.SortEdits(append(edits, limit))
	if x.Prepared != nil {
		part.Params = slices.Clone(x.Params)
		edits = bindNumbers(x.Values.Lexed, edits, part.Params)
	}
	part.Text = stmt.AppendEdited(nil, x.Values.Text, edits)
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
