package exec

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"locus/proxy/backend"
	"locus/proxy/gather"
	"locus/proxy/trace"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// table creates the n-th temporary table and fills it with its rows.
func (g *gathering) table(n int, t *plan.Gathered) error {
	defer g.x.Observer.Trace().Enter(trace.Table, t.Alias)()
	columns, err := g.columns(t)
	if err != nil {
		return err
	}
	name := t.Temporary(n)
	if err := g.create(name, t, columns); err != nil {
		return err
	}
	selected := make([]string, len(columns))
	for i, c := range columns {
		selected[i] = c.Selected(plan.Quote(t.Alias))
	}
	if t.Tag != "" {
		columns = append(columns, gather.Number(t.Tag))
	}
	filters, err := g.filters(t)
	if err != nil {
		return err
	}
	into := &gather.Table{Conn: g.on.lease.Conn, Name: name, Columns: columns, Left: &g.left}
	keys, few, err := g.keysFor(t)
	if err != nil {
		return err
	}
	switch {
	case !few:
		return g.readRows(t, selected, filters, into)
	case len(keys) == 0:
		return nil
	}
	restricted, condition := t.By(keys)
	before := g.left.Rows
	err = g.readRows(&restricted, selected, append(filters, condition), into)
	g.byKey += before - g.left.Rows
	return err
}

// readRows reads the rows of a table that satisfy the conditions.
func (g *gathering) readRows(t *plan.Gathered, columns, conditions []string, into *gather.Table) error {
	var route plan.Route
	queries, err := t.Queries(g.x.Snapshot.Map, g.x.Values, &route, g.anyShard(), columns, conditions)
	if err != nil {
		return err
	}
	return g.read(queries, into)
}

// mostKeys is the number of keys up to which rows are read by key. With more, all rows are read.
const mostKeys = 2000

// measure determines whether a table that the shard has is small enough to be gathered as the source of keys. If not, or if that is
// not known, the table is read in place. The conditions have their meaning under the settings of the statement.
func (g *gathering) measure(t *plan.Gathered) error {
	filters, err := g.filters(t)
	if err != nil {
		return err
	}
	if err := g.on.lease.Conn.Carry(g.x.Context, g.x.under()); err != nil {
		return err
	}
	rows, err := g.on.lease.Conn.Own().Query(g.x.Context, t.Count(filters, mostKeys+1))
	if err != nil && !txn.IsRefusal(err) {
		return err
	}
	n := mostKeys + 1
	if err == nil && len(rows.Rows) == 1 {
		n, err = strconv.Atoi(string(rows.Rows[0][0]))
	}
	if err != nil || n > mostKeys {
		if g.large == nil {
			g.large = map[*plan.Gathered]bool{}
		}
		g.large[t] = true
	}
	return g.on.lease.Conn.Carry(g.x.Context, g.on.plain())
}

// keysFor returns the keys by which rows of a table are read. few is false if they are not read by key.
func (g *gathering) keysFor(t *plan.Gathered) (keys []stmt.Value, few bool, err error) {
	if t.ByKey == nil || g.inPlace(&g.plan.Tables[t.ByKey.Table]) {
		return nil, false, nil
	}
	rows, err := g.on.lease.Conn.Own().Query(g.x.Context, g.plan.Values(t.ByKey.Table, t.ByKey.Of, mostKeys+1))
	if err != nil || len(rows.Rows) > mostKeys {
		return nil, false, err
	}
	for _, row := range rows.Rows {
		key, ok := stmt.Value{Kind: stmt.String, Text: row[0]}.Integer()
		if !ok {
			return nil, false, fmt.Errorf("a key of column %s: %q", t.ByKey.Of, row[0])
		}
		keys = append(keys, key)
	}
	return keys, true, nil
}

// columns returns the columns of a table that the statement needs, as the shard describes them. If it needs none, columns returns
// the first.
func (g *gathering) columns(t *plan.Gathered) ([]gather.Column, error) {
	rows, err := g.query(t, "SELECT * FROM "+t.Quoted()+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	var wanted []wire.Column
	for _, d := range rows.Columns {
		if g.x.Vars.Foreign && bytes.ContainsFunc(d.Name, notASCII) {
			return nil, &plan.Refusal{Code: plan.ScatterShape, Message: "gathering a column whose name is not ASCII for a client whose character set is not UTF-8: use SET NAMES utf8mb4"}
		}
		if t.All && g.shown(t, string(d.Name)) || t.Names[strings.ToLower(string(d.Name))] {
			wanted = append(wanted, d)
		}
	}
	if wanted == nil {
		wanted = rows.Columns[:min(1, len(rows.Columns))]
	}
	return gather.OfAll(wanted)
}

// shown reports whether every shard has a column of a declared table and shows it, as far as is known. A process may be adding the
// column to one shard after the other.
func (g *gathering) shown(t *plan.Gathered, column string) bool {
	table, err := g.x.Snapshot.Catalog.Find(t.TableName)
	if err != nil || table == nil || len(table.Columns) == 0 {
		return true
	}
	at, has := table.Column(column)
	return has && !table.Columns[at].Invisible
}

func notASCII(r rune) bool { return r >= utf8.RuneSelf }

// create creates a temporary table with exactly the types of a table's columns. It also has the primary key, because joins use it
// and because it determines which columns GROUP BY may omit. It has indexes on the other columns by which joins look up rows.
func (g *gathering) create(name string, t *plan.Gathered, columns []gather.Column) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = plan.Quote(c.Name)
	}
	keys, err := g.keyDefinitions(t, columns)
	if err != nil {
		return err
	}
	key := ""
	if keys != nil {
		key = " (" + strings.Join(keys, ", ") + ")"
	}
	if t.Tag != "" {
		names = append(names, "0 AS "+plan.Quote(t.Tag))
	}
	sql := "CREATE TEMPORARY TABLE " + name + key + " ENGINE = InnoDB AS SELECT " + strings.Join(names, ", ") + " FROM " + t.Quoted() + " LIMIT 0"
	if t.From != "" && t.From != g.on.lease.Shard {
		defined, err := g.columnDefinitions(t, columns)
		if err != nil {
			return err
		}
		sql = "CREATE TEMPORARY TABLE " + name + " (" + strings.Join(append(defined, keys...), ", ") + ") ENGINE = InnoDB"
	}
	return g.on.create(name, sql)
}

// keyDefinitions returns the definitions of the temporary table's keys.
func (g *gathering) keyDefinitions(t *plan.Gathered, columns []gather.Column) (keys []string, err error) {
	primary, err := g.primaryKey(t, columns)
	if err != nil {
		return nil, err
	}
	if primary != nil {
		keys = append(keys, "PRIMARY KEY ("+strings.Join(primary, ", ")+")")
	}
	for _, c := range columns {
		quoted := plan.Quote(c.Name)
		if slices.Contains(t.Indexed, strings.ToLower(c.Name)) && (primary == nil || primary[0] != quoted) {
			keys = append(keys, "KEY ("+quoted+")")
		}
	}
	return keys, nil
}

// query sends a query about a table to the shard that has it.
func (g *gathering) query(t *plan.Gathered, sql string) (*backend.Rows, error) {
	if t.From == "" || t.From == g.on.lease.Shard {
		return g.on.lease.Conn.Own().Query(g.x.Context, sql)
	}
	return g.x.ask(t.From, 0, g.on.plain(), sql)
}

// columnDefinitions returns the definitions of columns of a table that is on another shard.
func (g *gathering) columnDefinitions(t *plan.Gathered, columns []gather.Column) ([]string, error) {
	rows, err := g.query(t, "SHOW FULL COLUMNS FROM "+t.Quoted())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, row := range rows.Rows {
		if len(row) < 4 || !slices.ContainsFunc(columns, func(c gather.Column) bool { return c.Name == string(row[0]) }) {
			continue
		}
		text := plan.Quote(string(row[0])) + " " + string(row[1])
		if row[2] != nil {
			text += " COLLATE " + string(row[2])
		}
		if string(row[3]) == "NO" {
			text += " NOT"
		}
		out = append(out, text+" NULL")
	}
	return out, nil
}

// primaryKey returns the columns of a table's primary key. It returns nil if not all of them are gathered, or if the key is not
// unique over the rows of all shards.
func (g *gathering) primaryKey(t *plan.Gathered, columns []gather.Column) ([]string, error) {
	unique := t.Unique
	parts := 0
	for _, c := range columns {
		if c.Key {
			parts++
			unique = unique || slices.Contains(t.Keys, strings.ToLower(c.Name))
		}
	}
	if !unique || parts == 0 {
		return nil, nil
	}
	length, known := g.primaryKeyLength(t)
	if !known {
		rows, err := g.query(t, "SHOW KEYS FROM "+t.Quoted()+" WHERE Key_name = 'PRIMARY'")
		if err != nil {
			return nil, err
		}
		length = len(rows.Rows)
	}
	return gather.PrimaryKey(columns, length), nil
}

// primaryKeyLength returns the number of columns of a declared table's primary key. It doesn't ask the server, because a server
// omits tables that are being altered from its answer to a session that has locks.
func (g *gathering) primaryKeyLength(t *plan.Gathered) (n int, known bool) {
	table, err := g.x.Snapshot.Catalog.Find(t.TableName)
	if err != nil || table == nil {
		return 0, false
	}
	for _, u := range table.Unique {
		if u.Name == "PRIMARY" {
			return len(u.Columns), !u.Partial
		}
	}
	return 0, false
}

// filters returns the conditions on a table. It omits a condition with a value that compares differently as a literal than as a
// bound parameter. The statement applies that condition anyway.
func (g *gathering) filters(t *plan.Gathered) ([]string, error) {
	var out []string
	for _, f := range t.Filters {
		piece := g.edit(f.Start, f.End, "")
		edits, ok, err := g.literally(piece, []plan.Filter{f})
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, string(stmt.AppendPiece(nil, g.x.Values.Text, piece.From, piece.To, edits))+"\n")
		}
	}
	return out, nil
}

// literally returns the edits that write literals in place of the placeholders of a piece of the text. It returns false if a
// placeholder is not within a condition that allows that.
func (g *gathering) literally(piece stmt.Edit, within []plan.Filter) (edits []stmt.Edit, ok bool, err error) {
	for _, literal := range g.x.Values.Literals {
		if literal.Kind != stmt.ParamLiteral || !piece.Covers(literal) {
			continue
		}
		p := g.x.Params[literal.Param]
		if !slices.ContainsFunc(within, func(f plan.Filter) bool {
			return g.edit(f.Start, f.End, "").Covers(literal) && mayBeLiteral(f, Value(p))
		}) {
			return nil, false, nil
		}
		value, err := literalOf(p, &g.x.Vars.Values)
		if err != nil {
			return nil, false, err
		}
		edits = append(edits, stmt.Edit{From: int(literal.Start), To: int(literal.End), Text: string(value)})
	}
	return edits, true, nil
}

// mayBeLiteral reports whether a condition has the same meaning with a value in its text. A literal NULL has no type, so MySQL
// then compares values as doubles that it compares as integers if NULL is bound. An example is id NOT BETWEEN
// 4279409206466969662 AND NULL.
func mayBeLiteral(f plan.Filter, v stmt.Value) bool {
	switch v.Kind {
	case stmt.Int, stmt.Uint:
		return f.Numbers
	case stmt.String:
		return f.Texts
	default:
		return false
	}
}
