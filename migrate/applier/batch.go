package applier

import (
	"locus/migrate/changes"
	"locus/migrate/table"
)

// op is the part of a change that concerns one key.
type op struct {
	table         *table.Table
	key           table.Key
	id            string // the encoded key
	before, after table.Row
	verdict       Verdict
	effect        *effect // the change that cascades from it, or nil
	copied        bool    // the target has had all rows before this change
	resumed       bool    // an earlier batch may have changes of the same transaction
}

// ops splits a change whose row gets another key or gene into the deletion of the old row and the insertion of the new
// one.
func ops(c changes.Change) []op {
	one := func(before, after table.Row) op {
		o := op{table: c.Table, before: before, after: after}
		if after != nil {
			o.key = c.Table.KeyOf(after)
		} else {
			o.key = c.Table.KeyOf(before)
		}
		o.id = string(o.key.Encode())
		return o
	}
	if c.Before == nil || c.After == nil {
		return withEffect(c, one(c.Before, c.After))
	}
	from, to := one(c.Before, nil), one(nil, c.After)
	before, errBefore := c.Table.GeneOf(c.Before)
	after, errAfter := c.Table.GeneOf(c.After)
	if from.id == to.id && errBefore == nil && errAfter == nil && before == after {
		to.before = c.Before
		return withEffect(c, to)
	}
	return withEffect(c, from, to)
}

// row returns the row that determines the op's gene.
func (o op) row() table.Row {
	if o.after != nil {
		return o.after
	}
	return o.before
}

func (o op) size() int { return o.before.Size() + o.after.Size() + len(o.id) + 100 }

// batch contains the changes that a worker writes in one transaction.
type batch struct {
	ops      []op
	bytes    int
	position string // position after the last op
}

func (b *batch) add(o op) {
	b.ops = append(b.ops, o)
	b.bytes += o.size()
}

// outcome is the combined result of one key's ops.
type outcome struct {
	table *table.Table
	key   table.Key
	id    string
	// final is the row to be written, or nil for none. It is undefined if all ops were refused.
	final   table.Row
	written bool
	// fresh reports that the first op inserts, so most likely there is no row yet.
	fresh bool
}

// record is an op that locus.move_conflict keeps: it was refused, or it replaced a row that was not as it was at the
// owner.
type record struct {
	op       op
	reason   string
	standing table.Row
}

// records contains the records of a batch.
type records struct{ refused, overwritten []record }

// standing is the target's row of a key. A nil one is none.
type standing struct {
	row     table.Row
	version int64
	// ours reports that an op of the batch wrote the row, so no other writer has changed it since.
	ours bool
}

// decide processes the ops in order. It returns the rows to write, and the records. has holds the target's rows that were
// looked up, by key. A key whose first op inserts a row of the owner need not be looked up; see batchWriter.look.
func decide(all []op, has map[lookup]standing) ([]*outcome, records) {
	var order []*outcome
	var kept records
	byKey := map[lookup]*outcome{}
	now := map[lookup]standing{}
	for _, o := range all {
		k := lookup{o.table, o.id}
		out := byKey[k]
		if out == nil {
			out = &outcome{table: o.table, key: o.key, id: o.id, fresh: o.before == nil}
			byKey[k] = out
			order = append(order, out)
			now[k] = has[k]
		}
		reason, refused := judge(o, now[k])
		if reason != "" {
			kept.add(record{op: o, reason: reason, standing: now[k].row}, refused)
		}
		if refused {
			continue
		}
		out.final, out.written = o.after, true
		v, _ := o.table.VersionOf(o.after)
		now[k] = standing{row: o.after, version: v, ours: true}
	}
	return order, kept
}

func (r *records) add(one record, refused bool) {
	if refused {
		r.refused = append(r.refused, one)
	} else {
		r.overwritten = append(r.overwritten, one)
	}
}

// lookup identifies a key of a table.
type lookup struct {
	table *table.Table
	id    string
}

// judge returns why an op is recorded and whether it is refused. s is the target's row, if there is one. The reason is empty
// if the op is applied without a record.
func judge(o op, s standing) (reason string, refused bool) {
	if o.verdict == IfUnchanged {
		reason = refuses(o, s)
		return reason, reason != ""
	}
	return overwrites(o, s), false
}

// refuses returns why an op of a server that does not own the row must not be applied.
func refuses(o op, s standing) string {
	switch {
	case o.before == nil && s.row != nil:
		return "a row that was written without a proxy also exists at its new owner"
	case o.before != nil && !o.follows(s):
		return "a row that was written without a proxy was also changed at its new owner"
	case s.row == nil:
		return ""
	}
	if incoming, ok := o.table.VersionOf(o.row()); ok && s.version > incoming {
		return "the target has a newer version"
	}
	return ""
}

// incomplete reports whether the target may have rows that the source has deleted or changed. A cascade may
// continue over several rows. While rows are copied, it may miss a row because the row before it in the chain
// was not copied yet. The comparison repairs such rows, and rows that these have kept out, so neither is
// recorded.
func (o op) incomplete() bool { return !o.copied && o.table.PassedOn() }

// overwrites returns a reason if an op of the owner replaces a row that the owner didn't have. It returns "" if the row is
// already as the op leaves it, because another server's log may contain a change for the second time.
func overwrites(o op, s standing) string {
	switch {
	case s.ours, o.incomplete():
		return ""
	case s.row == nil && o.before != nil && o.after != nil && o.copied:
		return "applied: the row was deleted here without a proxy"
	case s.row == nil, o.before != nil && o.follows(s), o.after != nil && o.table.Same(o.after, s.row):
		return ""
	}
	return "applied: the row here differed from its owner's"
}

// follows reports whether the target's row is the row that the op changed. In a log, the image before a change
// may be older than the image after the previous change of the same transaction. For a row that refers to
// itself, MySQL first logs that the reference is removed, and then logs the deletion with the original image.
func (o op) follows(s standing) bool {
	switch {
	case s.ours:
		return true
	case s.row == nil:
		return false
	case o.resumed:
		return o.table.SameBesideLoop(o.before, s.row)
	}
	return o.table.Same(o.before, s.row)
}
