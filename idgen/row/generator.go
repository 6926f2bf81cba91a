package row

import (
	"context"
	"fmt"

	"locus/idgen"
	"locus/idgen/segment"
)

// Advance advances a tag by n numbers and returns the first.
type Advance func(ctx context.Context, tag string, n uint64) (first uint64, err error)

// Locked adds n under the row's lock, with one statement.
func (t *Table) Locked(ctx context.Context, tag string, n uint64) (uint64, error) {
	if t.versionless() {
		return t.Swapped(ctx, tag, n)
	}
	floor := t.bounds.Of(tag)
	result, err := t.db.ExecContext(ctx, "UPDATE "+t.name+" SET max_id = LAST_INSERT_ID(max_id + ?), version = version + 1 WHERE biz_tag = ? AND max_id <= ?",
		n, []byte(tag), maxID-n)
	if err != nil {
		return 0, fmt.Errorf("advance %s by %d: %w: these numbers may be lost", tag, n, err)
	}
	rows, err := result.RowsAffected()
	if err != nil {
		return 0, fmt.Errorf("advance %s by %d: %w", tag, n, err)
	}
	last, err := result.LastInsertId()
	switch {
	case err != nil:
		return 0, fmt.Errorf("advance %s by %d: %w", tag, n, err)
	case rows == 0:
		if _, _, err := t.bound(ctx, tag); err != nil {
			return 0, fmt.Errorf("advance %s by %d: %w", tag, n, err)
		}
		return 0, fmt.Errorf("advance %s by %d: %w", tag, n, idgen.ErrOutOfRange)
	case uint64(last) < floor+n:
		return 0, fmt.Errorf("advance %s by %d: %w: %s gives %d, this process has seen %d: these numbers are not used; set max_id above every number in use",
			tag, n, segment.ErrWentBack, t.name, uint64(last)-n+1, floor)
	}
	t.bounds.Saw(tag, uint64(last))
	return uint64(last) - n + 1, nil
}

// Swapped advances by a compare-and-swap of the version.
func (t *Table) Swapped(ctx context.Context, tag string, n uint64) (uint64, error) {
	g, err := t.Extend(ctx, tag, n)
	return g.First, err
}

// Generator takes each call's numbers from the database. advance is Locked or Swapped. lock may be nil.
func (t *Table) Generator(tag string, advance Advance, lock Lock) idgen.Numbers {
	return idgen.Run{Take: func(ctx context.Context, n int) (uint64, error) {
		if _, err := t.Step(ctx, tag); err != nil {
			return 0, err
		}
		if lock != nil {
			if unlock, err := lock.Lock(ctx); err == nil {
				defer unlock()
			}
		}
		return advance(ctx, tag, uint64(n))
	}}
}
