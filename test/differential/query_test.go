package differential

import (
	"fmt"
	"slices"
	"strings"
)

// read makes a SELECT.
func (g *generator) read() *statement {
	g.alias, g.shadow, g.mixed, g.reads, g.viewed = 0, false, false, true, false
	s := &statement{prepared: g.oneIn(2), insertID: g.ids.some(g)}
	switch n := g.r.IntN(100); {
	case n < 60:
		s.root, s.order = g.query()
	case n < 75:
		s.root, s.order = g.aggregate()
	case n < 82:
		s.root = g.derived()
	case n < 90:
		s.root = g.union()
	case n < 96:
		s.root = g.cte()
	default:
		s.root, s.order = g.odd()
	}
	s.shadows, s.mixed, s.viewed = g.shadow, g.mixed, g.viewed
	return s
}

// query returns a SELECT fields FROM tables WHERE … ORDER BY … LIMIT.
func (g *generator) query() (*node, order) {
	sc, from := g.tablesOf()
	fields, named := g.fields(sc)
	head := "SELECT" + g.comment()
	if g.oneIn(12) {
		head += "DISTINCT "
		fields, named = g.exact(sc)
	}
	q := all(head, fields, g.comment(), "FROM ", from, g.where(sc))
	return g.sorted(q, sc, named, strings.Contains(head, "DISTINCT"))
}

// sorted adds ORDER BY and LIMIT, and returns whether the rows and their order are determined.
func (g *generator) sorted(q *node, sc scope, named []string, distinct bool) (*node, order) {
	if g.oneIn(3) {
		if g.oneIn(6) {
			q.add(all(" LIMIT ", fmt.Sprint(g.r.IntN(5))))
			return q, counted
		}
		return q, unordered
	}
	items := list(" ORDER BY ", ", ")
	for range g.r.IntN(3) {
		items.add(all(g.orderItem(sc, named), pick(g, []string{"", " ASC", " DESC", " desc"})))
	}
	if distinct {
		q.add(items)
		return q, unordered
	}
	total := all()
	for i, s := range sc {
		for j, p := range s.table.primary {
			if i+j > 0 {
				total.add(", ")
			}
			total.add(s.alias + "." + p + pick(g, []string{"", " DESC"}))
		}
	}
	total.kept = true
	items.add(total)
	q.add(items)
	if g.oneIn(2) {
		count, offset := g.number(fmt.Sprint(g.r.IntN(9))), g.number(fmt.Sprint(g.r.IntN(6)))
		count.param, offset.param = int64(g.r.IntN(9)), int64(g.r.IntN(6))
		count.text, offset.text = fmt.Sprint(count.param), fmt.Sprint(offset.param)
		switch g.r.IntN(3) {
		case 0:
			q.add(list("", "", all(" LIMIT ", count)))
		case 1:
			q.add(list("", "", all(" LIMIT ", count, " OFFSET ", offset)))
		case 2:
			q.add(list("", "", all(" LIMIT ", offset, ", ", count)))
		}
	}
	if g.oneIn(20) {
		q.add(list("", "", all(pick(g, []string{" FOR UPDATE", " LOCK IN SHARE MODE"}))))
	}
	return q, ordered
}

func (g *generator) orderItem(sc scope, named []string) string {
	s := pick(g, sc)
	c := pick(g, s.table.columns)
	switch g.r.IntN(8) {
	case 0:
		return "1"
	case 1, 2:
		if len(named) > 0 {
			return pick(g, named)
		}
	case 3:
		if c.kind == integer {
			return pick(g, []string{"-", "0 + "}) + g.name(sc, s, c.name)
		}
	}
	return g.name(sc, s, c.name)
}

// fields returns a SELECT list and its aliases.
func (g *generator) fields(sc scope) (*node, []string) {
	out := list("", pick(g, []string{", ", ","}))
	var named []string
	for range 1 + g.r.IntN(4) {
		s := pick(g, sc)
		c := pick(g, s.table.columns)
		name := g.name(sc, s, c.name)
		switch g.r.IntN(14) {
		case 0:
			if len(out.kids) == 0 {
				out.add(all("*"))
				continue
			}
			out.add(all(s.alias, ".*"))
			continue
		case 1:
			out.add(all(s.alias, ".*"))
			continue
		case 2:
			name = "COALESCE(" + name + ", 0)"
		case 3:
			name = name + " IS NULL"
		case 4:
			name = pick(g, []string{"1", "'x'", "NULL", "1 + 1", "'a' 'b'", "TRUE", "@v42", "0x41", "-5"})
		case 6:
			name = g.function(sc, name, c)
		case 5:
			name = "CASE WHEN " + name + " IS NULL THEN 1 ELSE 0 END"
		}
		if g.oneIn(3) {
			alias := pick(g, []string{"a1", "b1", "`c 1`", "`d``2`", "Owner", "id", "small", "amount", "`no`", "N"})
			g.shadow = g.shadow || !strings.ContainsAny(alias, "12") || slices.Contains(named, alias)
			name += pick(g, []string{" ", " AS "}) + alias
			named = append(named, alias)
		}
		out.add(all(name))
	}
	return out, named
}

// exact returns fields whose equal values always have the same text.
func (g *generator) exact(sc scope) (*node, []string) {
	out := list("", ", ")
	for range 1 + g.r.IntN(2) {
		out.add(all(g.exactName(sc)))
	}
	return out, nil
}

func (g *generator) exactName(sc scope) string {
	for range 30 {
		s := pick(g, sc)
		if c := pick(g, s.table.columns); c.kind == integer || c.kind == decimal || c.kind == day || c.kind == enum {
			return g.name(sc, s, c.name)
		}
	}
	return "LENGTH(" + sc[0].alias + "." + sc[0].table.primary[0] + ")"
}

// tablesOf returns one table, or a join of several.
func (g *generator) tablesOf() (scope, *node) {
	first := g.source(pick(g, []*table{account, account, account, visit, visit, line, member, member, person, note, note, product, setting, rate}))
	sc := scope{first}
	from := list("", "", all(g.from(first)))
	if g.oneIn(2) {
		return sc, from
	}
	for range 1 + g.r.IntN(2) {
		g.join(&sc, from)
	}
	return sc, from
}

func (g *generator) join(sc *scope, from *node) {
	next := g.source(pick(g, []*table{account, visit, line, account, visit, line, member, person, note, product, setting, rate}))
	for _, s := range *sc {
		if s.alias == next.alias {
			next.alias += "j"
		}
	}
	left := pick(g, *sc)
	grown := append(append(scope{}, *sc...), next)
	a, b := g.joined(left.table, next.table)
	kind := pick(g, []string{" JOIN ", " INNER JOIN ", " LEFT JOIN ", " LEFT OUTER JOIN ", " RIGHT JOIN ", ", ", " CROSS JOIN ", " STRAIGHT_JOIN "})
	text := g.from(next)
	on := list(" ON ", " AND ", all(left.alias, ".", a, pick(g, []string{" = ", " = ", " = ", " <=> "}), next.alias, ".", b))
	if g.oneIn(4) {
		on.add(g.condition(grown, 0))
	}
	if len(*sc) > 1 && g.oneIn(3) { // an outer join to one of the two may join no row
		x, y := (*sc)[0], (*sc)[1]
		c, d := g.joined(x.table, y.table)
		on.add(all(x.alias, ".", c, " = ", y.alias, ".", d))
	}
	switch {
	case kind == ", ":
		text = g.from(next)
		*sc = grown
		from.kids = append([]*node{all(text, ", ")}, from.kids...)
		if g.oneIn(3) {
			from.kids[0] = all(text, " JOIN ")
			from.add(on)
		}
		return
	case a == b && len(*sc) == 1 && g.oneIn(3):
		*sc = grown
		from.add(all(kind, text, " USING (", a, ")"))
		return
	}
	*sc = grown
	from.add(all(kind, text, on))
}

// joined returns a pair of columns for a join of two tables, mostly one that joins rows of the same owner.
func (g *generator) joined(a, b *table) (string, string) {
	if x, y := keyOf(g, a), keyOf(g, b); g.oneIn(4) && x != "" && y != "" {
		return x, y // the columns may have the same meaning or not
	}
	if !g.oneIn(6) {
		switch {
		case a.has("owner") && b.has("owner") && (a != account || b != account || g.oneIn(2)):
			return "owner", "owner"
		case a != b && (a == person || b == person) && a.owner != "" && b.owner != "" && a != member && b != member:
			return a.owner, b.owner // the owner of a line is not one of its columns
		case a != member && b != member && a.has("id") && b.has("id"):
			return "id", "id"
		case a == member && b == member:
			return "who", "who"
		case a == line && b == product:
			return "product", "product_id"
		case a == product && b == line:
			return "product_id", "product"
		}
	}
	for {
		x, y := pick(g, a.columns), pick(g, b.columns)
		if comparable(x, y) {
			return x.name, y.name
		}
		if x.kind != integer && y.kind != integer && (x.kind == text || x.kind == binary) && (y.kind == text || y.kind == binary) {
			return x.name, y.name
		}
		if !hasKindOf(a, b) {
			return x.name, y.name
		}
	}
}

// keyOf returns a numeric column that determines the gene, if there is one.
func keyOf(g *generator, t *table) string {
	for range 8 {
		if c := pick(g, t.columns); c.key && c.kind == integer {
			return c.name
		}
	}
	return ""
}

func hasKindOf(a, b *table) bool {
	for _, x := range a.columns {
		for _, y := range b.columns {
			if comparable(x, y) {
				return true
			}
		}
	}
	return false
}

// aggregate returns a query with aggregates, with or without groups.
func (g *generator) aggregate() (*node, order) {
	sc, from := g.tablesOf()
	fields := list("", ", ")
	var groups []string
	if g.oneIn(2) {
		for range 1 + g.r.IntN(2) {
			groups = append(groups, g.exactName(sc))
		}
		for i, group := range groups {
			if g.oneIn(6) {
				groups[i] = fmt.Sprintf("g%d", i)
				group += " AS " + groups[i]
			}
			fields.add(all(group))
		}
	}
	for range 1 + g.r.IntN(3) {
		fields.add(all(g.aggregated(sc)))
	}
	q := all("SELECT ", fields, " FROM ", from, g.where(sc))
	if len(groups) > 0 {
		q.add(list(" GROUP BY ", ", ", groups[0]))
		for _, group := range groups[1:] {
			q.kids[len(q.kids)-1].add(group)
		}
	}
	if g.oneIn(8) {
		q.add(list("", "", all(" HAVING ", pick(g, []string{"COUNT(*)", "SUM(1) + 1", "MAX(" + g.exactName(sc) + ") IS NULL OR COUNT(*)"}), " > ", fmt.Sprint(g.r.IntN(3)))))
	}
	if g.oneIn(5) {
		items := list(" ORDER BY ", ", ")
		for i := range groups {
			item := all(fmt.Sprint(i+1), pick(g, []string{"", " DESC"}))
			item.kept = true
			items.add(item)
		}
		q.add(items)
		if len(groups) == 0 || g.oneIn(2) {
			q.add(list("", "", all(" LIMIT ", fmt.Sprint(g.r.IntN(4)), pick(g, []string{"", " OFFSET 1"}))))
		}
		return q, ordered
	}
	return q, unordered
}

func (g *generator) aggregated(sc scope) string {
	s := pick(g, sc)
	c := pick(g, s.table.columns)
	name := g.name(sc, s, c.name)
	alias := pick(g, []string{"", "", " AS total", " AS small", " owner"})
	switch g.r.IntN(8) {
	case 0, 1:
		return pick(g, []string{"COUNT(*)", "count(*)", "COUNT(1)", "COUNT( * )"}) + alias
	case 2:
		return "COUNT(" + name + ")" + alias
	case 3:
		return "COUNT(DISTINCT " + name + ")" + alias
	}
	for c.kind != integer && c.kind != decimal && c.kind != double || c.name == "big" {
		s = pick(g, sc)
		c = pick(g, s.table.columns)
		if s.table == setting {
			return "COUNT(*)" + alias
		}
	}
	if s.table == account && g.oneIn(6) {
		c = s.table.column("ratio")
	}
	name = g.name(sc, s, c.name)
	if c.key || c.name == "id" || c.name == "line_id" || c.name == "no" {
		return pick(g, []string{"MIN(", "MAX("}) + name + ")" + alias
	}
	if g.oneIn(6) && c.kind != double {
		shape := pick(g, []string{"SUM({c}) / COUNT(*)", "1 + COUNT({c})", "ROUND(AVG({c}), 1)", "-MIN({c} * 2)", "COALESCE(MAX({c}), SUM({c} + 1))"})
		return strings.ReplaceAll(shape, "{c}", name) + alias
	}
	return pick(g, []string{"SUM(", "MIN(", "MAX(", "AVG(", "sum(", "SUM(DISTINCT ", "BIT_OR(", "MAX(1 + "}) + name + ")" + alias
}

// inner returns a subquery without LIMIT.
func (g *generator) inner() (*node, string) {
	s := g.source(pick(g, []*table{account, visit, line, member, person, note, product}))
	sc := scope{s}
	c := pick(g, []string{s.table.primary[0], "owner", "id", "small"})
	if !s.table.has(c) {
		c = s.table.primary[0]
	}
	return all("SELECT ", g.name(sc, s, c), " AS c FROM ", g.from(s), g.where(sc)), c
}

func (g *generator) derived() *node {
	inner, c := g.inner()
	if g.oneIn(2) {
		return all("SELECT ", pick(g, []string{"*", "c", "COUNT(*)", "MAX(c)", "DISTINCT c"}), " FROM (", inner, ") d")
	}
	s := g.source(account)
	on := "id"
	if c == "owner" || c == "small" {
		on = c
	}
	return all("SELECT ", s.alias, ".owner, d.c FROM ", g.from(s), pick(g, []string{" JOIN (", " LEFT JOIN ("}), inner, ") d ON d.c = ", s.alias, ".", on, g.where(scope{s}))
}

func (g *generator) union() *node {
	a, _ := g.inner()
	b, _ := g.inner()
	n := all(a, pick(g, []string{" UNION ", " UNION ALL ", " UNION DISTINCT ", " INTERSECT ", " EXCEPT "}), b)
	if g.oneIn(3) {
		n.add(" ORDER BY 1")
	}
	return n
}

func (g *generator) cte() *node {
	inner, _ := g.inner()
	name := pick(g, []string{"q", "account", "line"})
	switch g.r.IntN(3) {
	case 0:
		return all("WITH ", name, " AS (", inner, ") SELECT c FROM ", name)
	case 1:
		return all("WITH ", name, " (k) AS (", inner, ") SELECT COUNT(*), MIN(k) FROM ", name)
	}
	s := g.source(visit)
	return all("WITH ", name, " AS (", inner, ") SELECT ", s.alias, ".n, z.c FROM ", name, " z JOIN ", g.from(s), " ON z.c = ", s.alias, ".owner", g.where(scope{s}))
}

// odd returns a statement of another form.
func (g *generator) odd() (*node, order) {
	s := g.source(account)
	sc := scope{s}
	switch g.r.IntN(6) {
	case 0:
		return all("SELECT LAST_INSERT_ID(), ", s.alias, ".id FROM ", g.from(s), " WHERE id = LAST_INSERT_ID()"), unordered
	case 1:
		return all("(SELECT owner, id FROM account", g.where(scope{{account, "account"}}), ") ORDER BY id LIMIT 3"), ordered
	case 2:
		return all("SELECT ", s.alias, ".id, ROW_NUMBER() OVER (PARTITION BY owner ORDER BY ", s.alias, ".id) FROM ", g.from(s), g.where(sc, g.pinned(sc, s))), unordered
	case 3:
		return all("SELECT id FROM ", g.from(s), " WHERE ", g.pinned(sc, s), " GROUP BY id HAVING COUNT(*) > 0"), unordered
	case 4:
		return all("SELECT 1 FROM DUAL WHERE ", "EXISTS (SELECT 1 FROM ", g.from(s), g.where(sc), ")"), unordered
	}
	return all("SELECT (SELECT COUNT(*) FROM visit v WHERE v.owner = ", s.alias, ".owner) c, id FROM ", g.from(s), g.where(sc, g.pinned(sc, s)), " ORDER BY id"), ordered
}
