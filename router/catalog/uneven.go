package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Unevenness is by which columns the shards' tables differ, where they differ by such alone that a row may leave out. Whoever plans
// a statement means the columns of [Table.Columns], which all shards have.
type Unevenness struct {
	// Partial are the columns that only some shards have.
	Partial []Column
	// Hidden are those that all have, and that are visible on some alone.
	Hidden []string
}

// Even tells that all shards have the same columns.
func (u Unevenness) Even() bool { return u.Partial == nil && u.Hidden == nil }

// ShowsAlike tells whether all columns of the table that people have made are shown by every shard. Where they aren't, shards
// may differ, or are about to show one after the other what they have: whatever says "all columns" names them.
func (t *Table) ShowsAlike() bool {
	return t.Uneven.Even() && !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Invisible && c.Name != OwnGene })
}

// Differing is why the table is not to be declared so; nil: shards have the same columns.
func (t *Table) Differing() error {
	if t.Uneven.Even() {
		return nil
	}
	return fmt.Errorf("table %s: its columns differ between shards (%s): make it alike on every shard", t.TableName, t.Uneven)
}

// String lists the columns.
func (u Unevenness) String() string {
	names := slices.Clone(u.Hidden)
	for _, c := range u.Partial {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// ReadsClock tells whether a row of the table may get the statement's time.
func (t *Table) ReadsClock() bool {
	reads := func(c Column) bool { return c.ReadsClock() }
	return slices.ContainsFunc(t.Columns, reads) || slices.ContainsFunc(t.Uneven.Partial, reads)
}

// UpdatesClock tells whether an UPDATE of a row may give it the statement's time.
func (t *Table) UpdatesClock() bool {
	updates := func(c Column) bool { return c.OnUpdate }
	return slices.ContainsFunc(t.Columns, updates) || slices.ContainsFunc(t.Uneven.Partial, updates)
}

// WithUneven is the table of shards that differ so.
func (t *Table) WithUneven(u Unevenness) *Table {
	next := *t
	next.Uneven = u
	return &next
}
