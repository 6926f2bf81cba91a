package catalog

import "slices"

// UniqueKey is a unique index.
type UniqueKey struct {
	Name string
	// Columns are those that it has whole, by their positions: equal keys have equal
	// values there. What it has of a column's prefix, or of an expression, is missing.
	Columns []int
	// Partial: it has such parts.
	Partial bool
}

// Equal tells whether two keys are alike.
func (u UniqueKey) Equal(other UniqueKey) bool {
	return u.Name == other.Name && u.Partial == other.Partial && slices.Equal(u.Columns, other.Columns)
}

// SameUnique tells whether two tables have the same unique keys, in whatever order.
func (t *Table) SameUnique(other *Table) bool {
	return len(t.Unique) == len(other.Unique) && !slices.ContainsFunc(t.Unique, func(u UniqueKey) bool { return !slices.ContainsFunc(other.Unique, u.Equal) })
}

// Changes tells whether assigning a column may change the key's values in a row.
func (t *Table) Changes(u UniqueKey, column int) bool {
	computed := func(c int) bool { return t.Columns[c].Generated }
	return u.Partial || slices.Contains(u.Columns, column) || slices.ContainsFunc(u.Columns, computed)
}

// WithUnique is the table with its unique keys. Those that have a column which tells
// the gene are each within one shard.
func (t *Table) WithUnique(keys []UniqueKey) *Table {
	next := *t
	if next.Unique = keys; t.Kind != Sharded {
		return &next
	}
	for _, u := range keys {
		if !slices.ContainsFunc(u.Columns, next.tellsGene) {
			next.Unseen = append(next.Unseen, u)
		}
	}
	return &next
}

// tellsGene tells whether rows of equal values in a column are of one gene.
func (t *Table) tellsGene(column int) bool {
	return slices.ContainsFunc(t.Keys, func(k Key) bool { return k.Column == &t.Columns[column] })
}

// IsStamped tells whether a generator fills a column.
func (t *Table) IsStamped(column int) bool {
	return slices.ContainsFunc(t.StampedColumns, func(c StampedColumn) bool { return c.Column == column })
}

// Numbered is the column that a server numbers by AUTO_INCREMENT, by its position, or -1.
func (t *Table) Numbered() int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.AutoIncrement })
}

// Findable are the keys by which each shard finds rows at once that are not told from their genes: unique keys, and what the
// cluster numbers, by the positions of their columns.
func (t *Table) Findable() (keys [][]int) {
	for _, u := range t.Unique {
		if !u.Partial && len(u.Columns) > 0 {
			keys = append(keys, u.Columns)
		}
	}
	if at := t.Numbered(); at >= 0 {
		keys = append(keys, []int{at})
	}
	return keys
}
