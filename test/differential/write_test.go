package differential

import (
	"fmt"
	"slices"
	"strconv"
)

// write makes an INSERT, REPLACE, UPDATE or DELETE.
func (g *generator) write() *statement {
	g.alias, g.reads = 0, false
	s := &statement{prepared: g.oneIn(2), insertID: g.ids.some(g)}
	s.writes = pick(g, []*table{account, account, account, visit, visit, visit, line, line, member, member, person, person, note, note, product, setting, rate})
	rows := len(g.held[s.writes.name+"."+s.writes.primary[0]])
	switch n := g.r.IntN(100); {
	case n < 6 && rows < 150:
		g.insertQuery(s)
	case n < 40 && rows < 150:
		g.insert(s)
	case n < 85 || rows < 12:
		g.update(s)
	default:
		g.delete(s)
	}
	return s
}

// raised is the assignment that the proxy adds to a change of a table with a version column.
func raised(t *table, alias string) *node {
	if !t.version {
		return nil
	}
	n := all(alias + ".version = " + alias + ".version + 1")
	n.plain = true
	return n
}

func (g *generator) update(s *statement) {
	src := source{s.writes, s.writes.name}
	sc := scope{src}
	if g.oneIn(3) {
		src.alias = "u"
		sc = scope{src}
	}
	head := all("UPDATE ", g.from(src))
	if partner := map[*table]source{account: {visit, "p"}, visit: {account, "p"}, line: {account, "p"}, person: {visit, "p"}, note: {person, "p"}}[s.writes]; g.oneIn(6) && partner.table != nil {
		a, b := g.joined(src.table, partner.table)
		head.add(all(" JOIN ", g.from(partner), " ON ", src.alias, ".", a, " = ", partner.alias, ".", b))
		sc = append(sc, partner)
	}
	set := list(" SET ", ", ")
	for _, c := range g.assignable(s.writes) {
		set.add(all(src.alias, ".", c.name, " = ", g.assigned(src, c)))
	}
	if len(set.kids) > 0 {
		set.add(raised(s.writes, src.alias))
	}
	s.several = true
	s.root = all(head, set, g.writeWhere(sc, src))
	g.limited(s, sc, src)
}

// assignable picks columns to be set, now and then one that decides where the
// row lives.
func (g *generator) assignable(t *table) (out []column) {
	for range 1 + g.r.IntN(2) {
		c := pick(g, t.columns)
		if slices.Contains(t.primary, c.name) || c.name == "version" || c.name == t.unique || c.key && !g.oneIn(4) || slices.Contains(out, c) {
			continue
		}
		out = append(out, c)
	}
	if len(out) == 0 {
		for _, c := range t.columns {
			if !c.key && c.name != "version" && c.name != t.unique && !slices.Contains(t.primary, c.name) {
				return []column{c}
			}
		}
	}
	return out
}

// assigned returns an expression that is assigned to a column.
func (g *generator) assigned(s source, c column) any {
	name := s.alias + "." + c.name
	switch {
	case c.key && c.kind != integer:
		return g.string(g.heldNumber(s.table, c))
	case c.key:
		return g.number(g.heldNumber(s.table, c))
	case c.kind == integer && g.oneIn(3):
		return all(name, pick(g, []string{" + 1", " - 1", " * 2"}))
	case g.oneIn(10):
		return "NULL"
	case g.oneIn(12):
		return "DEFAULT"
	case (c.kind == text || c.kind == long) && g.oneIn(4):
		return all("CONCAT(", name, ", 'y')")
	case g.oneIn(12):
		return name
	}
	return g.fresh(c)
}

// fresh returns a value that a column can store, most of the time.
func (g *generator) fresh(c column) value {
	switch c.kind {
	case integer:
		n := g.r.IntN(30)
		if c.name == "yr" {
			n += 2000
		}
		if g.oneIn(15) {
			n = 70000
		}
		return g.number(fmt.Sprint(n))
	case decimal:
		return g.number(fmt.Sprintf("%d.%02d", g.r.IntN(200)-50, g.r.IntN(100)))
	case double:
		return g.number(strconv.FormatFloat(float64(g.r.IntN(400)-100)/4, 'g', -1, 64))
	case day:
		return g.string(fmt.Sprintf("20%02d-%02d-%02d", g.r.IntN(30), 1+g.r.IntN(12), 1+g.r.IntN(28)))
	case instant:
		return g.string(fmt.Sprintf("2024-%02d-%02d %02d:00:00.%03d", 1+g.r.IntN(12), 1+g.r.IntN(28), g.r.IntN(24), g.r.IntN(1000)))
	case clock:
		return g.string(fmt.Sprintf("%d:%02d:%02d", g.r.IntN(60)-20, g.r.IntN(60), g.r.IntN(60)))
	case enum:
		if c.name == "tags" {
			return g.string(pick(g, []string{"x", "x,y", "z", ""}))
		}
		return g.string(pick(g, []string{"a", "b", "z", "B"}))
	case bits:
		return g.number(fmt.Sprint(g.r.IntN(8)))
	case text, binary, long, raw:
	}
	return g.string(pick(g, names))
}

func (g *generator) writeWhere(sc scope, s source) *node {
	if g.oneIn(4) { // on any shard
		return list(" WHERE ", " AND ", g.condition(sc, 1), g.condition(sc, 1))
	}
	if s.table.owner != "" && g.oneIn(6) { // the rows are found by rows of any shard
		return list(" WHERE ", " AND ", g.condition(sc, 1), g.subquery(sc))
	}
	w := list(" WHERE ", " AND ", g.pinned(sc, s))
	if g.oneIn(2) {
		w.add(g.condition(sc, 1))
	}
	return w
}

// limited adds ORDER BY and LIMIT that fix which rows are meant.
func (g *generator) limited(s *statement, sc scope, src source) {
	if len(sc) > 1 || !g.oneIn(5) {
		return
	}
	items := list(" ORDER BY ", ", ")
	for range g.r.IntN(3) { // the columns of the primary key behind them decide among equal rows
		items.add(all(pick(g, s.writes.columns).name, pick(g, []string{"", " DESC"})))
	}
	for _, p := range s.writes.primary {
		items.add(all(p))
	}
	s.root.add(items)
	s.root.add(all(" LIMIT ", fmt.Sprint(1+g.r.IntN(3))))
}

func (g *generator) delete(s *statement) {
	src := source{s.writes, s.writes.name}
	sc := scope{src}
	if g.oneIn(5) && s.writes == visit {
		src.alias = "v"
		sc = scope{src, {account, "a"}}
		s.root = all("DELETE v FROM visit v JOIN account a ON a.owner = v.owner", g.writeWhere(sc, src))
		return
	}
	s.root = all("DELETE FROM ", g.from(src), g.writeWhere(sc, src))
	g.limited(s, sc, src)
}

func (g *generator) insert(s *statement) {
	t := s.writes
	verb := pick(g, []string{"INSERT INTO ", "INSERT INTO ", "INSERT IGNORE INTO ", "INSERT ", "REPLACE INTO "})
	columns, explicit := g.insertColumns(t)
	unnamed := t.ownGene && g.oneIn(4) // without a list of columns, the invisible one gets no value
	if unnamed {
		columns = t.columns
	}
	if t == note && explicit && !g.oneIn(8) {
		verb = "INSERT INTO " // others may have a duplicate on another shard
	}
	gives := func() bool { return explicit }
	if t.auto != "" && explicit && g.oneIn(5) {
		gives = func() bool { return g.oneIn(2) }
		s.skip = t.stamped
	}
	if !explicit {
		s.skip = t.stamped
	}
	if verb == "REPLACE INTO " {
		s.skip = append(slices.Clone(s.skip), "version")
	}
	rows := 1
	if g.oneIn(3) {
		rows += g.r.IntN(4)
		s.several = true
	}
	s.root = all(verb, g.from(source{t, t.name}))
	if g.oneIn(5) && !unnamed && len(columns) > 0 {
		set := list(" SET ", ", ")
		for i, v := range g.row(t, columns, gives) {
			set.add(all(columns[i].name, " = ", v))
		}
		s.root.add(set)
	} else {
		names := list(" (", ", ")
		for _, c := range columns {
			names.add(all(pick(g, []string{c.name, "`" + c.name + "`"})))
		}
		values := list(pick(g, []string{" VALUES ", " VALUE ", " values"}), pick(g, []string{", ", ",", ", /* , */"}))
		for range rows {
			row := all("(")
			for i, v := range g.row(t, columns, gives) {
				if i > 0 {
					row.add(", ")
				}
				row.add(v)
			}
			row.add(")")
			values.add(row)
		}
		switch {
		case unnamed:
			s.root.add(values)
		case len(columns) == 0:
			s.root.add(all(" ()", values))
		default:
			s.root.add(all(names, ")", values))
		}
	}
	if verb[0] == 'I' && (t != note || !explicit) && (g.oneIn(4) || t == visit && g.oneIn(2)) {
		g.onDuplicate(s, t)
	}
}

// insertQuery inserts visits, notes or persons that a query makes of rows on several shards.
func (g *generator) insertQuery(s *statement) {
	s.several = true
	src := g.source(pick(g, []*table{account, visit, visit, note}))
	sc := scope{src}
	s.writes = pick(g, []*table{visit, visit, note, person})
	s.skip = s.writes.stamped
	if s.writes != visit {
		fields, columns := all(g.name(sc, src, "small"), ", ", g.name(sc, src, "name")), " (small, name)"
		if s.writes == note {
			fields.add(all(", ", g.name(sc, src, "owner")))
			columns = " (small, name, owner)"
		}
		s.root = all("INSERT INTO ", g.from(source{s.writes, s.writes.name}), columns, " SELECT ", fields, " FROM ", g.from(src), g.where(sc))
		return
	}
	n := all(fmt.Sprint(100 * g.r.IntN(100)))
	if src.table == visit {
		n.add(all(" + ", g.name(sc, src, "n")))
	}
	s.root = all("INSERT INTO ", g.from(source{visit, visit.name}), " (owner, n, small, amount) SELECT ", g.name(sc, src, "owner"), ", ", n, ", ",
		g.name(sc, src, "small"), ", ", g.name(sc, src, "amount"), " FROM ", g.from(src), g.where(sc))
}

func (g *generator) onDuplicate(s *statement, t *table) {
	head, given, alone := "", "VALUES(%s)", false
	switch {
	case g.oneIn(6): // MySQL's row alias, in which other names may be ambiguous
		head, given, alone = " AS new", "new.%s", true
	case g.oneIn(6): // MariaDB's
		given = "VALUE(%s)"
	}
	set := list(head+" ON DUPLICATE KEY UPDATE ", ", ")
	for _, c := range g.assignable(t) {
		if c.key && !g.oneIn(5) {
			continue
		}
		if alone || g.oneIn(3) {
			set.add(all(c.name, " = ", fmt.Sprintf(given, c.name)))
			continue
		}
		set.add(all(c.name, " = ", g.assigned(source{t, t.name}, c)))
	}
	if len(set.kids) == 0 {
		return
	}
	set.add(raised(t, t.name))
	s.root.add(set)
}

// insertColumns chooses the columns of an INSERT. explicit means that it includes the columns that the proxy
// could stamp.
func (g *generator) insertColumns(t *table) (out []column, explicit bool) {
	explicit = len(t.stamped) == 0 || g.oneIn(2)
	for _, c := range t.columns {
		stamped := slices.Contains(t.stamped, c.name)
		switch {
		case stamped && !explicit && (c.name != t.auto || !g.oneIn(3)), c.name == "version":
			continue
		case stamped, c.name == t.owner, slices.Contains(t.primary, c.name), !g.oneIn(4):
			out = append(out, c)
		}
	}
	g.r.Shuffle(len(out), func(i, j int) { out[i], out[j] = out[j], out[i] })
	return out, explicit
}

// unnumbered returns a value that the cluster, or the plain server, replaces by a number. Under
// NO_AUTO_VALUE_ON_ZERO, a zero is only used for the table in which just an owner is unique.
func (g *generator) unnumbered(t *table) value {
	switch {
	case g.oneIn(3):
		return value{text: "DEFAULT"}
	case t.auto == t.owner && g.oneIn(2):
		return value{text: "0", param: "0", bound: true}
	}
	return value{text: "NULL", bound: true}
}

// row returns the values of a row, with keys that belong together. Some rows leave out their number.
func (g *generator) row(t *table, columns []column, gives func() bool) []value {
	keys := g.keys(t)
	out := make([]value, 0, len(columns))
	for _, c := range columns {
		switch v, ok := keys[c.name]; {
		case c.name == t.auto && !gives():
			out = append(out, g.unnumbered(t))
		case c.name == t.auto:
			n := g.number(v)
			if _, bytes := n.param.([]byte); bytes { // which are no number
				n.param = v
			}
			out = append(out, n)
		case c.name == "version":
			out = append(out, value{text: "DEFAULT"})
		case ok && c.kind == integer:
			out = append(out, g.number(v))
		case ok:
			out = append(out, g.string(v))
		case g.oneIn(8) && !slices.Contains(t.primary, c.name):
			out = append(out, value{text: "NULL", bound: true})
		default:
			out = append(out, g.fresh(c))
		}
	}
	return out
}

func (g *generator) keys(t *table) map[string]string {
	switch t {
	case account:
		owner := pick(g, g.owners)
		id, no := g.ids.of(geneOfOwner(owner))
		if held := g.held["account.id"]; len(held) > 0 && g.oneIn(10) {
			id = pick(g, held) // most likely another owner's, or a duplicate
		}
		return map[string]string{"owner": fmt.Sprint(owner), "id": id, "no": no}
	case visit:
		owner := pick(g, g.owners)
		return map[string]string{"owner": fmt.Sprint(owner), "n": fmt.Sprint(g.r.IntN(5))}
	case person:
		id := g.ids.number()
		if held := g.held["person.id"]; len(held) > 0 && g.oneIn(2) {
			id = pick(g, held)
		}
		return map[string]string{"id": id}
	case note:
		return map[string]string{"n": g.ids.number(), "owner": fmt.Sprint(pick(g, g.owners))}
	case line:
		parent := g.heldNumber(account, account.column("id"))
		n, _ := strconv.ParseInt(parent, 10, 64)
		id, _ := g.ids.of(g.ids.geneOfID(n))
		return map[string]string{"id": parent, "line_id": id}
	case member:
		who := pick(g, whos)
		id, _ := g.ids.of(geneOfWho(who))
		return map[string]string{"who": who, "id": id, "gene": fmt.Sprint(uint32(geneOfWho(who)))}
	case product:
		return map[string]string{"product_id": fmt.Sprint(1 + g.r.IntN(14)), "name": pick(g, names), "price": "9.50"}
	case setting:
		return map[string]string{"name": pick(g, names)}
	case rate:
		return map[string]string{"k": pick(g, whos)}
	}
	return nil
}
