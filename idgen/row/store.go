package row

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"locus/idgen/segment"
)

// maxID is the largest number, so that its sum with a run doesn't wrap.
const maxID = 1<<63 - 1

var _ segment.Store = (*Table)(nil)

// Extend grants the next n numbers of a tag. It advances the row by a compare-and-swap of its version, so it holds no transaction
// and no row lock. It compares the bound too, for programs that raise it but not the version.
//
// Numbers of an attempt with unknown outcome are lost. If its UPDATE runs late, either the next read has seen it, or it makes the
// next swap fail, or it fails itself, because a version is swapped only once.
//
// A table without a version, as created by Leaf, is swapped by max_id alone. That is equivalent, because max_id only increases.
// For Leaf max_id is the next number, for others it is the last one. The number between two grants is unused, so both may take
// from the row.
func (t *Table) Extend(ctx context.Context, tag string, n uint64) (segment.Grant, error) {
	if _, err := t.Step(ctx, tag); err != nil {
		return segment.Grant{}, fmt.Errorf("extend %s by %d: %w", tag, n, err)
	}
	between := uint64(0)
	if t.versionless() {
		between = 1
	}
	for {
		bound, version, err := t.bound(ctx, tag)
		if err != nil {
			return segment.Grant{}, fmt.Errorf("extend %s by %d: %w", tag, n, err)
		}
		if n == 0 || n > maxID-between-min(bound, maxID-between) {
			return segment.Grant{}, fmt.Errorf("extend %s by %d: it is granted up to %d, and numbers end at %d", tag, n, bound, uint64(maxID))
		}
		done, err := t.swap(ctx, tag, version, bound, bound+n+between)
		if err != nil {
			return segment.Grant{}, fmt.Errorf("extend %s from %d to %d: %w: these numbers may be lost", tag, bound, bound+n, err)
		}
		if done {
			t.bounds.Saw(tag, bound+n+between)
			return segment.Grant{First: bound + 1, Last: bound + n}, nil
		}
		// Another process was faster, so there is progress.
	}
}

// bound reads how far the tag is granted. It reads the highest observed bound first, because a later one may be written in the
// meantime.
func (t *Table) bound(ctx context.Context, tag string) (bound, version uint64, err error) {
	floor := t.bounds.Of(tag)
	columns := "max_id, version"
	if t.versionless() {
		columns = "max_id, 0"
	}
	err = t.db.QueryRowContext(ctx, "SELECT "+columns+" FROM "+t.name+" WHERE biz_tag = ?", []byte(tag)).Scan(&bound, &version)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return 0, 0, fmt.Errorf("%w %q: its row of %s is gone", segment.ErrUnknownTag, tag, t.name)
	case err != nil:
		return 0, 0, fmt.Errorf("read it: %w", err)
	case bound < floor:
		return 0, 0, fmt.Errorf("%w: %s says %d, this process has seen %d: the database has lost grants, as a restored backup does; "+
			"set max_id above every number in use", segment.ErrWentBack, t.name, bound, floor)
	}
	t.bounds.Saw(tag, bound)
	return bound, version, nil
}

func (t *Table) swap(ctx context.Context, tag string, version, bound, next uint64) (bool, error) {
	update, values := " SET max_id = ?, version = version + 1 WHERE biz_tag = ? AND version = ? AND max_id = ?", []any{next, []byte(tag), version, bound}
	if t.versionless() {
		update, values = " SET max_id = ? WHERE biz_tag = ? AND max_id = ?", []any{next, []byte(tag), bound}
	}
	result, err := t.db.ExecContext(ctx, "UPDATE "+t.name+update, values...)
	if err != nil {
		return false, err
	}
	rows, err := result.RowsAffected()
	return rows == 1, err
}
