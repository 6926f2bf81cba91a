package checksum

import (
	"context"
	"fmt"
	"slices"

	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/migrate/table"
)

const (
	// rounds bounds how often a changing row is checked.
	rounds = 30
	// confirmations is how many consecutive times the same difference must be seen. A value that changes and changes back
	// between reads looks like a difference. If processes wait long for CPU time, that happens now and then, even twice in a
	// row.
	confirmations = 5
)

// sighting is an observed difference and how often it was seen.
type sighting struct {
	times          int
	source, target table.Row
}

// settle determines which suspects differ. Once enough differences were found, the rest are only counted.
func (w *walk) settle(ctx context.Context, keys []table.Key) error {
	for group := range slices.Chunk(keys, w.atOnce()) {
		if w.enough() {
			w.clean = false
			w.beyond(len(group))
			continue
		}
		left := group
		seen := map[string]sighting{}
		for range rounds {
			var err error
			if left, err = w.look(ctx, left, seen); err != nil {
				return err
			}
			if len(left) == 0 {
				break
			}
		}
		left, err := w.hold(ctx, left)
		if err != nil {
			return err
		}
		if len(left) > 0 {
			w.clean = false
			w.unsettled(len(left))
		}
	}
	return nil
}

// atOnce returns how many rows are held in memory at a time.
func (w *walk) atOnce() int {
	if w.lane.Table.Large() {
		return 1
	}
	return 200
}

// look reads rows three times: at the source, at the target after that has applied the source's changes, and at the source
// again. It returns the keys that remain undecided.
func (w *walk) look(ctx context.Context, keys []table.Key, seen map[string]sighting) ([]table.Key, error) {
	before, err := w.read(ctx, w.source, keys)
	if err != nil {
		return nil, err
	}
	here, err := changes.Current(ctx, w.source)
	if err != nil {
		return nil, err
	}
	if err := w.stream.WaitApplied(ctx, here); err != nil {
		return nil, fmt.Errorf("wait until the target has the source's changes: %w", err)
	}
	target, err := w.read(ctx, w.target, keys)
	if err != nil {
		return nil, err
	}
	after, err := w.read(ctx, w.source, keys)
	if err != nil {
		return nil, err
	}
	var left []table.Key
	for _, k := range keys {
		id := string(k.Encode())
		s, t := after[id], target[id]
		if same(s, t) {
			continue
		}
		if !same(before[id], s) {
			delete(seen, id)
			left = append(left, k)
			continue
		}
		times := 1
		if last, again := seen[id]; again && same(last.source, s) && same(last.target, t) {
			times += last.times
		}
		if seen[id] = (sighting{times, s, t}); times < confirmations {
			left = append(left, k)
			continue
		}
		switch committed, settled, err := w.committed(ctx, k); {
		case err != nil:
			return nil, err
		case !settled || !same(committed, s):
			delete(seen, id)
			left = append(left, k)
			continue
		}
		again, err := w.repair(ctx, w.difference(k, s, t))
		if err != nil {
			return nil, err
		}
		if again {
			delete(seen, id)
			left = append(left, k)
		}
	}
	return left, nil
}

// committed reads a row at the source once no transaction is about to change it. A transaction may be in the log, and its rows
// at the target, before the server has committed it and shows its rows. It may wait for its turn, or for a semi-synchronous
// replica (MySQL's rpl_semi_sync_source_wait_point = AFTER_SYNC). It holds its locks until it has committed, so a locking read
// waits for it. settled is false if a lock was held for too long.
func (w *walk) committed(ctx context.Context, k table.Key) (row table.Row, settled bool, err error) {
	rows, err := w.readWith(ctx, w.source, []table.Key{k}, " LOCK IN SHARE MODE")
	if link.Transient(err) {
		return nil, false, nil
	}
	return rows[string(k.Encode())], err == nil, err
}

func (w *walk) read(ctx context.Context, c *link.Conn, keys []table.Key) (map[string]table.Row, error) {
	return w.readWith(ctx, c, keys, "")
}

func (w *walk) readWith(ctx context.Context, c *link.Conn, keys []table.Key, lock string) (map[string]table.Row, error) {
	t := w.lane.Table
	b := t.AppendKeyIn([]byte("SELECT "+t.ReadList()+" FROM "+t.SQL()+" WHERE "), keys)
	if !t.KeyTellsGene() {
		b = append(b, " AND "+t.Condition(w.lane.Genes)...)
	}
	b = append(b, lock...)
	rows := map[string]table.Row{}
	err := c.Each(ctx, string(b), func(values [][]byte) error {
		r, err := t.Canonical(values)
		if err == nil {
			rows[string(t.KeyOf(r).Encode())] = r
		}
		return err
	})
	return rows, err
}

func same(a, b table.Row) bool { return (a == nil) == (b == nil) && table.Differing(a, b) == nil }

func (w *walk) difference(k table.Key, source, target table.Row) Difference {
	d := Difference{Table: w.lane.Table, Key: k, Kind: Differs, Source: Look(w.lane.Table, source, target), Target: Look(w.lane.Table, target, source)}
	switch {
	case target == nil:
		d.Kind = Missing
	case source == nil:
		d.Kind = Extra
	}
	for _, i := range table.Differing(source, target) {
		d.Columns = append(d.Columns, d.Table.Columns[i].Name)
	}
	return d
}
