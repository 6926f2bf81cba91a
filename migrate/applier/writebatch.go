package applier

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"locus/migrate/link"
	"locus/migrate/table"
)

// batchWriter writes a batch of the stream.
type batchWriter struct {
	worker *worker
	batch  *batch

	// Counts of the last attempt.
	conflicts, overwritten int
	ours                   map[lookup]bool // keys whose rows it has written or deleted; used if rows are read more than once
}

func (b *batchWriter) committed() {
	p := &b.worker.applier.progress
	p.changes.Add(int64(len(b.batch.ops)))
	p.conflicts.Add(int64(b.conflicts))
	p.overwritten.Add(int64(b.overwritten))
	for _, o := range b.batch.ops {
		if o.verdict == IfUnchanged {
			p.strays.Add(1)
		}
	}
}

func (b *batchWriter) write(ctx context.Context, careful int) error {
	w := b.worker
	b.conflicts, b.overwritten, b.ours = 0, 0, map[lookup]bool{}
	if careful >= mostCareful {
		return b.oneByOne(ctx)
	}
	if slices.ContainsFunc(b.batch.ops, func(o op) bool { return o.effect != nil }) {
		return b.inOrder(ctx, careful)
	}
	has, err := b.look(ctx, careful)
	if err != nil {
		return err
	}
	outcomes, kept := decide(b.batch.ops, has)
	b.count(kept)
	checkpoint, err := w.conn.Post(ctx, w.advance(b.batch.position, len(b.batch.ops), len(kept.refused)).SQL())
	if err != nil {
		return err
	}
	err = b.rows(ctx, outcomes, careful, kept)
	if noted := noted(ctx, checkpoint); noted != nil { // the cause of the following error, if that failed too
		return noted
	}
	if err != nil {
		return err
	}
	return w.stopAt(Written)
}

func (b *batchWriter) count(kept records) {
	b.conflicts += len(kept.refused)
	b.overwritten += len(kept.overwritten)
}

// rows writes the resulting changes, after the records about them.
func (b *batchWriter) rows(ctx context.Context, outcomes []*outcome, careful int, kept records) error {
	if err := b.keep(ctx, kept); err != nil {
		return err
	}
	for _, t := range tablesOf(outcomes) {
		if err := b.table(ctx, t, outcomes, careful); err != nil {
			return err
		}
	}
	return nil
}

// look reads the target's rows that the decision needs. It skips keys that the owner inserts first: if the target has such a
// row, the server reports a duplicate. The next attempt is then careful and reads these rows as well.
func (b *batchWriter) look(ctx context.Context, careful int) (map[lookup]standing, error) {
	keys := map[*table.Table][]table.Key{}
	asked := map[lookup]bool{}
	for _, o := range b.batch.ops {
		k := lookup{o.table, o.id}
		if asked[k] {
			continue
		}
		asked[k] = true
		if o.verdict != IfUnchanged && o.before == nil && careful < cleared {
			continue
		}
		keys[o.table] = append(keys[o.table], o.key)
	}
	has := map[lookup]standing{}
	for t, some := range keys {
		err := b.worker.standingRows(ctx, t, some, func(id string, r table.Row) {
			v, _ := t.VersionOf(r)
			has[lookup{t, id}] = standing{row: r, version: v}
		})
		if err != nil {
			return nil, err
		}
	}
	for k := range b.ours {
		if asked[k] {
			s := has[k]
			s.ours = true
			has[k] = s
		}
	}
	return has, nil
}

// wrote records that rows of these keys are as the batch has left them.
func (b *batchWriter) wrote(outcomes []*outcome) {
	for _, o := range outcomes {
		if o.written {
			b.ours[lookup{o.table, o.id}] = true
		}
	}
}

func tablesOf(outcomes []*outcome) []*table.Table {
	var tables []*table.Table
	seen := map[*table.Table]bool{}
	for _, o := range outcomes {
		if !seen[o.table] {
			seen[o.table] = true
			tables = append(tables, o.table)
		}
	}
	return tables
}

// table writes the outcomes of one table's keys: first all deletions, then all final rows. So a unique value can pass
// from one row to another within the batch.
func (b *batchWriter) table(ctx context.Context, t *table.Table, outcomes []*outcome, careful int) error {
	// Without another unique key, ON DUPLICATE KEY UPDATE refers to the row's key.
	upsert := len(t.Unique) == 0 && t.KeyTellsGene() && !t.KeepsEqual()
	var gone []table.Key
	var fresh, rows []table.Row
	for _, o := range outcomes {
		if o.table != t || !o.written {
			continue
		}
		isFresh := o.fresh && careful < cleared
		if o.final == nil || !upsert && !isFresh {
			gone = append(gone, o.key)
		}
		switch {
		case o.final == nil:
		case isFresh:
			fresh = append(fresh, o.final)
		default:
			rows = append(rows, o.final)
		}
	}
	if err := b.worker.remove(ctx, t, gone); err != nil {
		return err
	}
	if !upsert {
		return b.worker.insert(ctx, t, append(rows, fresh...), "")
	}
	if err := b.worker.insert(ctx, t, fresh, ""); err != nil {
		return err
	}
	return b.worker.insert(ctx, t, rows, upsertTail(t))
}

func upsertTail(t *table.Table) string {
	var s strings.Builder
	s.WriteString(" ON DUPLICATE KEY UPDATE ")
	n := 0
	for i := range t.Columns {
		if t.Columns[i].Generated {
			continue
		}
		if n++; n > 1 {
			s.WriteByte(',')
		}
		name := link.Name(t.Columns[i].Name)
		s.WriteString(name + "=VALUES(" + name + ")")
	}
	return s.String()
}

func (b *batchWriter) keep(ctx context.Context, kept records) error {
	for _, r := range slices.Concat(kept.refused, kept.overwritten) {
		if err := b.worker.keep(ctx, r, b.batch.position); err != nil {
			return fmt.Errorf("keep a conflict: %w", err)
		}
	}
	return nil
}

// oneByOne writes changes one by one. A change that a unique key then refuses conflicts with a row that the source
// doesn't have.
func (b *batchWriter) oneByOne(ctx context.Context) error {
	w := b.worker
	if err := w.note(ctx, w.advance(b.batch.position, len(b.batch.ops), 0)); err != nil {
		return err
	}
	for _, o := range b.batch.ops {
		if err := b.one(ctx, o); err != nil {
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

// one writes one change, or records why it was not written. If the change is refused, its cascades are not written either.
func (b *batchWriter) one(ctx context.Context, o op) error {
	single := batchWriter{worker: b.worker, batch: &batch{ops: []op{o}, position: b.batch.position}, ours: b.ours}
	has, err := single.look(ctx, mostCareful)
	if err != nil {
		return err
	}
	outcomes, kept := decide(single.batch.ops, has)
	refused := len(kept.refused) > 0
	if !refused {
		twin, err := b.attempt(ctx, o, outcomes)
		if err != nil {
			return err
		}
		switch refused = twin != nil; {
		case !refused:
			b.wrote(outcomes)
		case o.incomplete():
			kept = records{}
		default:
			kept = records{refused: []record{*twin}}
		}
	}
	b.count(kept)
	if err := b.keep(ctx, kept); err != nil || refused {
		return err
	}
	return b.cascade(ctx, o.table, effectsOf(single.batch.ops, nil), cleared, 0)
}

// attempt writes one change, and undoes it if a unique key refuses it. Then it returns the record of that.
func (b *batchWriter) attempt(ctx context.Context, o op, outcomes []*outcome) (*record, error) {
	w := b.worker
	if _, err := w.conn.Exec(ctx, "SAVEPOINT one"); err != nil {
		return nil, err
	}
	err := b.table(ctx, o.table, outcomes, cleared)
	if !link.Duplicate(err) {
		return nil, err
	}
	if _, err := w.conn.Exec(ctx, "ROLLBACK TO SAVEPOINT one"); err != nil {
		return nil, err
	}
	r := &record{op: o, reason: link.Reason(err)}
	err = w.standingRows(ctx, o.table, []table.Key{o.key}, func(_ string, row table.Row) { r.standing = row })
	return r, err
}
