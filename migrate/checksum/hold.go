package checksum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/migrate/changes"
	"locus/migrate/table"
)

// holding bounds for how long writes to one row wait for its comparison.
const holding = time.Second

// hold compares rows that never stand still, one after the other, while nobody can write them, and gives the keys of those of
// which nothing is known still. Once the target is too far behind for one, the others are left alone.
func (w *walk) hold(ctx context.Context, keys []table.Key) ([]table.Key, error) {
	for i, k := range keys {
		settled, err := w.held(ctx, k)
		if err != nil {
			return nil, fmt.Errorf("compare a row that is locked: %w", err)
		}
		if !settled {
			return keys[i:], nil
		}
	}
	return nil, nil
}

// held reads a row at the source and locks it there, and reads it at the target once that has what the source had by then. A row that
// isn't there can't be locked by all servers: of one that the target has nothing is known.
func (w *walk) held(ctx context.Context, k table.Key) (settled bool, err error) {
	if _, err := w.source.Exec(ctx, "START TRANSACTION"); err != nil {
		return false, err
	}
	defer func() {
		if _, ended := w.source.Exec(ctx, "ROLLBACK"); ended != nil {
			settled, err = false, errors.Join(err, ended)
		}
	}()
	source, settled, err := w.committed(ctx, k)
	if err != nil || !settled {
		return false, err
	}
	here, err := changes.Current(ctx, w.source)
	if err != nil {
		return false, err
	}
	limited, cancel := context.WithTimeout(ctx, holding)
	err = w.stream.WaitApplied(limited, here)
	cancel()
	switch {
	case limited.Err() != nil && ctx.Err() == nil && err != nil:
		return false, nil
	case err != nil:
		return false, err
	}
	rows, err := w.read(ctx, w.target, []table.Key{k})
	if err != nil {
		return false, err
	}
	target := rows[string(k.Encode())]
	switch {
	case same(source, target):
		return true, nil
	case source == nil:
		return false, nil
	}
	w.clean = false
	w.found(w.difference(k, source, target))
	return true, nil
}
