package plan

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Gathering describes a SELECT that no single shard can answer and whose answers from several shards can't be merged. The rows of
// its tables are copied into temporary tables on one shard. The statement runs there with the names of the temporary tables.
type Gathering struct {
	// Shard has the single tables that the statement reads. Empty means that any shard will do.
	Shard  router.ShardName
	Tables []Gathered
	// Order contains the indexes of the tables in the order in which they are gathered.
	Order []int
	// Reopens is true if the statement reads a table twice by one name. MySQL can't do this with a temporary table. Repeated are the
	// common table expressions that are therefore computed once there. Nil means that this is not possible.
	Reopens  bool
	Repeated []Repeated
	// Unnamed are the fields that are named by their text, if a table's name is in that text.
	Unnamed []stmt.UnnamedPlace
	// Partial describes how groups are gathered instead of rows. Nil means that they can't be.
	Partial *Partial
	// Locks is true if the rows are locked when they are read.
	Locks bool
	// Carry describes how the statement can run on one shard if the rows of all tables but one are few. Nil means that it can't.
	Carry *Carrying
}

// Gathered is one table as one query block reads it.
type Gathered struct {
	catalog.TableName
	// Alias is the name by which the statement refers to the table. Aliased is true if the statement writes an alias.
	Alias   string
	Aliased bool
	// Here is true if the shard that runs the statement has the table. Its rows are then gathered only if they must be read in a
	// transaction.
	Here bool
	// System is true for a table of the server's own. It is read where the statement runs.
	System bool
	// From is the only shard that has the table. Empty means that every shard has it.
	From router.ShardName
	// Start and End are the bounds of the table's name in the text. If Statement is true, they are the bounds of TABLE name.
	Start, End stmt.Anchor
	Statement  bool
	// Hints are the index hints after the name. They apply where the rows are read, because the indexes are there.
	Hints stmt.IndexHints
	// All is true if all columns are needed. Otherwise Names are the needed ones, in lower case.
	All   bool
	Names map[string]bool
	// Filters are the conditions that a row must satisfy to affect the answer.
	Filters []Filter
	// ByKey is set if only the rows are read that have a key of another table's rows.
	ByKey *ByKey
	// Source is true if another table is gathered by this one's keys. The rows are then gathered even if Here is true, because they
	// must not change meanwhile.
	Source bool
	// Rows determines where the rows of a sharded table that satisfy the filters are. Nil for other tables.
	Rows *Keyed
	// Unique is true for a table that is not sharded: rows from several shards never have the same primary key. Rows of a sharded
	// table don't either, if its primary key contains one of Keys. Keys are in lower case.
	Unique bool
	Keys   []string
	// Lock is the clause by which the rows are locked when they are read, or "".
	Lock string
	// Tag is the name of a column that is added, or "". Its value is the number of the shard that has the row.
	Tag string
	// Indexed are the columns by which the rows are looked up, in lower case.
	Indexed []string
}

// Filter is a condition in the statement's text.
type Filter struct {
	Start, End stmt.Anchor
	// Numbers is true if integers that are bound to its placeholders may be written as literals. Texts is the same for text.
	Numbers, Texts bool
}

// Groups returns how groups are gathered. It returns nil if rows must be gathered, for example because the rows that belong
// together are on two shards while their gene is divided.
func (g *Gathering) Groups(m *router.Map) *Partial {
	if g.Partial == nil || !g.Partial.rows.sided && !m.Divided().Empty() {
		return nil
	}
	return g.Partial
}

// Reads returns the plan by which the gathered rows of a statement are read: only its facts count.
func (g *Gathering) Reads(of *Facts) Plan {
	s := &stmt.Statement{Kind: stmt.Select, Tables: of.Statement.Tables}
	return &Read{Facts: Facts{Statement: s, ReadsInsertID: of.ReadsInsertID, Leaves: LeavesNothing}}
}

// TemporaryName returns the name of the n-th table's temporary table.
func TemporaryName(n int) string { return fmt.Sprintf("locus_gathered_%d", n) }

// planGather plans how a SELECT is gathered, or returns why it can't be.
func planGather(l *stmt.Lexed, s *stmt.Statement, ctx Context) (*Gathering, *Refusal) {
	if what := gatherObstacle(s); what != "" {
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
	var nodes []*node
	for _, place := range places.Tables {
		n := sc.node(place.Block, place.Index)
		if n == nil {
			return nil, refuse(ScatterShape, "such a statement over rows of several shards: %s", narrowIt)
		}
		t := sc.gathered(l, places, place, n, g.Shard)
		t.Indexed = indexed[n]
		g.Tables, nodes = append(g.Tables, t), append(nodes, n)
	}
	sc.orderByKey(g, nodes, places)
	g.Repeated = repeated(l, places, g.Tables)
	for _, u := range places.Unnamed {
		within := func(start, end stmt.Anchor) bool {
			return l.Offset(u.Start) <= l.Offset(start) && l.Offset(end) <= l.Offset(u.End)
		}
		if slices.ContainsFunc(places.Tables, func(t stmt.TablePlace) bool { return within(t.Start, t.End) }) ||
			slices.ContainsFunc(g.Repeated, func(r Repeated) bool {
				return slices.ContainsFunc(r.Reads, func(read RepeatedRead) bool { return within(read.Start, read.End) })
			}) {
			g.Unnamed = append(g.Unnamed, u)
		}
	}
	g.Partial = planPartial(l, sc, places)
	g.Carry = sc.carry(g, nodes, places)
	return g, nil
}

// gatherOn returns the shard that has the single tables, or the servers' own tables. It prefers the first shard, which has every
// undeclared table. Empty means any shard.
func (sc *scope) gatherOn() router.ShardName {
	chosen, first := router.ShardName(""), sc.ctx.Catalog.First()
	for i := range sc.nodes {
		if shard := sc.aloneOn(&sc.nodes[i]); shard != "" && (chosen == "" || shard == first) {
			chosen = shard
		}
	}
	return chosen
}

// aloneOn returns the only shard that has a table. Empty means that all shards have it.
func (sc *scope) aloneOn(n *node) router.ShardName {
	switch {
	case n.ref.Derived, n.sharded(), n.global():
		return ""
	case n.table != nil:
		return n.table.Shard
	}
	return sc.ctx.Catalog.First()
}

// gatherObstacle returns why a statement can't run on another connection than the session's. Empty means that it can.
func gatherObstacle(s *stmt.Statement) string {
	switch f := s.Features; {
	case s.Examined:
		return rowsExamined
	case f&stmt.Locking != 0:
		return "FOR UPDATE and FOR SHARE of what is no plain read"
	case f&stmt.SetsUserVariable != 0 && s.AssignsWithin:
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
	g.All = b.Natural || places.Statement.Features&stmt.OneServer != 0 || slices.ContainsFunc(b.Fields, func(f stmt.Field) bool { return f.Star && (f.StarOf == "" || strings.EqualFold(f.StarOf, n.ref.Alias)) }) || slices.ContainsFunc(keys(places.Names), notASCII)
	var filter *condition
	for _, c := range places.Conjuncts {
		if c.Block == b && sc.pushable(c, n) {
			filter = both(filter, sc.narrow(b, c.Condition, func(of *node, _ *catalog.Key) bool { return of == n }))
			g.Filters = append(g.Filters, bindable(c, func(ref stmt.ColumnRef) *catalog.Column {
				if i, ok := n.table.Column(ref.Name); ok {
					return &n.table.Columns[i]
				}
				return nil
			}))
		}
	}
	if n.sharded() {
		g.Rows = &Keyed{classes: []class{{n.table, n.block, filter}}, sided: n.table.Side() != nil}
		if n.table.ComputableKey() != nil {
			g.Rows.Owned = &Owned{tables: []ownedTable{{n.ref.Alias, n.table}}}
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

// pushable reports whether rows of the table that don't satisfy the condition have no effect on the answer.
//
// A condition of WHERE applies to all rows. It is not pushable if an outer join may replace a row by NULLs: leaving out the row
// could then make the condition hold. A condition in the ON of an outer join applies to the side that may be absent. It is
// pushable if this table is all of that side.
func (sc *scope) pushable(c stmt.Conjunct, n *node) bool {
	if len(c.Columns) == 0 || !needed(c, n) {
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

// bindable returns a condition as a Filter, with the kinds of placeholder values that may become literals in it without changing
// its meaning. Servers compare numbers with text, and dates with anything, differently if the value is bound.
func bindable(c stmt.Conjunct, find func(stmt.ColumnRef) *catalog.Column) Filter {
	numbers, texts := len(c.Columns) > 0, len(c.Columns) > 0
	for _, ref := range c.Columns {
		column := find(ref)
		numbers = numbers && column != nil && (column.IsInteger() || column.DataType == "decimal")
		texts = texts && column != nil && column.IsText()
	}
	return Filter{Start: c.Start, End: c.End, Numbers: numbers, Texts: texts}
}

// Query is a text for one shard.
type Query struct {
	Shard router.ShardName
	Text  string
}

// Queries returns the queries for columns of a table's rows that satisfy the conditions, one for each shard that may have some. Rows
// that every shard has are read on the shard one. Queries overwrites r. The error is a *Refusal.
func (g *Gathered) Queries(m *router.Map, v *Values, r *Route, one router.ShardName, columns, conditions []string) ([]Query, error) {
	switch {
	case g.From != "":
		return []Query{{g.From, g.read(columns, conditions)}}, nil
	case g.Rows == nil:
		return []Query{{one, g.read(columns, conditions)}}, nil
	}
	return g.Rows.queries(m, v, r, func(shard int, foreign router.Foreign) string {
		fields, narrowed := columns, conditions
		if g.Tag != "" {
			fields = append(slices.Clip(columns), strconv.Itoa(shard))
		}
		if !foreign.Empty() {
			narrowed = append(slices.Clip(conditions), g.Rows.Owned.Without(foreign))
		}
		return g.read(fields, narrowed)
	})
}

// queries returns a query for each shard that may have rows. text returns the text for a shard, which leaves out foreign rows. queries overwrites r.
// The error is a *Refusal.
func (k *Keyed) queries(m *router.Map, v *Values, r *Route, text func(shard int, foreign router.Foreign) string) ([]Query, error) {
	if err := k.Locate(m, v, r); err != nil {
		return nil, err
	}
	list := make([]Query, len(r.Shards))
	for i, shard := range r.Shards {
		foreign, err := k.Foreign(m, r, shard)
		if err != nil {
			return nil, err
		}
		list[i] = Query{m.Shard(shard), text(shard, foreign)}
	}
	return list, nil
}

// read returns the query for a gathered table's rows that satisfy these conditions.
func (g *Gathered) read(columns []string, conditions []string) string {
	text := "SELECT " + strings.Join(columns, ", ") + " FROM " + g.Quoted() + " AS " + quote(g.Alias)
	if g.Hints.Text != "" {
		text += " " + g.Hints.Text
	}
	for i, c := range conditions {
		text += []string{" WHERE (", " AND ("}[min(i, 1)] + c + ")"
	}
	return text + g.Lock
}

// Quoted returns the table's full name in SQL.
func (g *Gathered) Quoted() string { return quote(g.Schema) + "." + quote(g.Name) }

// Temporary returns the full name of the temporary table of the n-th table, in SQL. It has the same schema as the table.
func (g *Gathered) Temporary(n int) string { return quote(g.Schema) + "." + quote(TemporaryName(n)) }

// Quote returns a name in SQL.
func Quote(name string) string { return quote(name) }

// Replacement returns the text that replaces the table's name.
func (g *Gathered) Replacement(n int) string {
	stand := " " + g.Temporary(n)
	if g.Statement { // other statements refuse TABLE themselves
		stand = " SELECT * FROM (TABLE" + stand + ")"
	}
	if g.Aliased {
		return stand + " "
	}
	return stand + " AS " + quote(g.Alias) + " "
}
