package plan

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Partial describes the groups that each shard computes of its own rows, to be gathered in place of the rows. Its keys are all columns
// that the statement names outside of aggregates or counts the distinct values of. The statement then runs over the groups of all
// shards, and its aggregates combine partial ones.
type Partial struct {
	Schema, Alias string // name and alias of the temporary table, whose columns are named by Key and Sum
	// Start and End enclose FROM and WHERE.
	Start, End stmt.Anchor
	// Tables are the tables of the keys' columns.
	Tables []PartialTable
	Keys   []PartialKey
	Sums   []PartialSum
	// Filters are the conditions in WHERE whose values may be written as literals. A placeholder outside of them can't be.
	Filters []Filter
	// Edits change the rest of the statement, without FROM and WHERE, into one over the groups. Unnamed are the fields without an
	// alias whose text is changed.
	Edits   []Edit
	Unnamed []stmt.UnnamedPlace
	// rows determines where the rows of FROM and WHERE are.
	rows Keyed
}

// PartialTable is a table of the FROM clause.
type PartialTable struct{ Name, Alias string } // in SQL

// PartialKey is a column that rows are grouped by, in SQL.
type PartialKey struct {
	Name   string // name of the temporary table's column
	Column string
}

// PartialSum is an aggregate of a shard's group. If Column, in SQL, isn't empty, the value has the type of that column. Such sums
// are the last ones.
type PartialSum struct {
	Name       string // name of the temporary table's column
	Function   string
	Start, End stmt.Anchor // of the argument
	Column     string
}

// Edit replaces a piece of the text.
type Edit struct {
	Start, End stmt.Anchor
	Text       string
}

// Replacement returns the text that replaces FROM and WHERE.
func (p *Partial) Replacement() string {
	return "FROM " + p.Temporary() + " AS " + quote(p.Alias) + " "
}

// Temporary returns the temporary table's name in SQL.
func (p *Partial) Temporary() string { return quote(p.Schema) + "." + quote(TemporaryName(0)) }

// Queries returns the queries for the groups of each shard that may have rows. edits write the values of placeholders in FROM and
// WHERE as literals. Queries overwrites r. The error is a *Refusal.
func (p *Partial) Queries(m *router.Map, v *Values, r *Route, fields []string, edits []stmt.Edit) ([]Query, error) {
	return p.rows.queries(m, v, r, func(_ int, foreign router.Foreign) string {
		all := slices.Clone(edits)
		if !foreign.Empty() {
			all = append(all, Edits(v, p.rows.Owned.Splices(foreign))...)
		}
		from := stmt.AppendPiece(nil, v.Text, v.Offset(p.Start), v.Offset(p.End), stmt.SortEdits(all))
		text := "SELECT " + strings.Join(fields, ", ") + " " + string(from)
		if len(p.Keys) > 0 {
			text += "\nGROUP BY " + strings.Join(p.KeyColumns(), ", ")
		}
		return text
	})
}

// KeyColumns returns the columns of the keys, in SQL.
func (p *Partial) KeyColumns() []string {
	out := make([]string, len(p.Keys))
	for i, k := range p.Keys {
		out[i] = k.Column
	}
	return out
}

// planPartial plans partial aggregation on each shard. It returns nil if an aggregate is not decomposable, or if the statement is not a
// plain query of tables whose matching rows are on one shard.
func planPartial(l *stmt.Lexed, sc *scope, places *stmt.Places) *Partial {
	s := places.Statement
	if places.Summary == nil || len(s.Blocks) != 1 || !sc.everyRowSharded() || len(sc.classes()) != 1 {
		return nil
	}
	const excluded = stmt.Union | stmt.With | stmt.Windows | stmt.ReadsUserVariable | stmt.ReadsInsertID | stmt.UnknownFunction | stmt.OneServer
	b := s.Blocks[0]
	summed := len(places.Summary.Aggregates) > 0 || b.Grouped || b.Distinct
	if !summed || s.Features&excluded != 0 || b.Braced || b.Natural || b.Using || !b.HasFrom || !b.HasFilter {
		return nil
	}
	rows := Keyed{Owned: sc.owned(s), classes: sc.classes(), sided: sc.sided()}
	m := &partialMaker{sc: sc, b: b, places: places, out: Partial{Start: b.From, End: b.Filter.Close, rows: rows}}
	if !m.setTables() || !m.addKeys() || !m.editAggregates() {
		return nil
	}
	if !m.recordUnnamed(l) {
		return nil
	}
	for _, c := range places.Conjuncts {
		m.out.Filters = append(m.out.Filters, bindable(c, func(ref stmt.ColumnRef) *catalog.Column {
			f, _ := m.find(ref)
			return f.column
		}))
	}
	return &m.out
}

type partialMaker struct {
	sc        *scope
	b         *stmt.Block
	places    *stmt.Places
	out       Partial
	usesDates bool // an aggregate is MIN or MAX of a date column
}

// setTables sets the tables of FROM. It returns false if some of them are not on every shard.
func (m *partialMaker) setTables() bool {
	for i := range m.sc.nodes {
		n := &m.sc.nodes[i]
		if !n.sharded() && !n.global() || !n.known() {
			return false
		}
		name := quote(n.table.Schema) + "." + quote(n.table.Name)
		m.out.Tables = append(m.out.Tables, PartialTable{name, quote(n.ref.Alias)})
	}
	first := &m.sc.nodes[0]
	m.out.Schema, m.out.Alias = first.table.Schema, first.ref.Alias
	return true
}

// found is a column of a table.
type found struct {
	node   *node
	column *catalog.Column
}

func (f found) sql() string { return quote(f.node.ref.Alias) + "." + quote(f.column.Name) }

func (m *partialMaker) find(ref stmt.ColumnRef) (found, bool) {
	n, unknown := m.sc.within(m.b, ref)
	if n == nil || unknown || !n.known() {
		return found{}, false
	}
	i, ok := n.table.Column(ref.Name)
	if !ok || !ascii(n.table.Columns[i].Name) {
		return found{}, false
	}
	return found{n, &n.table.Columns[i]}, true
}

// addKeys makes keys of the columns outside of aggregates. It returns false if one of them may have several values in a group,
// because the statement doesn't group by it. With DISTINCT, the keys are the fields, which must be plain columns.
func (m *partialMaker) addKeys() bool {
	var groups []found
	for _, c := range m.places.Summary.Columns {
		if c.Part != stmt.InGroup && (m.b.Grouped || !m.b.Distinct || c.Part != stmt.InField) {
			continue
		}
		f, _, ok := m.resolve(c)
		if !ok || !c.Whole || !groupable(f.column) {
			return false
		}
		groups = append(groups, f)
	}
	for _, c := range m.places.Summary.Columns {
		f, alias, ok := m.resolve(c)
		switch {
		case !ok, !alias && !slices.Contains(groups, f), m.b.Rollup && m.computed(c):
			return false
		case !alias:
			m.replace(c, m.addKey(f))
		}
	}
	switch {
	case m.b.Grouped: // GROUP BY of constants alone returns no group if there are no rows
		return len(m.out.Keys) > 0
	case m.b.Distinct:
		return !slices.ContainsFunc(m.b.Fields, func(f stmt.Field) bool { return f.Column == nil })
	}
	return true
}

// computed reports whether an expression uses a column. Servers assume that a NOT NULL column is never NULL, even in the rows
// that ROLLUP adds. The groups' columns may be NULL.
func (m *partialMaker) computed(c stmt.ColumnPlace) bool {
	return c.Part == stmt.InHaving || !c.Whole
}

// resolve returns the column that a name refers to. alias is true if it refers to a field. If the name is both and the columns
// differ, servers have rules of their own. Only one of these is assumed: an item of ORDER BY is a field.
func (m *partialMaker) resolve(c stmt.ColumnPlace) (f found, alias, ok bool) {
	f, ok = m.find(c.Column)
	at := -1
	if c.Part != stmt.InField {
		at = fieldNamed(m.b, &c.Column)
	}
	if at == -1 || at == severalFields {
		return f, false, ok && at == -1
	}
	var of found
	if column := m.b.Fields[at].Column; column != nil {
		of, _ = m.find(*column)
	}
	if !ok {
		n, unknown := m.sc.within(m.b, c.Column)
		return of, true, n == nil && !unknown && (of.column != nil || c.Part != stmt.InGroup)
	}
	return of, true, of == f || c.Part == stmt.InOrder && c.Whole
}

// groupable reports whether grouping parts of a column's values, and then the groups, is the same as grouping all values. One
// value must be able to represent its group.
func groupable(c *catalog.Column) bool {
	switch c.DataType {
	case "char", "varchar", "binary", "varbinary":
		return c.Length <= 255 // sorting may use a prefix of longer ones
	case "enum", "set", "bit", "timestamp":
		return true
	}
	return comparable(c.DataType)
}

// addKey returns the key for a column in SQL. It adds the key if it is new.
func (m *partialMaker) addKey(f found) string {
	i := slices.IndexFunc(m.out.Keys, func(k PartialKey) bool { return k.Column == f.sql() })
	if i < 0 {
		i = len(m.out.Keys)
		m.out.Keys = append(m.out.Keys, PartialKey{fmt.Sprintf("locus_key_%d", i), f.sql()})
	}
	return m.column(m.out.Keys[i].Name)
}

// column returns a column of the temporary table in SQL.
func (m *partialMaker) column(name string) string { return quote(m.out.Alias) + "." + quote(name) }

func (m *partialMaker) replace(c stmt.ColumnPlace, text string) {
	if c.Unnamed {
		text += " AS " + quote(c.Column.Name)
	}
	m.out.Edits = append(m.out.Edits, Edit{c.Start, c.End, text})
}

// addSum adds a sum of each shard's group, and returns it in SQL.
func (m *partialMaker) addSum(function string, a stmt.AggregatePlace, column string) string {
	name := fmt.Sprintf("locus_sum_%d", len(m.out.Sums))
	m.out.Sums = append(m.out.Sums, PartialSum{name, function, a.ArgumentStart, a.ArgumentEnd, column})
	return m.column(name)
}

func (m *partialMaker) editAggregates() bool {
	for _, a := range m.places.Summary.Aggregates {
		text, ok := m.aggregate(a)
		if !ok || a.Placeholders {
			return false
		}
		m.out.Edits = append(m.out.Edits, Edit{a.Start, a.End, text})
	}
	if m.usesDates && !m.b.Grouped && len(m.out.Keys) > 0 {
		return false // MariaDB omits groups of invalid dates, such as February 30
	}
	slices.SortStableFunc(m.out.Sums, func(a, b PartialSum) int { return cmp.Compare(min(len(a.Column), 1), min(len(b.Column), 1)) })
	return true
}

// aggregate returns the expression over groups that replaces an aggregate over rows.
func (m *partialMaker) aggregate(a stmt.AggregatePlace) (string, bool) {
	if a.Distinct {
		return m.distinctKeys(a)
	}
	switch a.Function {
	case "count":
		return "COALESCE(CAST(SUM(" + m.addSum("COUNT", a, "") + ") AS SIGNED), 0)", true
	case "sum", "bit_or", "bit_and", "bit_xor":
		name := strings.ToUpper(a.Function)
		return name + "(" + m.addSum(name, a, "") + ")", m.summable(a)
	case "avg":
		return "(SUM(" + m.addSum("SUM", a, "") + ") / SUM(" + m.addSum("COUNT", a, "") + "))", m.summable(a)
	case "min", "max":
		return m.extreme(a)
	}
	return "", false
}

// distinctKeys makes keys of the columns whose distinct values are aggregated.
func (m *partialMaker) distinctKeys(a stmt.AggregatePlace) (string, bool) {
	if a.Columns == nil || a.Function == "group_concat" {
		return "", false
	}
	names := make([]string, 0, len(a.Columns))
	for _, ref := range a.Columns {
		f, ok := m.find(ref)
		if !ok || !groupable(f.column) {
			return "", false
		}
		names = append(names, m.addKey(f))
	}
	return strings.ToUpper(a.Function) + "(DISTINCT " + strings.Join(names, ", ") + ")", true
}

// summable reports whether the argument is known to be a number. It returns true for expressions, because the type of the answer
// decides for these.
func (m *partialMaker) summable(a stmt.AggregatePlace) bool {
	if len(a.Columns) != 1 {
		return true
	}
	f, ok := m.find(a.Columns[0])
	if !ok {
		return false
	}
	return f.column.IsInteger() || slices.Contains([]string{"decimal", "float", "double"}, f.column.DataType)
}

func (m *partialMaker) extreme(a stmt.AggregatePlace) (string, bool) {
	name, column := strings.ToUpper(a.Function), ""
	if len(a.Columns) == 1 {
		f, ok := m.find(a.Columns[0])
		if !ok || !f.column.IsText() && !comparable(f.column.DataType) {
			return "", false
		}
		column = f.sql()
		m.usesDates = m.usesDates || f.column.DataType == "date" || f.column.DataType == "datetime"
	}
	return name + "(" + m.addSum(name, a, column) + ")", true
}

// recordUnnamed records the fields without an alias whose text is changed. It returns false if a comment precedes one of them, because
// MariaDB includes the comment in the name, and the names are then unknown.
func (m *partialMaker) recordUnnamed(l *stmt.Lexed) bool {
	for _, u := range m.places.Unnamed {
		from, to := l.Offset(u.Start), l.Offset(u.End)
		if !slices.ContainsFunc(m.out.Edits, func(e Edit) bool { return from <= l.Offset(e.Start) && l.Offset(e.End) <= to }) {
			continue
		}
		if l.Commented(from) {
			return false
		}
		m.out.Unnamed = append(m.out.Unnamed, u)
	}
	return true
}
