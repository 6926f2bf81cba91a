package stmt

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// treeWithDialect runs the parser on a text in which clauses that it doesn't support are blank, or replaced by others of at most the
// same length, for which the same is done. It returns the text too, for other attempts to read it. It changes nothing that tables,
// conditions, functions and values are read from.
func treeWithDialect(l *Lexed, text string, refused error) (node ast.StmtNode, edited string, err error) {
	l.look(len(l.Text))
	d := dialect{rowSources{l: l, list: l.lexemes(math.MaxInt), text: []byte(text)}}
	for i := range d.list {
		d.expression(i)
		d.clause(i)
	}
	switch d.word(0) {
	case "create", "alter", "drop", "rename", "truncate", "analyze":
		d.definition()
	}
	if !d.found {
		return nil, text, refused
	}
	edited = string(d.text)
	if a := l.laid(); text == a.readable {
		a.readable = edited
	}
	if node, err = tree(l, edited); err != nil {
		return nil, edited, refused
	}
	return node, edited, nil
}

// dialect replaces clauses in a text.
type dialect struct{ rowSources }

// blank blanks the lexemes from first to last.
func (d *dialect) blank(first, last int) {
	blank(d.text, int32(d.at(first).start), int32(d.at(last).end))
	d.found = true
}

// put replaces the lexemes from first to last by a text that isn't longer.
func (d *dialect) put(first, last int, text string) {
	d.blank(first, last)
	copy(d.text[d.at(first).start:], text)
}

// words reports whether these words begin at i.
func (d *dialect) words(i int, words ...string) bool {
	for n, w := range words {
		if d.word(i+n) != w {
			return false
		}
	}
	return true
}

// isNumber reports whether a literal is at i.
func (d *dialect) isNumber(i int) bool { return d.at(i).kind == literalLexeme }

// last returns the index of the parenthesis that closes the one at i, or 0.
func (d *dialect) last(i int) int {
	if d.at(i).char != '(' {
		return 0
	}
	return d.closing(i, nil, nil)
}

// expression replaces syntax in expressions that the parser doesn't support.
func (d *dialect) expression(i int) {
	switch d.word(i) {
	case "sounds":
		if d.word(i+1) == "like" {
			d.put(i, i+1, "<>")
		}
	case "cast":
		d.cast(i)
	case "column_get":
		d.typed(i, "as")
	case "group_concat":
		d.limited(i)
	case "json_arrayagg":
		if d.limited(i) || d.orders(i) {
			d.put(i, i, " GROUP_CONCAT")
		}
	case "json_value":
		d.typed(i, "returning", "null", "default", "error")
	}
}

// castTypes are types that CAST knows, but the parser doesn't.
var castTypes = set(`int integer varchar nchar national inet4 inet6 uuid point linestring polygon multipoint multilinestring multipolygon geometrycollection geomcollection`)

// cast makes CAST(x AS type) the function ABS(x) for types that the parser doesn't support.
func (d *dialect) cast(i int) {
	end := d.last(i + 1)
	if end == 0 {
		return
	}
	as := 0
	d.closing(i+1, func(at int) bool { return d.word(at) == "as" }, &as)
	switch {
	case as == 0:
	case d.words(as+1, "double", "precision"):
		d.blank(as+2, as+2)
	case castTypes[d.word(as+1)]:
		d.put(i, i, " ABS")
		d.blank(as, end-1)
	}
}

// typed blanks the end of a call, from the first of the given words that follows the second argument.
func (d *dialect) typed(i int, words ...string) {
	end, comma, from := d.last(i+1), 0, 0
	if end == 0 {
		return
	}
	d.closing(i+1, func(at int) bool { return d.at(at).char == ',' }, &comma)
	d.closing(i+1, func(at int) bool {
		for _, w := range words {
			if comma > 0 && at > comma+1 && d.word(at) == w {
				return true
			}
		}
		return false
	}, &from)
	if from > 0 {
		d.blank(from, end-1)
	}
}

// limited blanks LIMIT at the end of a call's arguments.
func (d *dialect) limited(i int) bool {
	end, limit := d.last(i+1), 0
	if end == 0 {
		return false
	}
	d.closing(i+1, func(at int) bool { return d.word(at) == "limit" && d.isNumber(at+1) }, &limit)
	switch {
	case limit == 0:
		return false
	case end == limit+2, end == limit+4 && d.isNumber(limit+3) && (d.at(limit+2).char == ',' || d.word(limit+2) == "offset"):
		d.blank(limit, end-1)
		return true
	}
	return false
}

// orders reports whether a call has DISTINCT or ORDER BY.
func (d *dialect) orders(i int) bool {
	order := 0
	end := d.last(i + 1)
	if end == 0 {
		return false
	}
	d.closing(i+1, func(at int) bool { return d.words(at, "order", "by") }, &order)
	return order > 0 || d.word(i+2) == "distinct"
}

// clause replaces clauses of queries that the parser doesn't support.
func (d *dialect) clause(i int) {
	switch d.word(i) {
	case "natural":
		if d.words(i+1, "inner", "join") {
			d.blank(i+1, i+1)
		}
	case "lock":
		if d.words(i, "lock", "in", "share", "mode") {
			d.waits(i + 4)
		}
	}
}

// waits blanks NOWAIT, WAIT n, and SKIP LOCKED.
func (d *dialect) waits(i int) {
	switch {
	case d.word(i) == "nowait":
		d.blank(i, i)
	case d.word(i) == "wait" && d.isNumber(i+1):
		d.blank(i, i+1)
	case d.words(i, "skip", "locked"):
		d.blank(i, i+1)
	}
}

// name returns the index behind the name of a table at i.
func (d *dialect) name(i int) int {
	if d.at(i+1).char == '.' {
		return i + 3
	}
	return i + 1
}

// definition replaces syntax in definitions of tables, views and indexes that the parser doesn't support.
func (d *dialect) definition() {
	switch {
	case d.words(0, "create", "or", "replace", "index"), d.words(0, "create", "or", "replace", "unique"), d.words(0, "create", "or", "replace", "fulltext"):
		d.blank(1, 2)
		d.index()
	case d.words(0, "create", "index"), d.words(0, "create", "unique", "index"), d.words(0, "create", "fulltext", "index"):
		d.index()
	case d.word(0) == "create":
		d.view()
	case d.word(0) == "alter":
		d.alter()
	case d.words(0, "truncate", "table"):
		d.waits(d.name(2))
	case d.words(0, "drop", "table"), d.words(0, "drop", "tables"), d.words(0, "drop", "index"):
		d.waitsAtEnd()
	case d.words(0, "rename", "tables"), d.words(0, "rename", "table"):
		d.rename()
	case d.words(0, "analyze", "no_write_to_binlog"):
		d.blank(1, 1)
	}
}

// rename replaces TABLES, and blanks IF EXISTS, and WAIT behind the first name of each pair.
func (d *dialect) rename() {
	if d.word(1) == "tables" {
		d.put(1, 1, "TABLE")
	}
	i := 2
	if d.words(i, "if", "exists") {
		d.blank(i, i+1)
		i += 2
	}
	for ; i < len(d.list); i++ {
		i = d.name(i)
		d.waits(i)
		for i < len(d.list) && d.at(i).char != ',' {
			i++
		}
	}
}

// waitsAtEnd blanks NOWAIT or WAIT n at the end of the statement.
func (d *dialect) waitsAtEnd() {
	n := len(d.list)
	if d.word(n-1) == "nowait" {
		d.waits(n - 1)
	} else {
		d.waits(n - 2)
	}
}

// index blanks IGNORED, NOT IGNORED, and WAIT of CREATE INDEX.
func (d *dialect) index() {
	for i := range d.list {
		if d.word(i) == "on" {
			d.waits(d.name(i + 1))
			break
		}
	}
	for i := range d.list {
		d.ignored(i)
	}
}

// ignored blanks IGNORED and NOT IGNORED behind an index.
func (d *dialect) ignored(i int) {
	switch {
	case d.word(i) != "ignored":
	case d.word(i-1) == "not":
		d.blank(i-1, i)
	default:
		d.blank(i, i)
	}
}

// view blanks IF NOT EXISTS and WITH CHECK OPTION, for which CASCADED is understood.
func (d *dialect) view() {
	view := 0
	for i := range d.list {
		switch d.word(i) {
		case "view":
			view = i
			if d.words(i+1, "if", "not", "exists") {
				d.blank(i+1, i+3)
			}
		case "as":
			if n := len(d.list) - 3; view > 0 && n > i && d.words(n, "with", "check", "option") {
				d.blank(n, n+2)
			}
			return
		case "table", "index", "database", "schema", "procedure", "function", "trigger", "event", "sequence", "package":
			return
		}
	}
}

// alter replaces clauses of ALTER TABLE.
func (d *dialect) alter() {
	i := 1
	for d.word(i) == "online" || d.word(i) == "ignore" {
		i++
	}
	if d.word(i) != "table" {
		return
	}
	for at := range i {
		if d.word(at) == "online" {
			d.blank(at, at)
		}
	}
	if d.words(i+1, "if", "exists") {
		d.blank(i+1, i+2)
		i += 2
	}
	i = d.name(i + 1)
	d.waits(i)
	for depth := 0; i < len(d.list); i++ {
		switch d.at(i).char {
		case '(':
			depth++
		case ')':
			depth--
		}
		d.altered(i, depth)
	}
}

// altered replaces syntax in a clause of ALTER TABLE that the parser doesn't support.
func (d *dialect) altered(i, depth int) {
	switch w := d.word(i); {
	case w == "if" && d.word(i+1) == "exists" && depth == 0:
		if !d.words(i-2, "alter", "key") {
			d.blank(i, i+1)
		}
	case w == "if" && d.words(i+1, "not", "exists") && d.word(i-1) == "constraint":
		d.blank(i, i+2)
	case w == "alter" && d.words(i+1, "key", "if", "exists"):
		d.put(i+1, i+3, "INDEX")
	case w == "ignored" && d.altersIndex(i):
		d.put(i, i, "VISIBLE")
	case w == "ignored":
		d.ignored(i)
	case w == "all" && d.word(i-1) == "partition":
		d.put(i, i, "p") // the names of partitions are not read
	case maintenance[w] && d.word(i-1) != "add" && d.partition(i) && depth == 0:
		d.blank(i, i)
	case w == "invisible" && d.word(i-1) != "set" && d.word(i-2) != "index" && d.word(i-2) != "key":
		d.blank(i, i)
	case w == "nocopy" && (d.word(i-1) == "algorithm" || d.word(i-2) == "algorithm"):
		d.put(i, i, "COPY")
	case unreadTypes[w] && d.namesColumn(i-1):
		d.put(i, i, "INT")
	case w == "default" && d.at(i+1).char == '(' && d.word(i-1) != "set":
		d.put(i, i, "CHECK")
	}
}

// maintenance are the options of CHECK PARTITION and REPAIR PARTITION.
var maintenance = set("quick extended fast medium changed use_frm")

// partition reports whether the statement is ALTER TABLE … CHECK or REPAIR PARTITION, and an option at i is behind the names.
func (d *dialect) partition(i int) bool {
	for at := i - 1; at > 1; at-- {
		if d.word(at) == "partition" {
			return at < i-1 && (d.word(at-1) == "check" || d.word(at-1) == "repair")
		}
	}
	return false
}

// altersIndex reports whether the word at i is the IGNORED that ends ALTER INDEX. If so, it blanks a NOT before it.
func (d *dialect) altersIndex(i int) bool {
	name := i - 1
	if d.word(name) == "not" {
		name--
	}
	exists := name
	if d.words(name-2, "if", "exists") {
		exists -= 2
	}
	if !d.words(exists-2, "alter", "index") && !d.words(exists-2, "alter", "key") {
		return false
	}
	if name < i-1 {
		d.blank(name+1, name+1)
	}
	return true
}

// namesColumn reports whether the name of a column that is being added is at i.
func (d *dialect) namesColumn(i int) bool {
	switch d.word(i - 1) {
	case "add":
		return true
	case "column":
		return d.word(i-2) == "add"
	case "exists":
		return d.word(i-3) == "if" && (d.word(i-4) == "add" || d.words(i-5, "add", "column"))
	}
	return d.at(i-1).char == '(' && (d.word(i-2) == "add" || d.words(i-3, "add", "column"))
}
