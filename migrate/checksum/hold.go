package checksum

import (
	"context"
	"errors"
	"fmt"
	"time"

	"locus/migrate/changes"
	"locus/migrate/table"
)

// holding bounds how long writes to one row wait for its comparison.
const holding = time.Second

// hold compares constantly changing rows one by one while they are locked against writes. It returns the keys of rows that remain
// undecided. Once the target lags too far for one row, the rest are skipped.
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

// held reads and locks a row at the source, and reads it at the target after the target has applied everything
// up to then. Not all servers can lock a row that doesn't exist, so a row that only the target has remains
// undecided.
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
	return true, w.record(ctx, w.difference(k, source, target), Stands)
}
