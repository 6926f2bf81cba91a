package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// maxIndexes is the limit of the indexes on one temporary table.
const maxIndexes = 8

// indexed returns the columns of gathered tables that get indexes: integer columns that joins, correlations and subqueries
// compare with integers. Text columns get none, because servers don't always find by an index of texts what they find without
// one.
func (sc *scope) indexed(blocks []*stmt.Block) map[*node][]string {
	found := map[*node][]string{}
	x := indexer{sc, found}
	for _, b := range blocks {
		x.condition(b, b.Where)
		for _, j := range b.Joins {
			x.condition(b, j.On)
		}
	}
	for n, names := range found {
		slices.Sort(names)
		names = slices.Compact(names)
		found[n] = names[:min(maxIndexes, len(names))]
	}
	return found
}

type indexer struct {
	*scope
	found map[*node][]string
}

func (x indexer) condition(b *stmt.Block, c *stmt.Condition) {
	if c == nil {
		return
	}
	switch c.Kind {
	case stmt.And:
		for _, part := range c.Args {
			x.condition(b, part)
		}
	case stmt.Join:
		x.recordCompared(b, c.Column, b, c.Other)
	case stmt.Within:
		if q := c.Query; q != nil && c.Field < len(q.Fields) && q.Fields[c.Field].Column != nil {
			x.recordCompared(b, c.Column, q, *q.Fields[c.Field].Column)
		}
	case stmt.Opaque, stmt.Or, stmt.Equal, stmt.Between:
	}
}

// recordCompared records two columns that are compared, each as a block names it.
func (x indexer) recordCompared(a *stmt.Block, left stmt.ColumnRef, b *stmt.Block, right stmt.ColumnRef) {
	l, r := x.outwards(a, left), x.outwards(b, right)
	if l == nil || r == nil || !wholeNumber(l, left.Name) || !wholeNumber(r, right.Name) {
		return
	}
	x.found[l] = append(x.found[l], strings.ToLower(left.Name))
	x.found[r] = append(x.found[r], strings.ToLower(right.Name))
}

// outwards returns the table of a column in a block, or in a block around it.
func (x indexer) outwards(b *stmt.Block, ref stmt.ColumnRef) *node {
	for ; b != nil; b = b.Parent {
		if n, unknown := x.within(b, ref); n != nil || unknown {
			return n
		}
	}
	return nil
}

func wholeNumber(n *node, name string) bool {
	column := columnOf(n, name)
	return column != nil && column.IsInteger()
}

func columnOf(n *node, name string) *catalog.Column {
	if n.table == nil {
		return nil
	}
	if i, ok := n.table.Column(name); ok {
		return &n.table.Columns[i]
	}
	return nil
}
