package catalog

import (
	"fmt"
	"slices"
	"strings"
)

// Unevenness contains the columns by which the shards' tables differ, if a row may omit all of them. The planner uses the columns of
// [Table.Columns], which all shards have.
type Unevenness struct {
	// Partial are the columns that only some shards have.
	Partial []Column
	// Hidden are the columns that all shards have and that only some show.
	Hidden []string
}

// Even reports whether all shards have the same columns.
func (u Unevenness) Even() bool { return u.Partial == nil && u.Hidden == nil }

// ShowsAlike reports whether every shard shows all columns of the table except [OwnGene]. If not, shards may differ, or may be about to make a
// column visible one after the other. Then a statement on all columns must name them.
func (t *Table) ShowsAlike() bool {
	return t.Uneven.Even() && !slices.ContainsFunc(t.Columns, func(c Column) bool { return c.Invisible && c.Name != OwnGene })
}

// Differing returns why the table must not be declared with these columns, or nil if all shards have the same ones.
func (t *Table) Differing() error {
	if t.Uneven.Even() {
		return nil
	}
	return fmt.Errorf("table %s: its columns differ between shards (%s): make it alike on every shard", t.TableName, t.Uneven)
}

// String returns the names of the columns, sorted.
func (u Unevenness) String() string {
	names := slices.Clone(u.Hidden)
	for _, c := range u.Partial {
		names = append(names, c.Name)
	}
	slices.Sort(names)
	return strings.Join(names, ", ")
}

// ReadsClock reports whether a row of the table may get the statement's time.
func (t *Table) ReadsClock() bool {
	reads := func(c Column) bool { return c.ReadsClock() }
	return slices.ContainsFunc(t.Columns, reads) || slices.ContainsFunc(t.Uneven.Partial, reads)
}

// UpdatesClock reports whether an UPDATE of a row may set the statement's time in it.
func (t *Table) UpdatesClock() bool {
	updates := func(c Column) bool { return c.OnUpdate }
	return slices.ContainsFunc(t.Columns, updates) || slices.ContainsFunc(t.Uneven.Partial, updates)
}

// WithUneven returns the table with the differences between the shards.
func (t *Table) WithUneven(u Unevenness) *Table {
	next := *t
	next.Uneven = u
	return &next
}
