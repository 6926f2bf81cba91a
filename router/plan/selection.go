package plan

import (
	"slices"
	"strconv"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Selection describes how an UPDATE or DELETE finds its rows if no shard can find those that it has, because the condition reads rows of
// other shards. The tables are gathered with locking reads. A query over them returns the primary keys of the rows, and the shard of
// each. Each shard then changes its rows by their primary keys, in the same transaction.
type Selection struct {
	Gather *Gathering
	// ReadsTarget is true if a query within the statement reads the changed table. MySQL allows that in no UPDATE and no DELETE.
	ReadsTarget bool

	target     *Gathered
	table      *catalog.Table
	alias      string
	key        []string // the columns of the primary key, quoted
	references stmt.Stretch
	filter     stmt.Filter
	set        *stmt.Stretch // the assignments of an UPDATE; nil for a DELETE
	ignores    bool
	added      string // to the assignments
}

// tagColumn is the column of the gathered rows that contains the number of the shard.
const tagColumn = "locus_shard"

// selectHead begins the query for the keys.
const selectHead = "SELECT DISTINCT "

// selection returns how a change finds its rows in gathered ones, or nil if it can't.
func (sc *scope) selection(p *Change, s *stmt.Statement) *Selection {
	const never = stmt.With | stmt.Limited | stmt.Returning | stmt.SetsUserVariable | stmt.SetsInsertID | stmt.Volatile | stmt.UnknownFunction |
		stmt.NamedLock | stmt.ReadsNamedLock
	b := s.Blocks[0]
	if s.Features&never != 0 || len(p.agree) > 0 || s.References == nil || !b.HasFilter || b.Natural || len(b.Order) > 0 {
		return nil
	}
	target := sc.onlyTarget(s)
	if target == nil || !target.sharded() || target.ref.Partitioned || !sc.setsFrom(s, target) {
		return nil
	}
	at := slices.IndexFunc(target.table.Unique, func(u catalog.UniqueKey) bool { return u.Name == "PRIMARY" && !u.Partial })
	if _, taken := target.table.Column(tagColumn); at < 0 || taken {
		return nil
	}
	sel := &Selection{table: target.table, alias: target.ref.Alias, references: *s.References, filter: b.Filter, ignores: s.IgnoresErrors}
	for _, c := range target.table.Unique[at].Columns {
		column := &target.table.Columns[c]
		if !comparesAsLiteral(column.DataType) || !ascii(column.Name) {
			return nil
		}
		sel.key = append(sel.key, quote(column.Name))
	}
	if !ascii(target.table.Schema + target.table.Name + sel.alias) {
		return nil
	}
	if s.Kind == stmt.Update {
		sel.set = &stmt.Stretch{Start: s.SetStart, End: s.SetClause}
		for _, splice := range p.Added {
			sel.added += splice.Text
		}
	}
	for i := range sc.nodes {
		n := &sc.nodes[i]
		sel.ReadsTarget = sel.ReadsTarget || n != target && n.table == target.table
	}
	return sel
}

// comparesAsLiteral reports whether a value of the type, written as a literal, equals the column's value that it was read from.
func comparesAsLiteral(dataType string) bool {
	switch dataType {
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "char", "varchar", "binary", "varbinary", "date", "datetime":
		return true
	}
	return false
}

// onlyTarget returns the only table that a change changes, or nil if there are several.
func (sc *scope) onlyTarget(s *stmt.Statement) *node {
	var target *node
	list := sc.of(s.Blocks[0])
	for i := range list {
		if n := &list[i]; sc.changes(s, n) {
			if target != nil {
				return nil
			}
			target = n
		}
	}
	return target
}

// setsFrom reports whether all assignments compute with columns of the changed table alone, as they were before. Servers differ in
// whether a column that was assigned before has its new value.
func (sc *scope) setsFrom(s *stmt.Statement, target *node) bool {
	b := s.Blocks[0]
	for i, a := range s.Assign {
		if n, unknown := sc.within(b, a.Column); n != target || unknown || a.Queries {
			return false
		}
		for _, ref := range a.Reads {
			if n, unknown := sc.within(b, ref); n != target || unknown {
				return false
			}
			if slices.ContainsFunc(s.Assign[:i], func(before stmt.Assignment) bool { return strings.EqualFold(before.Column.Name, ref.Name) }) {
				return false
			}
		}
	}
	return true
}

// gather plans how the rows are found for a change that may not run on several shards by itself.
func (p *Change) gather(l *stmt.Lexed, ctx Context) error {
	if p.onlyOne == nil || p.Indexing != nil {
		return nil
	}
	sc, err := newScope(p.Statement, ctx)
	if err != nil {
		return err
	}
	sel := sc.selection(p, p.Statement)
	if sel == nil {
		return nil
	}
	read := sel.Lex(l)
	inner, err := stmt.Parse(read)
	if err != nil || inner.Kind != stmt.Select {
		return nil
	}
	g, refusal := planGather(read, inner, ctx)
	if refusal != nil {
		return nil
	}
	tagged := 0
	for i := range g.Tables {
		t := &g.Tables[i]
		t.Lock = " LOCK IN SHARE MODE"
		if t.TableName == sel.table.TableName && t.Alias == sel.alias && read.Offset(t.Start) < sel.outerEnd(l) {
			t.Lock, t.Tag, sel.target = " FOR UPDATE", tagColumn, t
			tagged++
		}
	}
	if tagged != 1 {
		return nil
	}
	g.Locks = true
	g.Partial = nil // groups don't show which rows they are of
	sel.Gather, p.Selection = g, sel
	return nil
}

// Spread returns the number of shards that may have rows to change. v contains the values of the query for the keys. Spread overwrites r.
// The error is a *Refusal.
func (sel *Selection) Spread(m *router.Map, v *Values, r *Route) (int, error) {
	err := sel.target.Rows.Locate(m, v, r)
	return len(r.Shards), err
}

// outerEnd returns where the table references end in the query for the keys.
func (sel *Selection) outerEnd(l *stmt.Lexed) int {
	return len(sel.head()) + l.Offset(sel.references.End) - l.Offset(sel.references.Start)
}

// head is the query for the keys up to its tables.
func (sel *Selection) head() string {
	fields := make([]string, len(sel.key))
	for i, column := range sel.key {
		fields[i] = quote(sel.alias) + "." + column
	}
	return selectHead + strings.Join(fields, ", ") + " FROM"
}

// pieces returns the parts of the statement's text that the query for the keys contains.
func (sel *Selection) pieces(l *stmt.Lexed) [][2]int {
	list := [][2]int{{l.Offset(sel.references.Start), l.Offset(sel.references.End)}}
	if sel.filter.There {
		list = append(list, [2]int{l.Offset(sel.filter.Open), l.Offset(sel.filter.Close)})
	}
	return list
}

// Lex returns the query for the primary keys of the rows, scanned.
func (sel *Selection) Lex(l *stmt.Lexed) *stmt.Lexed {
	text := []byte(sel.head())
	for i, at := range sel.pieces(l) {
		text = append(text, [2]string{"", " WHERE"}[i]...)
		text = append(append(text, l.Text[at[0]:at[1]]...), '\n') // a comment may end the piece
	}
	read := new(stmt.Lexed)
	read.Lex(text, l.Mode)
	return read
}

// Params returns the placeholders of the statement that the query for the keys contains, by their numbers.
func (sel *Selection) Params(l *stmt.Lexed) (numbers []int) {
	for _, at := range sel.pieces(l) {
		for _, literal := range l.Literals {
			if literal.Kind == stmt.ParamLiteral && int(literal.Start) >= at[0] && int(literal.End) <= at[1] {
				numbers = append(numbers, int(literal.Param))
			}
		}
	}
	return numbers
}

// TagEdit returns the edit of the query for the keys that adds the number of the shard as the first field.
func (sel *Selection) TagEdit() stmt.Edit {
	return stmt.Edit{From: len(selectHead), To: len(selectHead), Text: quote(sel.alias) + "." + quote(tagColumn) + ", "}
}

// Order returns the clause that puts the keys into their order, which has the number of the shard in front.
func (sel *Selection) Order() string {
	text := " ORDER BY 1"
	for i := range sel.key {
		text += ", " + strconv.Itoa(i+2)
	}
	return text
}

// Set returns where the assignments of an UPDATE are in its text. ok is false for a DELETE.
func (sel *Selection) Set(v *Values) (from, to int, ok bool) {
	if sel.set == nil {
		return 0, 0, false
	}
	return v.Offset(sel.set.Start), v.Offset(sel.set.End), true
}

// ByKeys returns the text of the change of the rows with these primary keys. A key is a list of literals. Without keys the change concerns
// no row. set is the text of the assignments of an UPDATE.
func (sel *Selection) ByKeys(set []byte, keys []string) []byte {
	table := quote(sel.table.Schema) + "." + quote(sel.table.Name)
	var text []byte
	if sel.set == nil {
		text = append(text, "DELETE FROM "+table...)
		if sel.ignores {
			text = append([]byte("DELETE IGNORE FROM "), table...)
		}
	} else {
		text = append(text, "UPDATE "...)
		if sel.ignores {
			text = append(text, "IGNORE "...)
		}
		text = append(text, table...)
		if sel.alias != sel.table.Name {
			text = append(text, " AS "+quote(sel.alias)...)
		}
		text = append(append(append(append(text, " SET"...), set...), '\n'), sel.added...)
	}
	if len(keys) == 0 {
		return append(text, " WHERE FALSE"...)
	}
	columns := strings.Join(sel.key, ", ")
	if len(sel.key) > 1 {
		columns = "(" + columns + ")"
	}
	return append(text, " WHERE "+columns+" IN ("+strings.Join(keys, ", ")+")"...)
}

// String names the columns by which the rows are changed.
func (sel *Selection) String() string {
	return strings.ReplaceAll(strings.Join(sel.key, ", "), "`", "")
}
