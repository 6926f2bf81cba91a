package plan

import (
	"fmt"
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Gathering says how a SELECT is answered that no shard can answer by itself and
// whose answers can't be merged: rows of its tables are gathered on one shard, in
// temporary tables, and the statement is run there with their names in place of
// the tables'.
type Gathering struct {
	// Shard has the single tables that the statement reads; empty: any shard will do.
	Shard  router.ShardName
	Tables []Gathered
	// Reopens: the statement reads a table twice by one name, which MySQL can't do
	// with a temporary one.
	Reopens bool
	// Unnamed are the fields whose columns are named by a text with tables in it.
	Unnamed []stmt.UnnamedPlace
	// Partial says how groups of the shards are gathered instead; nil: they can't be.
	Partial *Partial
}

// Gathered is one table as one query block reads it.
type Gathered struct {
	catalog.TableName
	// Alias is what the statement calls it. Aliased: it says so itself.
	Alias   string
	Aliased bool
	// Here: the shard that runs the statement has it; its rows are gathered only
	// where a transaction must see them.
	Here bool
	// System tables are the servers' own, and read where the statement runs.
	System bool
	// From is the shard that alone has it; empty: every shard has such a table.
	From router.ShardName
	// Start and End surround its name in the text, or all of TABLE name where
	// Statement is set.
	Start, End stmt.Anchor
	Statement  bool
	// Hints stand behind it: they go to where its rows are read, where its indexes are.
	Hints stmt.IndexHints
	// All columns are needed, or those of the names, in lower case.
	All   bool
	Names map[string]bool
	// Filters are conditions that rows must satisfy to matter.
	Filters []Filter
	// Unique: rows of several shards never have the same primary key; those of a
	// sharded table don't where one of Keys, in lower case, is part of it.
	Unique bool
	Keys   []string
	// Indexed are columns, in lower case, by which its rows are looked up.
	Indexed []string
}

// Filter is a condition in the statement's text.
type Filter struct {
	Start, End stmt.Anchor
	// Numbers and Texts: whole numbers, or texts, that are bound to placeholders in
	// it may be written there as literals.
	Numbers, Texts bool
}

// Groups says how groups are gathered; nil: rows are, also where shards don't have what
// belongs together of genes that are divided.
func (g *Gathering) Groups(m *router.Map) *Partial {
	if g.Partial == nil || !g.Partial.sided && !m.Divided().Empty() {
		return nil
	}
	return g.Partial
}

// TemporaryName is what the n-th table's temporary one is called.
func TemporaryName(n int) string { return fmt.Sprintf("locus_gathered_%d", n) }

// planGather says how a SELECT may be gathered, or why it may not.
func planGather(l *stmt.Lexed, s *stmt.Statement, ctx Context) (*Gathering, *Refusal) {
	if what := ungatherable(s); what != "" {
		return nil, refuse(ScatterShape, "%s over rows of several shards: %s", what, narrowIt)
	}
	places, err := stmt.FindPlaces(l)
	if err != nil {
		return nil, refuse(ScatterShape, "such a statement over rows of several shards (%v): %s", err, narrowIt)
	}
	if places.Obstacle != "" {
		return nil, refuse(ScatterShape, "%s over rows of several shards: leave it out, or %s", places.Obstacle, narrowIt)
	}
	sc, err := newScope(places.Statement, ctx)
	if err != nil {
		return nil, refuse(ScatterShape, "%v", err)
	}
	g := &Gathering{Shard: sc.gatherOn(), Reopens: places.Reopens}
	indexed := sc.indexed(places.Statement.Blocks)
	for _, place := range places.Tables {
		n := sc.node(place.Block, place.Index)
		if n == nil {
			return nil, refuse(ScatterShape, "such a statement over rows of several shards: %s", narrowIt)
		}
		t := sc.gathered(l, places, place, n, g.Shard)
		t.Indexed = indexed[n]
		g.Tables = append(g.Tables, t)
	}
	for _, u := range places.Unnamed {
		if slices.ContainsFunc(places.Tables, func(t stmt.TablePlace) bool {
			return l.Offset(u.Start) <= l.Offset(t.Start) && l.Offset(t.End) <= l.Offset(u.End)
		}) {
			g.Unnamed = append(g.Unnamed, u)
		}
	}
	g.Partial = planPartial(l, sc, places)
	return g, nil
}

// gatherOn chooses the shard that has single tables, or the servers' own: the
// first one before others, since it has what nobody declared.
func (sc *scope) gatherOn() router.ShardName {
	chosen, first := router.ShardName(""), sc.ctx.Catalog.First()
	for i := range sc.nodes {
		if shard := sc.aloneOn(&sc.nodes[i]); shard != "" && (chosen == "" || shard == first) {
			chosen = shard
		}
	}
	return chosen
}

// aloneOn gives the one shard that has a table; empty: all have it.
func (sc *scope) aloneOn(n *node) router.ShardName {
	switch {
	case n.ref.Derived, n.sharded(), n.global():
		return ""
	case n.table != nil:
		return n.table.Shard
	}
	return sc.ctx.Catalog.First()
}

// ungatherable names what can't be run on another connection than the session's.
func ungatherable(s *stmt.Statement) string {
	switch f := s.Features; {
	case f&stmt.Locking != 0:
		return "FOR UPDATE and FOR SHARE of what is no plain read"
	case f&stmt.SetsUserVariable != 0:
		return "assigning user variables"
	case f&stmt.SetsInsertID != 0:
		return "LAST_INSERT_ID(value)"
	case f&stmt.Scored != 0:
		return relevance
	case f&stmt.UnknownFunction != 0:
		return "a function that is not known to look at one row only"
	case f&(stmt.NamedLock|stmt.ReadsNamedLock) != 0:
		return "GET_LOCK() and its kin"
	}
	return ""
}

func (sc *scope) node(b *stmt.Block, index int) *node {
	if list := sc.of(b); index < len(list) {
		return &list[index]
	}
	return nil
}

func (sc *scope) gathered(l *stmt.Lexed, places *stmt.Places, at stmt.TablePlace, n *node, on router.ShardName) Gathered {
	name := catalog.TableName{Schema: sc.schemaOf(n), Name: n.ref.Name}
	if n.table != nil {
		name = n.table.TableName
	}
	g := Gathered{
		TableName: name, Alias: n.ref.Alias, From: sc.aloneOn(n), Start: at.Start, End: at.End, Statement: at.Statement, Hints: at.Hints, Names: places.Names,
		Unique: !n.sharded(),
	}
	g.Here = !n.sharded() && (g.From == "" || g.From == on)
	g.System = n.table == nil && systemSchema(g.Schema)
	if n.sharded() {
		for i := range n.table.Keys {
			g.Keys = append(g.Keys, strings.ToLower(n.table.Keys[i].Column.Name))
		}
	}
	g.Aliased = !at.Statement && l.Aliased(l.Offset(at.End))
	b := n.block
	// The primary key puts rows into the order in which one server would number them.
	g.All = b.Natural || places.Statement.Features&stmt.OneServer != 0 || slices.ContainsFunc(b.Fields, func(f stmt.Field) bool { return f.Star }) || slices.ContainsFunc(keys(places.Names), notASCII)
	for _, c := range places.Conjuncts {
		if c.Block == b && sc.pushable(c, n) {
			g.Filters = append(g.Filters, bindable(c, func(ref stmt.ColumnRef) *catalog.Column {
				if i, ok := n.table.Column(ref.Name); ok {
					return &n.table.Columns[i]
				}
				return nil
			}))
		}
	}
	return g
}

func keys(m map[string]bool) []string {
	out := make([]string, 0, len(m))
	for k := range m {
		out = append(out, k)
	}
	return out
}

func notASCII(s string) bool { return !ascii(s) }

// pushable tells whether rows of the table that don't satisfy the condition take
// part in nothing.
//
// A condition of WHERE speaks of all rows, unless an outer join may put a row of
// NULLs in a row's place: then leaving the row out could make the condition hold.
// One of an outer join's ON speaks of the side that may be absent, where that is
// this table alone.
func (sc *scope) pushable(c stmt.Conjunct, n *node) bool {
	last := c.Last
	if last < 0 {
		last = len(n.block.Tables)
	}
	switch {
	case len(c.Columns) == 0, n.index < c.First, n.index >= last:
		return false
	case c.Outer && last-c.First != 1, !c.Outer && n.ref.Nullable:
		return false
	}
	for _, ref := range c.Columns {
		found, unknown := sc.within(n.block, ref)
		if found != n || unknown || ref.Schema != "" || !n.known() {
			return false
		}
		if _, ok := n.table.Column(ref.Name); !ok {
			return false
		}
	}
	return true
}

// bindable tells with which values in the places of placeholders a condition is
// what it was: servers compare numbers with text, and dates with anything, in
// another way when the value is bound.
func bindable(c stmt.Conjunct, find func(stmt.ColumnRef) *catalog.Column) Filter {
	numbers, texts := len(c.Columns) > 0, len(c.Columns) > 0
	for _, ref := range c.Columns {
		column := find(ref)
		numbers = numbers && column != nil && (column.IsInteger() || column.DataType == "decimal")
		texts = texts && column != nil && column.IsText()
	}
	return Filter{Start: c.Start, End: c.End, Numbers: numbers, Texts: texts}
}

// Read is the text that reads a gathered table's rows, with these conditions.
func (g *Gathered) Read(columns []string, conditions []string) string {
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + g.Quoted() + " AS " + quote(g.Alias)
	if g.Hints.Text != "" {
		text += " " + g.Hints.Text
	}
	for i, c := range conditions {
		text += []string{" WHERE (", " AND ("}[min(i, 1)] + c + ")"
	}
	return text
}

// Quoted is the table's name in SQL, Temporary that of its temporary table, of
// the same schema.
func (g *Gathered) Quoted() string { return quote(g.Schema) + "." + quote(g.Name) }

func (g *Gathered) Temporary(n int) string { return quote(g.Schema) + "." + quote(TemporaryName(n)) }

// Quote writes a name in SQL.
func Quote(name string) string { return quote(name) }

// Stand is what stands in the place of the table's name.
func (g *Gathered) Stand(n int) string {
	stand := " " + g.Temporary(n)
	if g.Statement { // what has no such statement refuses it by itself
		stand = " SELECT * FROM (TABLE" + stand + ")"
	}
	if g.Aliased {
		return stand + " "
	}
	return stand + " AS " + quote(g.Alias) + " "
}
