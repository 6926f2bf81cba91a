package exec

import (
	"fmt"
	"slices"

	"locus/proxy/scatter"
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
	if err == errOthersMatch { //nolint:errorlint // it is never wrapped
		return x.RollBackAsDeadlock("Deadlock found when trying to get lock: %v", err)
	}
	if err != nil && began && x.Unbegun(err) {
		x.Conns.Unbegin()
	}
	return err
}

// runSpread runs an UPDATE or DELETE on every shard of its route that may have matching rows, in one transaction. While genes are
// being moved, each shard leaves out the rows of other shards.
func (x *Execution) runSpread(p *plan.Change) error {
	var lookups []lookup
	if p.Indexing == nil || p.Finds(&x.route) {
		var err error
		if lookups, err = x.lookups(p); err != nil {
			return err
		}
	}
	var total totals
	var err error
	if lookups == nil {
		if len(x.route.Shards) > 1 && !x.route.Whole() { // otherwise the rows of one owner are on two shards for now
			if err := x.Account.MayScatterWrite(len(x.route.Shards), &x.Vars.Diagnostics); err != nil {
				return err
			}
		}
		if x.returns() {
			return x.returnSpread(p)
		}
		if total, err = x.spread(p); err != nil {
			return err
		}
	} else if total, err = x.runFound(p, lookups); err != nil {
		return err
	}
	return x.doneChanging(total)
}

// doneChanging answers an UPDATE or DELETE of several shards.
func (x *Execution) doneChanging(total totals) error {
	ok := wire.OK{AffectedRows: total.Affected, Warnings: total.Warnings}
	if x.Facts.Statement.Kind == stmt.Update {
		ok.Info = fmt.Appendf(nil, "Rows matched: %d  Changed: %d  Warnings: %d", total.Matched, total.Changed, total.Warnings)
	}
	return x.Done(ok)
}

// spread changes rows on every shard of the route, in one transaction.
func (x *Execution) spread(p *plan.Change) (total totals, err error) {
	if p.Limit == nil && p.Indexing == nil {
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

// returnSpread is spread for a DELETE … RETURNING.
func (x *Execution) returnSpread(p *plan.Change) error {
	parts, err := x.changeParts(p, x.route.Shards)
	if err != nil {
		return err
	}
	return x.runReturning(parts, nil, nil)
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
	switch {
	case p.Indexing != nil:
		return x.changeIndexed(p, shards)
	case len(shards) < 2:
	case p.First != nil:
		return x.changeFirst(p, shards)
	case p.Limit != nil:
		return x.changeInTurn(p, shards)
	}
	parts, err := x.changeParts(p, shards)
	if err != nil {
		return total, err
	}
	return x.change(parts)
}

// changeInTurn runs a change with a LIMIT on one shard after the other. Each shard may change as many rows as
// the previous ones have left of the LIMIT. If nothing is left, the remaining shards get no statement.
// Everything that may be refused is refused before the first shard changes rows.
func (x *Execution) changeInTurn(p *plan.Change, shards []int) (total totals, err error) {
	left, ok := plan.LimitNumber(x.Values.Operand(&p.Limit.Count))
	if !ok {
		return total, sysvars.BadLimit()
	}
	parts, edits, err := x.limitedParts(p, shards)
	if err != nil {
		return total, err
	}
	return total, x.withOneTime(func() error {
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
	})
}

// limitedParts returns the part of each shard, without a text, and the edits of its text. The LIMIT is not among them.
func (x *Execution) limitedParts(p *plan.Change, shards []int) ([]Part, [][]stmt.Edit, error) {
	parts, edits := make([]Part, len(shards)), make([][]stmt.Edit, len(shards))
	for i, shard := range shards {
		added, err := p.AppendOwned(x.Snapshot.Map, &x.route, shard, p.Added)
		if err != nil {
			return nil, nil, err
		}
		parts[i].Shard, edits[i] = x.Snapshot.Map.Shard(shard), plan.Edits(x.Values, added)
	}
	return parts, edits, nil
}

// withOneTime calls run. If the statement may depend on the current time, all that run sends to shards has the same time.
func (x *Execution) withOneTime(run func() error) error {
	if x.Facts.Clock && !x.Vars.SetsTime() || x.needsOneTime() {
		return x.atOneTime(run)
	}
	return run()
}

// changeFirst runs a change with ORDER BY and LIMIT. Locking reads show how many of the first rows of all shards each shard has. Each
// of them then changes so many of its first rows. If there are no rows, the first shard is sent the change with LIMIT 0.
func (x *Execution) changeFirst(p *plan.Change, shards []int) (total totals, err error) {
	limit, ok := plan.LimitNumber(x.Values.Operand(&p.Limit.Count))
	if !ok {
		return total, sysvars.BadLimit()
	}
	reads, err := x.lockingReads(p, shards, limit)
	if err != nil {
		return total, err
	}
	parts, edits, err := x.limitedParts(p, shards)
	if err != nil {
		return total, err
	}
	return total, x.withOneTime(func() error {
		counts, err := x.lockFirst(p.First, reads, limit)
		if err != nil {
			return err
		}
		changing := parts[:0:0]
		for i := range parts {
			if counts[i] > 0 {
				x.limit(&parts[i], edits[i], p.LimitEdit(x.Values, counts[i]))
				changing = append(changing, parts[i])
			}
		}
		if len(changing) == 0 {
			x.limit(&parts[0], edits[0], p.LimitEdit(x.Values, 0))
			changing = parts[:1]
		}
		total, err = x.changeOnce(changing)
		return err
	})
}

// lockingReads returns the locking read of each shard.
func (x *Execution) lockingReads(p *plan.Change, shards []int, limit uint64) ([]Part, error) {
	var condition []byte
	if from, to, has := p.First.Filter(x.Values); has {
		var err error
		if condition, err = x.between(from, to); err != nil {
			return nil, err
		}
	}
	parts := make([]Part, len(shards))
	for i, shard := range shards {
		foreign, err := p.Foreign(x.Snapshot.Map, &x.route, shard)
		if err != nil {
			return nil, err
		}
		parts[i] = Part{Shard: x.Snapshot.Map.Shard(shard), Text: p.First.LockingRead(condition, foreign, limit)}
	}
	return parts, nil
}

// lockFirst sends the locking reads, one after the other, and returns how many of the first rows of all shards
// each shard has. A shard is asked after the previous one has locked its first row. So sessions that take the
// first rows of a table, such as the workers of a queue, wait for each other on the first shard, and don't
// deadlock.
func (x *Execution) lockFirst(first *plan.FirstRows, reads []Part, limit uint64) ([]uint64, error) {
	reading := x.part(first.Reads(), x.Values)
	reading.silent = true // the change itself warns
	reading.settings = withoutLimit(x.under())
	leases, err := reading.acquire(reads, x.purpose()|txn.Writes)
	if err != nil {
		return nil, err
	}
	asked, answering := 0, 0 // asked counts the leases that were sent a query, or could not be; answering counts those of them that answer
	taken, outcome, err := scatter.Count(connsOf(leases), first.Merge, plan.Window{Set: true, Count: limit}, x.counting(leases), func(i int) error {
		asked++
		if err := reading.send(leases[i], reads[i].Text, nil); err != nil {
			leases[i].Unsent(err)
			return err
		}
		answering++
		return nil
	})
	reading.endMerged(leases[:answering], outcome)
	release(leases[asked:])
	if err == nil && outcome.Warnings > 0 {
		err = refuseWarned()
	}
	return taken, err
}

// counting returns the options for answers that are counted within a transaction.
func (x *Execution) counting(leases []txn.Lease) scatter.Options {
	as := scatter.Options{Whole: true, ZeroIsNull: x.sortsZeroAsNull(x.Snapshot.Flavor), RawTexts: sysvars.RawTexts(x.under())}
	if t := x.Observer.Trace(); t != nil {
		as.Ended = func(i int, code uint16) { t.Answered(string(leases[i].Shard), 0, code) }
	}
	return as
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
