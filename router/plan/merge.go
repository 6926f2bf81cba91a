package plan

import (
	"fmt"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// MergeKind says how the shards' answers become one.
type MergeKind uint8

const (
	// Concat: the rows of one shard after those of another.
	Concat MergeKind = iota
	// Ordered: the shards' sorted streams are merged.
	Ordered
	// Aggregated: each shard gives one row, and so does the answer.
	Aggregated
)

// Merge says what is added to the text for several shards, and what is done
// with their answers. Columns that were added stand last and are taken away.
type Merge struct {
	Kind MergeKind
	// Hidden columns are spliced in before FROM.
	Hidden   int
	Columns  Splice
	Keys     []SortKey  // Ordered
	Fields   []Combined // Aggregated: one for each field
	Limit    *stmt.Limit
	describe string
}

// String says how the answers become one.
func (m *Merge) String() string {
	if m.Limit != nil {
		return m.describe + ", within LIMIT"
	}
	return m.describe
}

// SortKey is one item of ORDER BY as a column of the answer.
type SortKey struct {
	// Column counts from the first; negative ones count back from the last
	// visible column (-1). Hidden ones count among the hidden.
	Column int
	Hidden bool
	Desc   bool
	// Weighted keys are sort keys of the server's own making: they compare as
	// bytes whatever the collation.
	Weighted bool
}

// Combined says how one field of an aggregated answer is computed.
type Combined struct {
	Function stmt.Aggregate
	// Sum and Count are, for AVG, the hidden columns that hold them.
	Sum, Count int
}

// planMerge says how a SELECT may run on several shards, or why it may not.
func planMerge(s *stmt.Statement, sc *scope) (*Merge, *Refusal) {
	if reason := scatterShape(s, sc); reason != nil {
		return nil, reason
	}
	b := s.Blocks[0]
	m := &Merge{Limit: b.Limit}
	aggregated := 0
	for _, f := range b.Fields {
		if f.Aggregate != stmt.NoAggregate {
			aggregated++
		}
	}
	var reason *Refusal
	switch {
	case aggregated > 0 && !b.Grouped:
		reason = m.aggregate(b, sc, aggregated)
	case len(b.Order) > 0:
		reason = m.order(b, sc)
	default:
		m.describe = concatenated
	}
	if reason != nil {
		return nil, reason
	}
	return m, nil
}

const concatenated = "rows of one shard after those of another"

const narrowIt = "name one owner, ID or order number in WHERE"

// scatterShape refuses what can't be answered shard by shard.
func scatterShape(s *stmt.Statement, sc *scope) *Refusal {
	b := s.Blocks[0]
	what := ""
	switch {
	case s.Features&stmt.Union != 0:
		what = "UNION, INTERSECT and EXCEPT"
	case s.Features&stmt.With != 0:
		what = "common table expressions"
	case s.Features&stmt.Windows != 0:
		what = "window functions"
	case len(s.Blocks) > 1:
		what = "subqueries and derived tables"
	case b.Distinct:
		what = "DISTINCT"
	case b.Grouped && !sc.groupsApart(b):
		what = "GROUP BY"
	case b.Having && !b.Grouped:
		what = "HAVING"
	case b.Natural || b.Using:
		what = "NATURAL JOIN and USING of several tables"
	case !sc.firm():
		what = "an outer join that keeps the rows of tables which are not sharded"
	case b.Braced:
		what = "a SELECT in parentheses"
	case b.Limit != nil && b.Limit.Unplaced:
		what = "such a LIMIT"
	case s.Features&stmt.SetsInsertID != 0:
		what = "LAST_INSERT_ID(value)"
	case s.Features&stmt.UnknownFunction != 0:
		what = "a function that is not known to look at one row only"
	}
	if what == "" {
		return nil
	}
	return refuse(ScatterShape, "%s over rows of several shards: %s", what, narrowIt)
}

// groupsApart tells whether all rows of a group have one gene, so that each shard has
// groups of its own: a key is among the columns, of a table that no outer join leaves
// out.
func (sc *scope) groupsApart(b *stmt.Block) bool {
	for i := range b.Groups {
		ref := &b.Groups[i]
		if at := fieldNamed(b, ref); at == severalFields || at >= 0 && (b.Fields[at].Column == nil || !strings.EqualFold(b.Fields[at].Column.Name, ref.Name)) {
			continue // an alias, perhaps
		}
		if n, key := sc.resolve(b, *ref); key != nil && n.sharded() && !n.ref.Nullable {
			return true
		}
	}
	return false
}

// firm tells whether every row of the answer has a row of a sharded table, and
// so comes from one shard: an outer join gives the others once on each.
func (sc *scope) firm() bool {
	for i := range sc.nodes {
		if n := &sc.nodes[i]; n.sharded() && !n.ref.Nullable {
			return true
		}
	}
	return false
}

// order makes every item of ORDER BY a column of the answer.
func (m *Merge) order(b *stmt.Block, sc *scope) *Refusal {
	m.Kind = Ordered
	var hidden, names []string
	for _, item := range b.Order {
		if item.Constant {
			continue
		}
		key, text, reason := sortKey(b, sc, item)
		if reason != nil {
			return reason
		}
		if text != "" {
			key.Column, key.Hidden = len(hidden), true
			hidden = append(hidden, text)
		}
		m.Keys = append(m.Keys, key)
		names = append(names, nameOf(item))
	}
	if len(m.Keys) == 0 {
		m.Kind, m.describe = Concat, concatenated
		return nil
	}
	m.describe = "sorted streams merged by " + strings.Join(names, ", ")
	return m.hide(b, hidden)
}

// nameOf describes an item of ORDER BY.
func nameOf(item stmt.OrderItem) string {
	name := fmt.Sprint(item.Position.Const.Int)
	if item.Column != nil {
		name = item.Column.Name
	}
	if item.Desc {
		name += " DESC"
	}
	return name
}

func (m *Merge) hide(b *stmt.Block, hidden []string) *Refusal {
	if len(hidden) > 0 && !b.HasFrom {
		return refuse(ScatterShape, "columns to merge by can't be added to this text: write SELECT … FROM …, or %s", narrowIt)
	}
	m.Hidden = len(hidden)
	for i := range hidden {
		// A name of its own: the shards' ORDER BY must not find it.
		hidden[i] += fmt.Sprintf(" AS `locus_hidden_%d`", i)
	}
	if len(hidden) > 0 {
		m.Columns = Splice{b.From, ", " + strings.Join(hidden, ", ") + " "}
	}
	return nil
}

// sortKey finds the field that an item of ORDER BY names, or gives the text of
// a hidden column for it.
func sortKey(b *stmt.Block, sc *scope, item stmt.OrderItem) (SortKey, string, *Refusal) {
	key := SortKey{Desc: item.Desc}
	if item.Literal {
		at := int(item.Position.Const.Int) - 1
		if at < 0 || at >= len(b.Fields) || hasStar(b.Fields[:at+1]) {
			return key, "", refuse(ScatterShape, "ORDER BY %d over rows of several shards: name the column", at+1)
		}
		return fieldKey(b, sc, key, at)
	}
	if item.Column == nil {
		return key, "", refuse(ScatterShape, "ORDER BY an expression over rows of several shards: give it an alias in the SELECT list, or %s", narrowIt)
	}
	switch at := fieldNamed(b, item.Column); {
	case at >= 0:
		return fieldKey(b, sc, key, at)
	case at == severalFields:
		return key, "", refuse(ScatterShape, "ORDER BY %s, the alias of several fields, over rows of several shards: give them different ones", item.Column.Name)
	}
	return columnKey(b, sc, key, *item.Column)
}

func hasStar(fields []stmt.Field) bool {
	for _, f := range fields {
		if f.Star {
			return true
		}
	}
	return false
}

// fieldNamed gives the field that a bare name in ORDER BY means, or -1.
func fieldNamed(b *stmt.Block, ref *stmt.ColumnRef) int {
	if ref.Table != "" {
		return -1
	}
	found := -1
	for i, f := range b.Fields {
		if !strings.EqualFold(f.Alias, ref.Name) {
			continue
		}
		if found >= 0 {
			return severalFields
		}
		found = i
	}
	return found
}

// severalFields: servers differ in which of them ORDER BY means.
const severalFields = -2

// fieldKey sorts by a field: by its column's own order where it is a column, by
// what the answer holds otherwise.
func fieldKey(b *stmt.Block, sc *scope, key SortKey, at int) (SortKey, string, *Refusal) {
	if c := b.Fields[at].Column; c != nil {
		return columnKey(b, sc, key, *c)
	}
	key.Column = at
	if hasStar(b.Fields[:at]) {
		if hasStar(b.Fields[at:]) {
			return key, "", refuse(ScatterShape, "ORDER BY a field between two * over rows of several shards: name the column")
		}
		key.Column = at - len(b.Fields)
	}
	return key, "", nil
}

// columnKey gives the hidden column that sorts as a table's column does.
func columnKey(b *stmt.Block, sc *scope, key SortKey, ref stmt.ColumnRef) (SortKey, string, *Refusal) {
	n, c := sc.column(b, ref)
	if c == nil {
		return key, "", refuse(ScatterShape, "ORDER BY %s over rows of several shards: no declared table has the column, or several have it", ref.Name)
	}
	name := quote(n.ref.Alias) + "." + quote(c.Name)
	switch c.DataType {
	case "char", "varchar":
		key.Weighted = true
		if c.PadSpace && !strings.HasSuffix(c.Collation, "_bin") && !strings.HasSuffix(c.Collation, "_general_ci") {
			// A letter that expands makes a longer key, which padding by
			// characters does not make up for.
			return key, "", refuse(ScatterShape, "ORDER BY %s, whose collation is %s, over rows of several shards: order by another column, or %s", c.Name, c.Collation, narrowIt)
		}
		if c.PadSpace {
			return key, fmt.Sprintf("WEIGHT_STRING(%s AS CHAR(%d))", name, c.Length), nil
		}
		return key, "WEIGHT_STRING(" + name + ")", nil
	case "enum", "set", "bit":
		return key, name + " + 0", nil
	case "float": // as text it is rounded
		return key, name + " + 0e0", nil
	case "timestamp": // as text it goes back an hour every autumn
		return key, "UNIX_TIMESTAMP(" + name + ")", nil
	case "tinyblob", "blob", "mediumblob", "longblob":
		return key, name, nil
	}
	if !comparable(c.DataType) {
		return key, "", refuse(ScatterShape, "ORDER BY %s, a %s column, over rows of several shards: order by another column, or %s", c.Name, c.DataType, narrowIt)
	}
	return key, name, nil
}

// column finds a column that is known by its table.
func (sc *scope) column(b *stmt.Block, ref stmt.ColumnRef) (*node, *catalog.Column) {
	n, _ := sc.resolve(b, ref)
	if n == nil || !n.known() {
		return n, nil
	}
	i, ok := n.table.Column(ref.Name)
	if !ok {
		return n, nil
	}
	return n, &n.table.Columns[i]
}

// aggregate plans COUNT, SUM, MIN, MAX and AVG of all rows.
func (m *Merge) aggregate(b *stmt.Block, sc *scope, aggregated int) *Refusal {
	m.Kind = Aggregated
	if aggregated < len(b.Fields) {
		return refuse(ScatterShape, "aggregates beside plain columns over rows of several shards: %s", narrowIt)
	}
	if len(b.Order) > 0 {
		return refuse(ScatterShape, "ORDER BY with an aggregate over rows of several shards: leave it out, there is one row")
	}
	var names, hidden []string
	for _, f := range b.Fields {
		if reason := combinable(b, sc, f); reason != nil {
			return reason
		}
		c := Combined{Function: f.Aggregate}
		if f.Aggregate == stmt.Avg {
			c.Sum, c.Count = len(hidden), len(hidden)+1
			column := qualified(f.Argument)
			hidden = append(hidden, "SUM("+column+")", "COUNT("+column+")")
		}
		m.Fields = append(m.Fields, c)
		names = append(names, aggregateNames[f.Aggregate])
	}
	m.describe = "one row of each shard combined by " + strings.Join(names, ", ")
	return m.hide(b, hidden)
}

var aggregateNames = map[stmt.Aggregate]string{
	stmt.Count: "COUNT", stmt.Sum: "SUM", stmt.Min: "MIN", stmt.Max: "MAX", stmt.Avg: "AVG",
}

func combinable(b *stmt.Block, sc *scope, f stmt.Field) *Refusal {
	switch {
	case f.Aggregate == stmt.OtherAggregate:
		return refuse(ScatterShape, "an aggregate that can't be combined from several shards (COUNT, SUM, MIN, MAX and AVG by themselves can): %s", narrowIt)
	case f.Distinct && f.Aggregate != stmt.Min && f.Aggregate != stmt.Max:
		return refuse(ScatterShape, "DISTINCT within an aggregate over rows of several shards: %s", narrowIt)
	case f.Aggregate == stmt.Avg && f.Argument.Name == "":
		return refuse(ScatterShape, "AVG of an expression over rows of several shards: select SUM and COUNT of it")
	case f.Aggregate != stmt.Min && f.Aggregate != stmt.Max:
		return nil
	}
	if f.Argument.Name == "" {
		return nil // judged by the type of the answer
	}
	_, c := sc.column(b, f.Argument)
	switch {
	case c == nil:
		return refuse(ScatterShape, "MIN and MAX of %s over rows of several shards: no declared table has the column, or several have it", f.Argument.Name)
	case c.Charset != "" || !comparable(c.DataType):
		return refuse(ScatterShape, "MIN and MAX of %s, a %s column, over rows of several shards: ORDER BY %s LIMIT 1 does it", c.Name, c.DataType, c.Name)
	}
	return nil
}

// comparable tells whether values of a type compare outside of the server, as
// the answer holds them. TIMESTAMP doesn't: as text it goes back an hour every
// autumn.
func comparable(dataType string) bool {
	switch dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double",
		"date", "datetime", "time", "year", "binary", "varbinary":
		return true
	}
	return false
}
