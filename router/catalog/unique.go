package catalog

import "slices"

// UniqueKey is a unique index.
type UniqueKey struct {
	Name string
	// Columns are the positions of the columns that the key contains as a whole: equal keys have equal values in them. Columns of which the key
	// contains a prefix, and expressions, are omitted.
	Columns []int
	// Partial: the key contains such prefixes or expressions.
	Partial bool
}

// Equal reports whether two keys have the same definition.
func (u UniqueKey) Equal(other UniqueKey) bool {
	return u.Name == other.Name && u.Partial == other.Partial && slices.Equal(u.Columns, other.Columns)
}

// SameUnique reports whether two tables have the same unique keys in any order.
func (t *Table) SameUnique(other *Table) bool {
	return len(t.Unique) == len(other.Unique) && !slices.ContainsFunc(t.Unique, func(u UniqueKey) bool { return !slices.ContainsFunc(other.Unique, u.Equal) })
}

// Changes reports whether assigning a column may change the key's values in a row.
func (t *Table) Changes(u UniqueKey, column int) bool {
	computed := func(c int) bool { return t.Columns[c].Generated }
	return u.Partial || slices.Contains(u.Columns, column) || slices.ContainsFunc(u.Columns, computed)
}

// WithUnique returns the table with its unique keys. In a sharded table, rows with equal values of a key are on one shard if the key contains
// a column that determines the gene. The other keys become Unseen.
func (t *Table) WithUnique(keys []UniqueKey) *Table {
	next := *t
	if next.Unique = keys; t.Kind != Sharded {
		return &next
	}
	for _, u := range keys {
		if !slices.ContainsFunc(u.Columns, next.determinesGene) {
			next.Unseen = append(next.Unseen, u)
		}
	}
	return &next
}

// determinesGene reports whether rows with equal values in a column have one gene.
func (t *Table) determinesGene(column int) bool {
	return slices.ContainsFunc(t.Keys, func(k Key) bool { return k.Column == &t.Columns[column] })
}

// IsStamped reports whether a generator fills a column.
func (t *Table) IsStamped(column int) bool {
	return slices.ContainsFunc(t.StampedColumns, func(c StampedColumn) bool { return c.Column == column })
}

// Numbered returns the position of the AUTO_INCREMENT column, or -1.
func (t *Table) Numbered() int {
	return slices.IndexFunc(t.Columns, func(c Column) bool { return c.AutoIncrement })
}

// Findable returns the keys by which a shard finds a row immediately, though they don't all determine its gene. These are the unique keys and
// the AUTO_INCREMENT column. Each is given by the positions of its columns.
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
