package plan

import (
	"slices"
	"strconv"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Carrying describes how a statement that is gathered can instead run on the one shard that has the rows of its last table. The few rows of the
// tables before it are read first, and sent in the text of the statement.
type Carrying struct {
	// Last is the index of the table that is read in place.
	Last   int
	Tables []Carried // in the order in which they are read
}

// Carried is a table whose rows are sent in the text of the statement.
type Carried struct {
	Table   int // its index
	Columns []*catalog.Column
}

// MostCarried is the number of rows up to which the rows of tables are sent in the text of a statement. With more, they are gathered.
const MostCarried = 100

// carry returns how the statement can run on the shard of its last table. It returns nil if that is not possible, or if the other tables may have
// many rows: each must be found by a unique key.
func (sc *scope) carry(g *Gathering, nodes []*node, places *stmt.Places) *Carrying {
	if g.Reopens || places.Qualified || places.Statement.Features&stmt.OneServer != 0 || slices.ContainsFunc(places.Statement.Blocks, dependsOnKeys) {
		return nil
	}
	c := &Carrying{Last: -1}
	for _, i := range g.Order {
		t, n := &g.Tables[i], nodes[i]
		switch {
		case t.System || t.Statement || !n.known() || c.Last >= 0 && !inEachShard(t, n):
			return nil
		case inEachShard(t, n):
		case n.sharded() && t.ByKey != nil && t.ByKey.key != nil && !t.Source:
			c.Last = i
		case !sc.atMostOne(t, n, places) || !isOnlyAlias(n):
			return nil
		default:
			columns := carriable(t, n.table, places)
			if columns == nil {
				return nil
			}
			c.Tables = append(c.Tables, Carried{i, columns})
		}
	}
	if c.Last < 0 || len(c.Tables) == 0 || !nodes[c.Last].table.Uneven.Even() {
		return nil
	}
	return c
}

// inEachShard reports whether the statement reads a table in place on whichever shard it runs.
func inEachShard(t *Gathered, n *node) bool { return n.global() && !t.Source }

// dependsOnKeys reports whether a block may be accepted only if its tables have their primary keys: a field then depends on the groups.
func dependsOnKeys(b *stmt.Block) bool {
	return b.Grouped || b.Having || b.Distinct || b.Rollup || slices.ContainsFunc(b.Fields, func(f stmt.Field) bool { return f.Aggregate != stmt.NoAggregate })
}

// isOnlyAlias reports whether no other table of the block has the same alias, as tables of two schemas may.
func isOnlyAlias(n *node) bool {
	same := 0
	for i := range n.block.Tables {
		if strings.EqualFold(n.block.Tables[i].Alias, n.ref.Alias) {
			same++
		}
	}
	return same == 1
}

// atMostOne reports whether the conditions compare all columns of a unique key of a table with values, or with keys of rows that were read
// before.
func (sc *scope) atMostOne(t *Gathered, n *node, places *stmt.Places) bool {
	compared := map[int]bool{}
	note := func(column string) {
		if i, ok := n.table.Column(column); ok {
			compared[i] = true
		}
	}
	if t.ByKey != nil {
		note(t.ByKey.Column)
	}
	for _, c := range places.Conjuncts {
		if c.Block == n.block && c.Condition != nil && c.Condition.Kind == stmt.Equal && sc.pushable(c, n) {
			note(c.Condition.Column.Name)
		}
	}
	return slices.ContainsFunc(n.table.Unique, func(u catalog.UniqueKey) bool {
		return !u.Partial && len(u.Columns) > 0 && !slices.ContainsFunc(u.Columns, func(i int) bool { return !compared[i] })
	})
}

// carriable returns the columns of a table that the statement needs. It returns nil if the text can't contain the values of a
// column in a form that the server treats exactly like the column's own values.
func carriable(t *Gathered, of *catalog.Table, places *stmt.Places) (columns []*catalog.Column) {
	if !of.Uneven.Even() {
		return nil
	}
	letters := 0
	for i := range of.Columns {
		column := &of.Columns[i]
		if (!t.All || column.Invisible) && !places.Refers(t.Alias, column.Name) {
			continue
		}
		if !ascii(column.Name) || !column.IsInteger() && !(column.IsText() && slices.Contains(unicodeCharsets, column.Charset)) {
			return nil
		}
		if column.IsText() {
			letters += column.Length
		}
		columns = append(columns, column)
	}
	if letters > mostLetters {
		return nil
	}
	return columns
}

// mostLetters is the length of all texts of a row, so that servers keep rows of carried tables in memory.
const mostLetters = 4000

// unicodeCharsets are the character sets whose texts are also UTF-8.
var unicodeCharsets = []string{"utf8mb4", "utf8mb3", "utf8", "ascii"}

// carriedType returns the type of a column of a carried table, in SQL.
func carriedType(c *catalog.Column) string {
	if c.IsInteger() {
		return c.SQLType()
	}
	return c.SQLType() + " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
}

// Stand returns the text that replaces the name of a carried table. document is an expression for its rows, a JSON array of
// arrays.
func (c *Carried) Stand(t *Gathered, document string) string {
	var b strings.Builder
	b.WriteString(" JSON_TABLE(" + document + ", '$[*]' COLUMNS (")
	for i, column := range c.Columns {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(column.Name) + " " + carriedType(column) + " PATH '$[" + strconv.Itoa(i) + "]' ERROR ON ERROR")
	}
	b.WriteString(")) ")
	if !t.Aliased {
		b.WriteString("AS " + quote(t.Alias) + " ")
	}
	return b.String()
}
