package applier

import (
	"locus/migrate/changes"
	"locus/migrate/table"
)

// op is what one change means for one key.
type op struct {
	table         *table.Table
	key           table.Key
	id            string // the key, encoded
	before, after table.Row
	verdict       Verdict
}

// ops takes a change apart where its row gets another key or another gene: what
// it was is deleted, what it is is inserted.
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
		return []op{one(c.Before, c.After)}
	}
	from, to := one(c.Before, nil), one(nil, c.After)
	before, errBefore := c.Table.GeneOf(c.Before)
	after, errAfter := c.Table.GeneOf(c.After)
	if from.id == to.id && errBefore == nil && errAfter == nil && before == after {
		to.before = c.Before
		return []op{to}
	}
	return []op{from, to}
}

// row is the one whose gene the op has.
func (o op) row() table.Row {
	if o.after != nil {
		return o.after
	}
	return o.before
}

func (o op) size() int { return o.before.Size() + o.after.Size() + len(o.id) + 100 }

// batch is what a worker writes in one transaction.
type batch struct {
	ops      []op
	bytes    int
	position string // after the last
}

func (b *batch) add(o op) {
	b.ops = append(b.ops, o)
	b.bytes += o.size()
}

// outcome is what the ops of one key come to.
type outcome struct {
	table *table.Table
	key   table.Key
	id    string
	// final is the row that stands at the end, nil for none; it says nothing if all
	// ops were refused.
	final   table.Row
	written bool
	// fresh tells that the first op inserts: most likely there is no row yet.
	fresh bool
}

// refusal is an op that was not applied.
type refusal struct {
	op       op
	reason   string
	standing table.Row
}

// standing is the target's row of a key, as far as it was asked for: all of it,
// or its version alone.
type standing struct {
	row     table.Row
	version int64
}

// decide goes through the ops in their order and says what is to be written. has
// is the target's rows of the keys that need a look; see needsLook.
func decide(all []op, has map[lookup]standing) ([]*outcome, []refusal) {
	var order []*outcome
	var refused []refusal
	byKey := map[lookup]*outcome{}
	now := map[lookup]*standing{}
	for _, o := range all {
		k := lookup{o.table, o.id}
		out := byKey[k]
		if out == nil {
			out = &outcome{table: o.table, key: o.key, id: o.id, fresh: o.before == nil}
			byKey[k] = out
			order = append(order, out)
			if s, there := has[k]; there {
				now[k] = &s
			}
		}
		if reason := refuses(o, now[k]); reason != "" {
			r := refusal{op: o, reason: reason}
			if s := now[k]; s != nil {
				r.standing = s.row
			}
			refused = append(refused, r)
			continue
		}
		out.final, out.written = o.after, true
		now[k] = nil
		if o.after != nil {
			v, _ := o.table.VersionOf(o.after)
			now[k] = &standing{row: o.after, version: v}
		}
	}
	return order, refused
}

// lookup names a key of a table.
type lookup struct {
	table *table.Table
	id    string
}

// refuses says why an op must not be applied to what stands, nil for no row.
func refuses(o op, s *standing) string {
	if o.verdict == IfUnchanged {
		switch {
		case o.before == nil && s != nil:
			return "a row that was written past the proxies exists at its new owner as well"
		case o.before != nil && (s == nil || !o.table.Same(o.before, s.row)):
			return "a row that was written past the proxies was changed at its new owner as well"
		}
	}
	if s == nil {
		return ""
	}
	if incoming, ok := o.table.VersionOf(o.row()); ok && s.version > incoming {
		return "the target has a newer version"
	}
	return ""
}
