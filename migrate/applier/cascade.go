package applier

import (
	"context"
	"fmt"

	"locus/migrate/changes"
	"locus/migrate/table"
)

// effect is a change of a row from which further changes may cascade. The source has made them without a word in its log, and no server
// makes them here: the workers' sessions have foreign_key_checks = 0.
type effect struct{ before, after table.Row }

// withEffect returns ops with the effect of their combined change. The effect belongs to the last op, after
// which the row has its final value. If the row gets another gene, that op may be another worker's.
func withEffect(c changes.Change, all ...op) []op {
	if !c.Cascades || c.Before == nil {
		return all
	}
	for _, further := range c.Table.Cascades() {
		if _, acts := further.Acts(c.Before, c.After); !acts {
			continue
		}
		at := len(all) - 1
		if before, err := c.Table.GeneOf(c.Before); at > 0 && err == nil {
			if after, err := c.Table.GeneOf(c.After); err != nil || after != before {
				at = 0
			}
		}
		all[at].effect = &effect{c.Before, c.After}
		break
	}
	return all
}

// mostEffects bounds the number of deletions whose cascades one query searches.
const mostEffects = 200

// segments divides ops so that the effects of each part come after it. Deletions from one table follow each other within a part, unless
// one's cascade reaches the others.
func segments(all []op) (parts [][]op) {
	from, effects := 0, 0
	for i, o := range all {
		if o.effect == nil {
			continue
		}
		if effects++; effects < mostEffects && i+1 < len(all) {
			next := all[i+1]
			if o.after == nil && next.after == nil && next.effect != nil && next.table == o.table && !o.table.Reaches(o.table) {
				continue
			}
		}
		parts = append(parts, all[from:i+1])
		from, effects = i+1, 0
	}
	if from < len(all) {
		parts = append(parts, all[from:])
	}
	return parts
}

// inOrder writes a batch that has effects.
func (b *batchWriter) inOrder(ctx context.Context, careful int) error {
	w := b.worker
	if err := w.note(ctx, w.advance(b.batch.position, len(b.batch.ops), 0)); err != nil {
		return err
	}
	for _, part := range segments(b.batch.ops) {
		single := batchWriter{worker: w, batch: &batch{ops: part, position: b.batch.position}, ours: b.ours}
		has, err := single.look(ctx, careful)
		if err != nil {
			return err
		}
		outcomes, kept := decide(part, has)
		if err := single.rows(ctx, outcomes, careful, kept); err != nil {
			return err
		}
		b.wrote(outcomes)
		b.count(kept)
		if err := b.cascade(ctx, part[len(part)-1].table, effectsOf(part, kept.refused), careful, 0); err != nil {
			return err
		}
	}
	if b.conflicts > 0 {
		if err := w.note(ctx, w.advance("", 0, b.conflicts)); err != nil {
			return err
		}
	}
	return w.stopAt(Written)
}

// effectsOf returns the effects of ops, but for those that were refused.
func effectsOf(all []op, refused []record) (list []effect) {
	no := map[*effect]bool{}
	for _, r := range refused {
		no[r.op.effect] = true
	}
	for _, o := range all {
		if o.effect != nil && !no[o.effect] {
			list = append(list, *o.effect)
		}
	}
	return list
}

// mostLevels bounds the levels of a cascade. Servers allow 15.
const mostLevels = 64

// cascade applies the effects of changes to a table's rows, level by level.
func (b *batchWriter) cascade(ctx context.Context, t *table.Table, effects []effect, careful, level int) error {
	if level > mostLevels {
		return fmt.Errorf("foreign keys of table %s cascade over more than %d levels", t.Name, mostLevels)
	}
	for _, c := range t.Cascades() {
		var gone [][][]byte
		for _, e := range effects {
			values, acts := c.Acts(e.before, e.after)
			switch {
			case !acts:
			case e.after == nil:
				gone = append(gone, values)
			default:
				if err := b.cascadeTo(ctx, c, [][][]byte{values}, e.after, careful, level); err != nil {
					return err
				}
			}
		}
		if gone == nil {
			continue
		}
		if err := b.cascadeTo(ctx, c, gone, nil, careful, level); err != nil {
			return err
		}
	}
	return nil
}

// pageRows bounds the referring rows that are read at once.
const pageRows = 1000

// cascadeTo changes the rows that refer to values. after is the row that had them, or nil if it is deleted.
func (b *batchWriter) cascadeTo(ctx context.Context, c *table.Cascade, values [][][]byte, after table.Row, careful, level int) error {
	for {
		effects, err := b.referring(ctx, c, values, after)
		if err != nil || len(effects) == 0 {
			return err
		}
		outcomes := outcomesOf(c.Child, effects)
		if err := b.table(ctx, c.Child, outcomes, careful); err != nil {
			return fmt.Errorf("foreign key %s: %w", c.Name, err)
		}
		b.wrote(outcomes)
		if err := b.cascade(ctx, c.Child, effects, careful, level+1); err != nil {
			return err
		}
		if len(effects) < pageRows || after != nil && c.OnUpdate == table.Follow {
			return nil
		}
	}
}

// referring reads and locks a page of the rows that refer to values, and returns the effects of the cascade on them. If the
// cascade follows a change of values that may compare equal to the old ones, it reads all rows at once.
func (b *batchWriter) referring(ctx context.Context, c *table.Cascade, values [][][]byte, after table.Row) (effects []effect, err error) {
	a, t := b.worker.applier, c.Child
	s := append(c.AppendReferring(nil, values), " AND "+t.Condition(a.genes)...)
	if after == nil || c.OnUpdate != table.Follow {
		s = append(s, table.Limit(pageRows)...)
	}
	err = b.worker.conn.Each(ctx, string(append(s, " FOR UPDATE"...)), func(values [][]byte) error {
		r, err := t.Canonical(values)
		if err != nil {
			return err
		}
		e := effect{r, c.Becomes(r, after)}
		if err := a.cascaded(t, e); err != nil {
			return fmt.Errorf("foreign key %s: %w", c.Name, err)
		}
		effects = append(effects, e)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read rows of %s at the target: %w", t.Name, err)
	}
	return effects, nil
}

// cascaded records that a row is touched. It must keep its gene, since another worker may have the rows of another one.
func (a *Applier) cascaded(t *table.Table, e effect) error {
	g, err := t.GeneOf(e.before)
	if err != nil {
		return err
	}
	if e.after != nil {
		if after, err := t.GeneOf(e.after); err != nil || after != g {
			return fmt.Errorf("row %s of table %s would get another gene: change it through a proxy, which refuses that", t.KeyOf(e.before).Short(), t.Name)
		}
	}
	for _, r := range []table.Row{e.before, e.after} {
		if r == nil {
			continue
		}
		o := op{table: t, key: t.KeyOf(r)}
		o.id = string(o.key.Encode())
		var touched Touched
		if touched.Gene = g; a.config.BySequence {
			if touched.Residue, err = t.ResidueOf(r); err != nil {
				return err
			}
		}
		a.mu.Lock()
		a.touched.add(o, touched.Gene, touched.Residue)
		a.mu.Unlock()
	}
	return nil
}

// outcomesOf returns the outcomes of effects. A row with a new key replaces the row with the old key.
func outcomesOf(t *table.Table, effects []effect) (all []*outcome) {
	for _, e := range effects {
		old := outcome{table: t, key: t.KeyOf(e.before), final: e.after, written: true}
		old.id = string(old.key.Encode())
		all = append(all, &old)
		if e.after == nil {
			continue
		}
		next := outcome{table: t, key: t.KeyOf(e.after), final: e.after, written: true}
		if next.id = string(next.key.Encode()); next.id != old.id {
			old.final = nil
			all = append(all, &next)
		}
	}
	return all
}
