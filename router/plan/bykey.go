package plan

import (
	"fmt"
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// ByKey describes how few rows of a gathered table are read: only those whose column has one of the values that a column of another
// table has. The other table was gathered before. Rows of other values have no effect on the answer.
type ByKey struct {
	// Column is a column of the table. Of is a column of the other table, which is the one with the index Table. Both are integers.
	Column string
	Table  int
	Of     string

	key *catalog.Key // nil: the column is not a key
	of  *catalog.Table
}

// rank orders tables by how few of their rows are expected to affect the answer.
type rank uint8

const (
	byGene   rank = iota // conditions determine where the rows are
	byKey                // a join with a table that was gathered before
	byValue              // columns are compared with values
	filtered             // other conditions
	whole
)

// orderByKey decides in which order the tables are gathered, and which of them by the keys of others. nodes are the tables' nodes.
// Without any table that is gathered by key, they are gathered in the order of the text.
func (sc *scope) orderByKey(g *Gathering, nodes []*node, places *stmt.Places) {
	joins := sc.keyJoins(nodes, places)
	ranks := make([]rank, len(nodes))
	for i, n := range nodes {
		ranks[i] = sc.rank(&g.Tables[i], n, places)
		g.Order = append(g.Order, i)
	}
	if len(joins) == 0 || places.Statement.Features&stmt.OneServer != 0 {
		return
	}
	var order []int
	few, found := make([]bool, len(nodes)), false
	for len(order) < len(nodes) {
		next, best, by := -1, whole+1, (*ByKey)(nil)
		for i := range nodes {
			if slices.Contains(order, i) {
				continue
			}
			r, through := ranks[i], (*ByKey)(nil)
			if j := slices.IndexFunc(joins, func(j keyJoin) bool { return j.table == i && few[j.by.Table] }); j >= 0 && r > byKey {
				r, through = byKey, &joins[j].by
			}
			if r < best {
				next, best, by = i, r, through
			}
		}
		order = append(order, next)
		few[next] = best < whole && (!g.Tables[next].Here || best <= byValue) && !g.Tables[next].System
		if t := &g.Tables[next]; by != nil && !t.System && !t.Here {
			t.ByKey, found = by, true
			g.Tables[by.Table].Source = true
		}
	}
	if found {
		g.Order = order
	}
}

// rank returns the rank of a table by its own conditions.
func (sc *scope) rank(t *Gathered, n *node, places *stmt.Places) rank {
	if t.Rows != nil && t.Rows.classes[0].cond != nil {
		return byGene
	}
	r := whole
	for _, c := range places.Conjuncts {
		if c.Block != n.block || !sc.pushable(c, n) {
			continue
		}
		r = min(r, filtered)
		if c.Condition != nil && c.Condition.Kind == stmt.Equal {
			r = byValue
		}
	}
	return r
}

// keyJoin is a condition by which a table can be gathered.
type keyJoin struct {
	table int
	by    ByKey
}

// keyJoins returns the equalities of two integer columns that rows of a table must satisfy to affect the answer. They are conditions
// on two columns of a block, and conditions of the form column IN (SELECT column …).
func (sc *scope) keyJoins(nodes []*node, places *stmt.Places) (joins []keyJoin) {
	for _, c := range places.Conjuncts {
		if c.Condition == nil || c.Condition.Kind != stmt.Join || c.Condition.NullSafe || c.Condition.InRows || len(c.Columns) != 2 {
			continue
		}
		x, y := sc.integer(c.Block, c.Condition.Column), sc.integer(c.Block, c.Condition.Other)
		if x.node == nil || y.node == nil || x.node == y.node {
			continue
		}
		for _, side := range [][2]found{{x, y}, {y, x}} {
			if needed(c, side[0].node) {
				joins = appendJoin(joins, nodes, side[0], side[1])
			}
		}
	}
	for _, b := range places.Statement.Blocks {
		joins = sc.appendWithin(joins, b, b.Where, nodes)
	}
	return joins
}

// appendJoin appends the condition that a column has a value of another one, if both tables are gathered.
func appendJoin(joins []keyJoin, nodes []*node, column, of found) []keyJoin {
	table, other := slices.Index(nodes, column.node), slices.Index(nodes, of.node)
	if table < 0 || other < 0 {
		return joins
	}
	key, _ := column.node.table.KeyOf(column.column.Name)
	return append(joins, keyJoin{table, ByKey{column.column.Name, other, of.column.Name, key, column.node.table}})
}

// appendWithin appends the conditions column IN (SELECT column …) that all rows of a block must satisfy. Of rows, servers may compare
// the columns as doubles.
func (sc *scope) appendWithin(joins []keyJoin, b *stmt.Block, c *stmt.Condition, nodes []*node) []keyJoin {
	switch {
	case c == nil:
	case c.Kind == stmt.And:
		for _, arg := range c.Args {
			joins = sc.appendWithin(joins, b, arg, nodes)
		}
	case c.Kind == stmt.Within && !c.InRows && c.Query != nil && c.Field < len(c.Query.Fields) && c.Query.Fields[c.Field].Column != nil:
		column, of := sc.integer(b, c.Column), sc.integer(c.Query, *c.Query.Fields[c.Field].Column)
		if column.node != nil && of.node != nil && !column.node.ref.Nullable {
			return appendJoin(joins, nodes, column, of)
		}
	}
	return joins
}

// needed reports whether rows of a table that don't satisfy a condition have no effect on the answer. See pushable.
func needed(c stmt.Conjunct, n *node) bool {
	last := c.Last
	if last < 0 {
		last = len(n.block.Tables)
	}
	switch {
	case n.index < c.First, n.index >= last:
		return false
	case c.Outer:
		return last-c.First == 1
	}
	return !n.ref.Nullable
}

// integer returns an integer column of a table of a block. It returns nothing for other columns.
func (sc *scope) integer(b *stmt.Block, ref stmt.ColumnRef) found {
	n, unknown := sc.within(b, ref)
	if n == nil || unknown || n.block != b || ref.Schema != "" || !n.known() {
		return found{}
	}
	column := columnOf(n, ref.Name)
	if column == nil || !column.IsInteger() || !ascii(column.Name) {
		return found{}
	}
	return found{n, column}
}

// By returns the table restricted to the rows in which its column has one of the values, and the condition for that.
func (g *Gathered) By(values []stmt.Value) (restricted Gathered, text string) {
	restricted = *g
	by := g.ByKey
	list := make([]string, len(values))
	operands := make([]stmt.Operand, len(values))
	for i, v := range values {
		list[i], operands[i] = v.String(), stmt.Operand{Slot: -1, Const: v}
	}
	if by.key != nil && g.Rows != nil {
		c := &condition{kind: stmt.Equal, key: by.key, table: by.of.TableName, operands: operands, side: by.key == by.of.Side()}
		rows := *g.Rows
		rows.classes = []class{rows.classes[0]}
		rows.classes[0].cond = both(rows.classes[0].cond, c)
		restricted.Rows = &rows
	}
	return restricted, quote(g.Alias) + "." + quote(by.Column) + " IN (" + strings.Join(list, ", ") + ")"
}

// Count returns the query for the number of rows that satisfy the conditions, up to a limit.
func (g *Gathered) Count(conditions []string, limit int) string {
	return fmt.Sprintf("SELECT COUNT(*) FROM (%s LIMIT %d) AS locus_few", g.read([]string{"1"}, conditions), limit)
}

// Values returns the query for the different values that a column of the n-th temporary table has, at most limit of them.
func (g *Gathering) Values(n int, column string, limit int) string {
	return fmt.Sprintf("SELECT DISTINCT %[1]s + 0 FROM %[2]s WHERE %[1]s IS NOT NULL LIMIT %[3]d", quote(column), g.Tables[n].Temporary(n), limit)
}
