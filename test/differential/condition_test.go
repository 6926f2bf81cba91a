package differential

import "strings"

// pinned returns a condition that probably leads to one shard.
func (g *generator) pinned(sc scope, s source) *node {
	if s.table.owner == "" {
		return g.condition(sc, 1)
	}
	c := s.table.column(s.table.owner)
	if g.oneIn(4) && s.table.has("id") {
		c = s.table.column("id")
	}
	if s.table.auto != "" && g.oneIn(3) {
		c = s.table.column(s.table.auto)
	}
	name := g.name(sc, s, c.name)
	v := g.literal(s.table, c)
	if c.kind == integer {
		v = g.number(g.heldNumber(s.table, c))
	}
	switch g.r.IntN(8) {
	case 0:
		return all(name, " IN (", v, ")")
	case 1:
		return all(v, " = ", name)
	case 2:
		return all("(", name, " = ", v, ")")
	}
	return all(name, pick(g, []string{" = ", "=", " <=> "}), v)
}

func (g *generator) heldNumber(t *table, c column) string {
	if held := g.held[t.name+"."+c.name]; len(held) > 0 {
		return pick(g, held)
	}
	return "42"
}

// condition returns a random condition on the tables of a scope.
func (g *generator) condition(sc scope, depth int) *node {
	s := pick(g, sc)
	c := g.column(s)
	name := g.name(sc, s, c.name)
	v := func() value { return g.literal(s.table, c) }
	if depth > 0 {
		switch g.r.IntN(14) {
		case 0, 1:
			return all("(", g.condition(sc, depth-1), pick(g, []string{" OR ", " or ", " || "}), g.condition(sc, depth-1), ")")
		case 2:
			return all("(", list("", " AND ", g.condition(sc, depth-1), g.condition(sc, depth-1)), ")")
		case 3:
			return all(pick(g, []string{"NOT (", "! (", "NOT ("}), g.condition(sc, depth-1), ")")
		case 4:
			return all("(", g.condition(sc, depth-1), pick(g, []string{" XOR ", " && ", " OR "}), g.condition(sc, depth-1), ")")
		case 5:
			return all("(", g.condition(sc, depth-1), pick(g, []string{") IS TRUE", ") IS NOT TRUE", ") IS NOT FALSE", ") IS UNKNOWN", ") = 1", ") = 0"}))
		}
	}
	switch g.r.IntN(20) {
	case 0:
		return all(name, pick(g, []string{" IS NULL", " IS NOT NULL"}))
	case 1, 2, 3:
		in := list("", ", ")
		for range 1 + g.r.IntN(4) {
			in.add(v())
		}
		g.mixed = g.mixed || in.mixed()
		return all(name, pick(g, []string{" IN (", " IN (", " IN (", " NOT IN ("}), in, ")")
	case 4, 5:
		return all(name, pick(g, []string{" BETWEEN ", " BETWEEN ", " NOT BETWEEN "}), v(), " AND ", v())
	case 6, 7:
		return all(name, pick(g, []string{" < ", " <= ", " > ", " >= ", " <> ", " != "}), v())
	case 8:
		return all(v(), pick(g, []string{" < ", " <= ", " > ", " >= ", " <=> "}), name)
	case 9:
		other := g.column(s)
		return all("(", name, ", ", g.name(sc, s, other.name), pick(g, []string{") = (", ") <=> (", ") <> ("}), v(), ", ", g.literal(s.table, other), ")")
	case 10:
		other := g.column(s)
		rows := list("", ", ")
		for range 1 + g.r.IntN(3) {
			rows.add(all("(", v(), ", ", g.literal(s.table, other), ")"))
		}
		return all("(", name, ", ", g.name(sc, s, other.name), ") IN (", rows, ")")
	case 11:
		if c.kind == text || c.kind == binary {
			return all(name, pick(g, []string{" LIKE ", " NOT LIKE "}), g.string(pick(g, []string{"a%", "%n", "_nn", "Ann", "%", `a\%b`, "zo_"})))
		}
	case 12:
		other := pick(g, sc)
		oc := pick(g, other.table.columns)
		if comparable(c, oc) {
			return all(name, pick(g, []string{" = ", " <=> ", " < "}), g.name(sc, other, oc.name))
		}
	case 13:
		return all(v().unbound(), " IN (", name, ", ", v().unbound(), ")") // bound ones crash MariaDB 10.11
	case 14:
		return all(name, " + 0 = ", v())
	}
	return all(name, pick(g, []string{" = ", " = ", "=", " <=> "}), v())
}

// mixed reports whether a list contains texts and other types. Servers compare the numbers in it exactly if
// they look them up in an index, and as doubles otherwise. So the optimizer, on each shard separately, decides
// whether rows with large numbers belong to the answer, and a comparison with the plain server proves nothing.
// Tests in router/catalog check with both servers to which shards each value of such a list leads, and golden
// plans in router/plan check lists.
func (n *node) mixed() bool {
	texts := 0
	for _, kid := range n.kids {
		_, bound := kid.arg.param.(string)
		if strings.ContainsAny(kid.arg.text, `'"`) || kid.arg.bound && bound {
			texts++
		}
	}
	return texts > 0 && texts < len(n.kids)
}

// comparable columns compare alike on both engines without an error.
func comparable(a, b column) bool {
	numeric := func(k kind) bool { return k == integer || k == decimal || k == double }
	return numeric(a.kind) && numeric(b.kind) || a.kind == b.kind
}

// where returns a WHERE clause with some conditions.
func (g *generator) where(sc scope, more ...*node) *node {
	n := list(" WHERE ", pick(g, []string{" AND ", " AND ", " and ", " AND\n "}))
	for _, m := range more {
		n.add(m)
	}
	if len(more) == 0 && g.oneIn(5) {
		return n
	}
	if g.oneIn(2) {
		n.add(g.pinned(sc, pick(g, sc)))
	}
	for range g.r.IntN(3) {
		n.add(g.condition(sc, 2))
	}
	if g.oneIn(6) {
		n.add(g.subquery(sc))
	}
	g.r.Shuffle(len(n.kids), func(i, j int) { n.kids[i], n.kids[j] = n.kids[j], n.kids[i] })
	return n
}

// subquery returns a condition that contains a query.
func (g *generator) subquery(outer scope) *node {
	s := pick(g, outer)
	c := g.column(s)
	inner := g.source(pick(g, tables))
	for inner.alias == s.alias {
		inner.alias += "i"
	}
	sc := scope{inner}
	ic := g.column(inner)
	for range 5 {
		if comparable(c, ic) {
			break
		}
		ic = g.column(inner)
	}
	if !comparable(c, ic) {
		return g.condition(outer, 1)
	}
	w := list(" WHERE ", " AND ")
	if g.oneIn(2) {
		w.add(g.pinned(sc, inner))
	}
	if g.oneIn(2) {
		w.add(g.condition(sc, 1))
	}
	name := s.alias + "." + c.name
	correlated := all(inner.alias, ".", ic.name, " = ", name)
	switch g.r.IntN(6) {
	case 0:
		w.add(correlated)
		return all(pick(g, []string{"EXISTS", "NOT EXISTS"}), " (SELECT ", pick(g, []string{"1", "*", ic.name}), " FROM ", g.from(inner), w, ")")
	case 1:
		return all(name, pick(g, []string{" = ", " > ", " <=> "}), "(SELECT ", pick(g, []string{"MAX(", "MIN(", "COUNT("}), g.name(sc, inner, ic.name), ") FROM ", g.from(inner), w, ")")
	case 2:
		return all(name, pick(g, []string{" = ANY ", " > ALL ", " <> SOME "}), "(SELECT ", g.name(sc, inner, ic.name), " FROM ", g.from(inner), w, ")")
	case 3:
		return all("(SELECT COUNT(*) FROM ", g.from(inner), w, ") > 0")
	}
	if g.oneIn(3) {
		w.add(correlated)
	}
	return all(name, pick(g, []string{" IN ", " IN ", " NOT IN "}), "(SELECT ", g.name(sc, inner, ic.name), " FROM ", g.from(inner), w, ")")
}
