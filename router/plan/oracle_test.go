package plan

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// The oracle evaluates statements over a few rows by brute force: once with all rows in one place, and once as they are planned,
// on the rows of each shard alone. It has no optimisation and no rule of routing.

// cell is a value; nil is NULL.
type cell *int64

func number(n int64) cell { return &n }

func same(a, b cell) bool { return a != nil && b != nil && *a == *b }

type row map[string]cell

// database contains the rows of each table.
type database map[string][]row

// truth is a value of SQL's three-valued logic.
type truth int8

const (
	no truth = iota - 1
	unknown
	yes
)

func truthOf(b bool) truth {
	if b {
		return yes
	}
	return no
}

// scopeRow contains the values of the columns by alias, including columns of the query around it. A nil row is the missing row
// of an outer join.
type env struct {
	rows   map[string]row
	parent *env
}

func (e *env) column(alias, name string) cell {
	for ; e != nil; e = e.parent {
		if r, ok := e.rows[alias]; ok {
			return r[name]
		}
	}
	panic("no alias " + alias)
}

// expression is a condition as text and as a function.
type expression struct {
	text string
	eval func(d database, e *env) truth
}

// source is a FROM clause, or a part of it: its text, its aliases, and the combinations of rows that it returns.
type source struct {
	text    string
	aliases []*table
	eval    func(d database, e *env) []map[string]row
}

// table is an alias and its columns.
type table struct {
	alias   string
	columns []string
}

// generator returns random queries.
type generator struct {
	*rapid.T
	n   int
	ids []int64 // IDs of orders that may exist
}

var oracleTables = map[string][]string{
	"orders":     {"id", "buyer_uid", "amount"},
	"order_item": {"id", "order_id", "qty"},
	"coupon":     {"buyer_uid", "amount"},
	"country":    {"code"},
}

const buyers = 5

func (g *generator) pick(n int) int { return rapid.IntRange(0, n-1).Draw(g.T, "choice") }

func (g *generator) oneOf(list ...string) string { return list[g.pick(len(list))] }

func (g *generator) alias() string {
	g.n++
	return fmt.Sprintf("t%d", g.n)
}

// constant returns a value that a column may have.
func (g *generator) constant(column string) int64 {
	switch column {
	case "id", "order_id":
		return g.ids[g.pick(len(g.ids))]
	case "buyer_uid":
		return int64(g.pick(buyers))
	}
	return int64(g.pick(3))
}

func kindOf(column string) string {
	switch column {
	case "id", "order_id":
		return "id"
	case "buyer_uid":
		return "owner"
	}
	return "number"
}

// base returns one table, or a derived one.
func (g *generator) base(depth int) source {
	if depth > 0 && g.pick(4) == 0 {
		return g.derived(depth - 1)
	}
	name := g.oneOf("orders", "orders", "order_item", "order_item", "coupon", "country")
	t := &table{g.alias(), oracleTables[name]}
	return source{name + " " + t.alias, []*table{t}, func(d database, _ *env) []map[string]row {
		var out []map[string]row
		for _, r := range d[name] {
			out = append(out, map[string]row{t.alias: r})
		}
		return out
	}}
}

func (g *generator) derived(depth int) source {
	q := g.query(depth, nil)
	if len(q.fields) == 0 {
		return g.base(0)
	}
	t := &table{alias: g.alias()}
	for _, f := range q.fields {
		t.columns = append(t.columns, f.name)
	}
	text, limit := q.text, -1
	if g.pick(2) == 0 { // the first rows by all their values
		limit = g.pick(3)
		var order []string
		for i := range q.fields {
			order = append(order, fmt.Sprint(i+1))
		}
		text += fmt.Sprintf(" order by %s limit %d", strings.Join(order, ", "), limit)
	}
	return source{"(" + text + ") " + t.alias, []*table{t}, func(d database, e *env) []map[string]row {
		rows := q.eval(d, nil)
		if limit >= 0 {
			slices.SortFunc(rows, compareRows)
			rows = rows[:min(limit, len(rows))]
		}
		var out []map[string]row
		for _, values := range rows {
			r := row{}
			for i, f := range q.fields {
				r[f.name] = values[i]
			}
			out = append(out, map[string]row{t.alias: r})
		}
		return out
	}}
}

func compareRows(a, b []cell) int {
	for i := range a {
		switch {
		case a[i] == nil && b[i] == nil:
		case a[i] == nil:
			return -1
		case b[i] == nil:
			return 1
		case *a[i] != *b[i]:
			if *a[i] < *b[i] {
				return -1
			}
			return 1
		}
	}
	return 0
}

func merged(a, b map[string]row) map[string]row {
	out := map[string]row{}
	for k, v := range a {
		out[k] = v
	}
	for k, v := range b {
		out[k] = v
	}
	return out
}

func absent(tables []*table) map[string]row {
	out := map[string]row{}
	for _, t := range tables {
		out[t.alias] = nil
	}
	return out
}

// from returns a tree of joins.
func (g *generator) from(depth int) source {
	left := g.base(depth)
	for g.pick(2) == 0 && g.n < 9 {
		left = g.join(left, g.joined(depth), g.oneOf("join", "left join", "left join", "right join"))
	}
	return left
}

func (g *generator) joined(depth int) source {
	right := g.base(depth)
	if g.pick(4) == 0 && g.n < 9 {
		inner := g.join(right, g.base(0), g.oneOf("join", "left join"))
		inner.text = "(" + inner.text + ")"
		return inner
	}
	return right
}

func (g *generator) join(left, right source, how string) source {
	all := append(slices.Clone(left.aliases), right.aliases...)
	on := g.condition(all, nil, 0, 2)
	return source{left.text + " " + how + " " + right.text + " on " + on.text, all, func(d database, e *env) []map[string]row {
		var out []map[string]row
		ls, rs := left.eval(d, e), right.eval(d, e)
		if how == "right join" {
			ls, rs = rs, ls
		}
		for _, l := range ls {
			found := false
			for _, r := range rs {
				both := merged(l, r)
				if on.eval(d, &env{both, e}) == yes {
					out = append(out, both)
					found = true
				}
			}
			switch {
			case found || how == "join":
			case how == "right join":
				out = append(out, merged(l, absent(left.aliases)))
			default:
				out = append(out, merged(l, absent(right.aliases)))
			}
		}
		return out
	}}
}

// columnOf returns a column, preferably one that determines a gene.
func (g *generator) columnOf(tables []*table, kind string) (alias, name string, ok bool) {
	var found [][2]string
	for _, t := range tables {
		for _, c := range t.columns {
			if kind == "" || kindOf(c) == kind {
				found = append(found, [2]string{t.alias, c})
			}
		}
	}
	if len(found) == 0 {
		return "", "", false
	}
	f := found[g.pick(len(found))]
	return f[0], f[1], true
}

// condition returns a condition on the given tables, and on the tables of the query around it.
func (g *generator) condition(tables, outer []*table, subqueries, depth int) expression {
	if depth > 0 {
		switch g.pick(9) {
		case 0, 1, 2, 3:
			return combine("and", g.condition(tables, outer, subqueries, depth-1), g.condition(tables, outer, subqueries, depth-1))
		case 4:
			return combine("or", g.condition(tables, outer, subqueries, depth-1), g.condition(tables, outer, subqueries, depth-1))
		case 5:
			if g.pick(2) == 0 {
				return negated(g.condition(tables, outer, subqueries, depth-1))
			}
		}
	}
	if subqueries > 0 && g.pick(3) == 0 {
		return g.subquery(tables, outer, subqueries-1)
	}
	if g.pick(2) == 0 {
		if e, ok := g.equality(tables, outer); ok {
			return e
		}
	}
	return g.comparison(tables, outer)
}

func combine(how string, a, b expression) expression {
	return expression{"(" + a.text + " " + how + " " + b.text + ")", func(d database, e *env) truth {
		if how == "and" {
			return min(a.eval(d, e), b.eval(d, e))
		}
		return max(a.eval(d, e), b.eval(d, e))
	}}
}

func negated(a expression) expression {
	return expression{"not (" + a.text + ")", func(d database, e *env) truth { return -a.eval(d, e) }}
}

// equality returns a comparison of two columns of one kind.
func (g *generator) equality(tables, outer []*table) (expression, bool) {
	kind := g.oneOf("id", "id", "owner", "number")
	a, x, ok1 := g.columnOf(tables, kind)
	others := tables
	if len(outer) > 0 && g.pick(2) == 0 {
		others = outer
	}
	b, y, ok2 := g.columnOf(others, kind)
	if !ok1 || !ok2 || a == b {
		return expression{}, false
	}
	if g.pick(3) == 0 {
		return expression{a + "." + x + " <=> " + b + "." + y, func(_ database, e *env) truth {
			v, w := e.column(a, x), e.column(b, y)
			return truthOf(same(v, w) || v == nil && w == nil)
		}}, true
	}
	return expression{a + "." + x + " = " + b + "." + y, func(_ database, e *env) truth {
		return equal(e.column(a, x), e.column(b, y))
	}}, true
}

func equal(a, b cell) truth {
	if a == nil || b == nil {
		return unknown
	}
	return truthOf(*a == *b)
}

// comparison returns a comparison of a column with constants.
func (g *generator) comparison(tables, outer []*table) expression {
	a, x, _ := g.columnOf(tables, g.oneOf("owner", "owner", "id", ""))
	if a == "" {
		a, x, _ = g.columnOf(tables, "")
	}
	if len(outer) > 0 && g.pick(5) == 0 {
		a, x, _ = g.columnOf(outer, "")
	}
	value := func(e *env) cell { return e.column(a, x) }
	name := a + "." + x
	c := g.constant(x)
	switch g.pick(9) {
	case 5:
		return expression{name + " <=> null", func(_ database, e *env) truth { return truthOf(value(e) == nil) }}
	case 0:
		d := g.constant(x)
		return expression{fmt.Sprintf("%s in (%d, %d)", name, c, d), func(_ database, e *env) truth {
			return max(equal(value(e), number(c)), equal(value(e), number(d)))
		}}
	case 1:
		return expression{name + " is null", func(_ database, e *env) truth { return truthOf(value(e) == nil) }}
	case 2:
		return expression{fmt.Sprintf("%s <=> %d", name, c), func(_ database, e *env) truth { return truthOf(same(value(e), number(c))) }}
	case 3:
		return expression{fmt.Sprintf("%s >= %d", name, c), func(_ database, e *env) truth {
			if value(e) == nil {
				return unknown
			}
			return truthOf(*value(e) >= c)
		}}
	case 4:
		return expression{fmt.Sprintf("%s <> %d", name, c), func(_ database, e *env) truth { return -equal(value(e), number(c)) }}
	}
	return expression{fmt.Sprintf("%s = %d", name, c), func(_ database, e *env) truth { return equal(value(e), number(c)) }}
}

// subquery returns EXISTS or IN of a query that may refer to the tables around it.
func (g *generator) subquery(tables, outer []*table, depth int) expression {
	all := append(slices.Clone(tables), outer...)
	q := g.query(depth, all)
	switch how := g.oneOf("exists", "not exists", "in", "in", "not in"); how {
	case "in", "not in":
		kind := kindOf(q.columns[0].name)
		a, x, ok := g.columnOf(tables, kind)
		if !ok {
			break
		}
		single := q
		single.fields = q.fields[:1]
		single.columns = q.columns[:1]
		text, of := g.grouped(single)
		return expression{a + "." + x + " " + how + " (" + text + ")", func(d database, e *env) truth {
			t := no
			for _, r := range of(single.eval(d, e)) {
				t = max(t, equal(e.column(a, x), r[0]))
			}
			if how == "not in" {
				return -t
			}
			return t
		}}
	case "not exists":
		return expression{"not exists (" + q.text + ")", func(d database, e *env) truth { return truthOf(len(q.eval(d, e)) == 0) }}
	}
	return expression{"exists (" + q.text + ")", func(d database, e *env) truth { return truthOf(len(q.eval(d, e)) > 0) }}
}

// grouped sometimes makes an aggregate of a query of one column.
func (g *generator) grouped(q query) (text string, of func([][]cell) [][]cell) {
	column := q.columns[0].alias + "." + q.columns[0].name
	switch g.pick(6) {
	case 0:
		return strings.Replace(q.render(), "select "+q.list(), "select max("+column+")", 1), func(rows [][]cell) [][]cell {
			var most cell
			for _, r := range rows {
				if r[0] != nil && (most == nil || *r[0] > *most) {
					most = r[0]
				}
			}
			return [][]cell{{most}}
		}
	case 1:
		return q.render() + " group by " + column + " having count(*) = 1", func(rows [][]cell) [][]cell {
			var out [][]cell
			for _, r := range rows {
				n := 0
				for _, o := range rows {
					if same(r[0], o[0]) || r[0] == nil && o[0] == nil {
						n++
					}
				}
				if n == 1 {
					out = append(out, r)
				}
			}
			return out
		}
	}
	return q.render(), func(rows [][]cell) [][]cell { return rows }
}

// query is a SELECT of columns.
type query struct {
	text    string
	from    source
	where   *expression
	columns []field // as they are selected
	fields  []field // for a derived table: its columns
}

type field struct{ alias, name string }

func (g *generator) query(depth int, outer []*table) query {
	q := query{from: g.from(depth)}
	if g.pick(8) > 0 {
		where := g.condition(q.from.aliases, outer, depth, 2)
		q.where = &where
	}
	taken := map[string]bool{}
	for range g.pick(3) + 1 {
		a, x, _ := g.columnOf(q.from.aliases, "")
		if !taken[x] {
			q.columns = append(q.columns, field{a, x})
			q.fields = append(q.fields, field{a, x})
		}
		taken[x] = true
	}
	q.text = q.render()
	return q
}

func (q query) list() string {
	var list []string
	for _, c := range q.columns {
		list = append(list, c.alias+"."+c.name)
	}
	return strings.Join(list, ", ")
}

func (q query) render() string {
	text := "select " + q.list() + " from " + q.from.text
	if q.where != nil {
		text += " where " + q.where.text
	}
	return text
}

func (q query) eval(d database, e *env) [][]cell {
	var out [][]cell
	for _, rows := range q.from.eval(d, e) {
		here := &env{rows, e}
		if q.where != nil && q.where.eval(d, here) != yes {
			continue
		}
		var values []cell
		for _, c := range q.columns {
			values = append(values, here.column(c.alias, c.name))
		}
		out = append(out, values)
	}
	return out
}

// world contains rows and their shards.
type oracleWorld struct {
	all    database
	shards []database
	m      *router.Map
	ids    []int64
}

func oracleRows(t *rapid.T) oracleWorld {
	layout, _ := orderid.ByName("int64")
	w := oracleWorld{all: database{}}
	var genes []gene.Gene
	for b := range buyers {
		g := gene.OfInt(int64(b), gene.W16)
		genes = append(genes, g)
		for s := range 2 {
			made, _ := layout.Compose(g, 0, orderid.Seq(uint64(s+1)))
			w.ids = append(w.ids, int64(made.Lo))
		}
	}
	slices.Sort(genes)
	var entries []router.Entry
	for i, g := range genes {
		bound := g
		if i == len(genes)-1 {
			bound = 0xffff
		}
		entries = append(entries, router.Entry{Bound: bound, Shard: router.ShardName(fmt.Sprintf("s%d", rapid.IntRange(0, 2).Draw(t, "shard")))})
	}
	m, err := router.New(gene.W16, 1, entries)
	if err != nil {
		t.Fatal(err)
	}
	w.m = m
	w.shards = make([]database, len(m.Shards()))
	for i := range w.shards {
		w.shards[i] = database{}
	}
	put := func(table string, g gene.Gene, r row) {
		w.all[table] = append(w.all[table], r)
		w.shards[m.Lookup(g)][table] = append(w.shards[m.Lookup(g)][table], r)
	}
	small := func() cell {
		n := rapid.Int64Range(0, 3).Draw(t, "number")
		if n == 3 {
			return nil
		}
		return number(n)
	}
	for b := range int64(buyers) {
		g := gene.OfInt(b, gene.W16)
		for s := range 2 {
			id := w.ids[int(b)*2+s]
			if rapid.Bool().Draw(t, "order") {
				put("orders", g, row{"id": number(id), "buyer_uid": number(b), "amount": small()})
			}
			for range rapid.IntRange(0, 2).Draw(t, "items") {
				put("order_item", g, row{"id": number(w.ids[int(b)*2+rapid.IntRange(0, 1).Draw(t, "item")]), "order_id": number(id), "qty": small()})
			}
		}
		if rapid.Bool().Draw(t, "coupon") {
			put("coupon", g, row{"buyer_uid": number(b), "amount": small()})
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "countries") {
		r := row{"code": small()}
		w.all["country"] = append(w.all["country"], r)
		for _, d := range w.shards {
			d["country"] = append(d["country"], r)
		}
	}
	return w
}

func canonical(rows [][]cell) string {
	var out []string
	for _, r := range rows {
		var b strings.Builder
		for _, c := range r {
			if c == nil {
				b.WriteString(" NULL")
			} else {
				fmt.Fprintf(&b, " %d", *c)
			}
		}
		out = append(out, b.String())
	}
	slices.Sort(out)
	return strings.Join(out, "\n")
}

// TestOracle checks that a routed statement returns the same answer as with all rows in one place.
func TestOracle(t *testing.T) {
	c := shopCatalog(t)
	routed, several, refused := 0, 0, 0
	rapid.Check(t, func(t *rapid.T) {
		w := oracleRows(t)
		g := &generator{T: t, ids: w.ids}
		for range 20 {
			g.n = 0
			q := g.query(2, nil)
			shards, ok := oracleRoute(t, c, w.m, q.text)
			if !ok {
				refused++
				continue
			}
			want := canonical(q.eval(w.all, nil))
			routed++
			if len(shards) > 1 {
				several++
				var rows [][]cell
				for _, s := range shards {
					rows = append(rows, q.eval(w.shards[s], nil)...)
				}
				if got := canonical(rows); got != want {
					t.Fatalf("%s\nmap\n%son shards %v:\n%s\nin one place:\n%s", q.text, w.m, shards, got, want)
				}
				continue
			}
			if len(shards) == 0 { // any one
				for s := range w.shards {
					shards = append(shards, s)
				}
			}
			for _, s := range shards {
				if got := canonical(q.eval(w.shards[s], nil)); got != want {
					t.Fatalf("%s\nmap\n%son shard %d:\n%s\nin one place:\n%s", q.text, w.m, s, got, want)
				}
			}
		}
	})
	t.Logf("%d statements routed, of them %d to several shards; %d refused", routed, several, refused)
	if routed < refused/10 {
		t.Errorf("%d statements routed and %d refused: the oracle sees little", routed, refused)
	}
}

func oracleRoute(t *rapid.T, c *catalog.Catalog, m *router.Map, text string) (shards []int, ok bool) {
	l := lexedText(text, 0)
	p, err := Make(l, Context{Catalog: c, Schema: "shop"})
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	read, ok := p.(*Read)
	if !ok {
		_, anywhere := p.(*AnyShard)
		return nil, anywhere
	}
	var a stmt.Args
	a.Reset(l, nil)
	var r Route
	if err := read.Route(m, &Values{Args: &a}, &r); err != nil {
		return nil, false
	}
	return r.Shards, true
}
