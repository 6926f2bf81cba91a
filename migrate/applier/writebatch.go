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
	worker    *worker
	batch     *batch
	conflicts int // of the last attempt
}

func (b *batchWriter) committed() {
	p := &b.worker.applier.progress
	p.changes.Add(int64(len(b.batch.ops)))
	p.conflicts.Add(int64(b.conflicts))
	for _, o := range b.batch.ops {
		if o.verdict == IfUnchanged {
			p.strays.Add(1)
		}
	}
}

func (b *batchWriter) write(ctx context.Context, careful int) error {
	w := b.worker
	b.conflicts = 0
	if careful >= mostCareful {
		return b.oneByOne(ctx)
	}
	if slices.ContainsFunc(b.batch.ops, func(o op) bool { return o.effect != nil }) {
		return b.inOrder(ctx, careful)
	}
	has, err := b.look(ctx)
	if err != nil {
		return err
	}
	outcomes, refused := decide(b.batch.ops, has)
	b.conflicts = len(refused)
	checkpoint, err := w.conn.Post(ctx, w.advance(b.batch.position, len(b.batch.ops), len(refused)).SQL())
	if err != nil {
		return err
	}
	err = b.rows(ctx, outcomes, careful, refused)
	if noted := noted(ctx, checkpoint); noted != nil { // the cause of what followed, if that failed too
		return noted
	}
	if err != nil {
		return err
	}
	return w.stopAt(Written)
}

// rows writes what the changes come to.
func (b *batchWriter) rows(ctx context.Context, outcomes []*outcome, careful int, refused []refusal) error {
	for _, t := range tablesOf(outcomes) {
		if err := b.table(ctx, t, outcomes, careful); err != nil {
			return err
		}
	}
	return b.keep(ctx, refused)
}

// look reads what the decision needs from the target: versions if the table has them, whole rows if they are compared
// or may be stored.
func (b *batchWriter) look(ctx context.Context) (map[lookup]standing, error) {
	whole, versions := map[*table.Table][]table.Key{}, map[*table.Table][]table.Key{}
	asked := map[lookup]bool{}
	for _, o := range b.batch.ops {
		k := lookup{o.table, o.id}
		switch {
		case asked[k]:
			continue
		case o.verdict == IfUnchanged:
			whole[o.table] = append(whole[o.table], o.key)
		case o.table.Version >= 0:
			versions[o.table] = append(versions[o.table], o.key)
		default:
			continue
		}
		asked[k] = true
	}
	has := map[lookup]standing{}
	for t, keys := range versions {
		err := b.worker.standingVersions(ctx, t, keys, func(id string, v int64) { has[lookup{t, id}] = standing{version: v} })
		if err != nil {
			return nil, err
		}
	}
	for t, keys := range whole {
		if err := b.lookWhole(ctx, t, keys, has); err != nil {
			return nil, err
		}
	}
	// Refused changes are stored with the target's whole row.
	_, refused := decide(b.batch.ops, has)
	for _, r := range refused {
		if err := b.lookWhole(ctx, r.op.table, []table.Key{r.op.key}, has); err != nil {
			return nil, err
		}
	}
	return has, nil
}

func (b *batchWriter) lookWhole(ctx context.Context, t *table.Table, keys []table.Key, has map[lookup]standing) error {
	return b.worker.standingRows(ctx, t, keys, func(id string, r table.Row) {
		v, _ := t.VersionOf(r)
		has[lookup{t, id}] = standing{row: r, version: v}
	})
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
	// Without another unique key, ON DUPLICATE KEY UPDATE refers to the primary key.
	upsert := len(t.Unique) == 0 && t.KeyTellsGene() && !t.KeepsEqual()
	var gone []table.Key
	var rows []table.Row
	for _, o := range outcomes {
		if o.table != t || !o.written {
			continue
		}
		if o.final == nil || !upsert && (!o.fresh || careful >= cleared) {
			gone = append(gone, o.key)
		}
		if o.final != nil {
			rows = append(rows, o.final)
		}
	}
	if err := b.worker.remove(ctx, t, gone); err != nil {
		return err
	}
	tail := ""
	if upsert {
		tail = upsertTail(t)
	}
	return b.worker.insert(ctx, t, rows, tail)
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

func (b *batchWriter) keep(ctx context.Context, refused []refusal) error {
	for _, r := range refused {
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
		single := batchWriter{worker: w, batch: &batch{ops: []op{o}}}
		has, err := single.look(ctx)
		if err != nil {
			return err
		}
		outcomes, refused := decide(single.batch.ops, has)
		if len(refused) == 0 {
			if refused, err = b.attempt(ctx, o, outcomes); err != nil {
				return err
			}
		}
		b.conflicts += len(refused)
		if err := b.keep(ctx, refused); err != nil {
			return err
		}
		if err := b.cascade(ctx, o.table, effectsOf(single.batch.ops, refused), cleared, 0); err != nil {
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

// attempt writes one change, and undoes it if a unique key refuses it.
func (b *batchWriter) attempt(ctx context.Context, o op, outcomes []*outcome) ([]refusal, error) {
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
	r := refusal{op: o, reason: link.Reason(err)}
	err = w.standingRows(ctx, o.table, []table.Key{o.key}, func(_ string, row table.Row) { r.standing = row })
	return []refusal{r}, err
}
