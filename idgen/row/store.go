package row

import (
	"context"
	"database/sql"
	"errors"
	"fmt"

	"locus/idgen/segment"
)

// maxID is the largest number: a sum with a run must not wrap.
const maxID = 1<<63 - 1

var _ segment.Store = (*Table)(nil)

// Extend grants the next n numbers of a tag. The row is advanced by a
// compare-and-swap of its version, so no transaction is held and no row is
// locked while this process thinks. The bound is compared too, for programs that
// raise it and not the version.
//
// Numbers of an attempt whose outcome is unknown are lost. Should its UPDATE run
// late, it was seen by the next read, or makes the next swap fail, or fails
// itself, because a version is swapped only once.
//
// A table without a version, as Leaf makes it, is swapped by max_id alone: it only ever rises, so it is as good. To Leaf
// max_id is the next number, and to others the last one: the number between two grants is nobody's, so both may take from the row.
func (t *Table) Extend(ctx context.Context, tag string, n uint64) (segment.Grant, error) {
	if _, err := t.step(ctx, tag); err != nil {
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
			return segment.Grant{}, fmt.Errorf("extend %s from %d to %d: %w: the outcome is unknown, these numbers may be lost", tag, bound, bound+n, err)
		}
		if done {
			t.bounds.Saw(tag, bound+n+between)
			return segment.Grant{First: bound + 1, Last: bound + n}, nil
		}
		// Another process was faster, so somebody has made progress.
	}
}

// bound reads how far the tag is granted. The highest one seen is looked up
// before the read begins: a later one may have been written meanwhile.
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
