package exec

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"

	"locus/proxy/backend"
	"locus/proxy/gather"
	"locus/proxy/trace"
	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// table makes the n-th temporary table and reads its rows.
func (g *Gathering) table(n int, t *plan.Gathered) error {
	defer g.Observer.Trace().Enter(trace.Table, t.Alias)()
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
	filters, err := g.filters(t)
	if err != nil {
		return err
	}
	into := &gather.Table{Conn: g.At.Conn, Name: name, Columns: columns, Left: &g.left}
	return g.read(t.Read(selected, filters), into)
}

// columns asks the shard which columns a table has, and keeps those that are
// needed; of none, the first.
func (g *Gathering) columns(t *plan.Gathered) ([]gather.Column, error) {
	rows, err := g.askOf(t, "SELECT * FROM "+t.Quoted()+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	var wanted []wire.Column
	for _, d := range rows.Columns {
		if g.Vars.Foreign && bytes.ContainsFunc(d.Name, notASCII) {
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

// shown tells whether every shard has a column of a declared table, as far as is known, and shows it. Somebody may be adding one
// on one shard after the other.
func (g *Gathering) shown(t *plan.Gathered, column string) bool {
	table, err := g.Catalog.Find(t.TableName)
	if err != nil || table == nil || len(table.Columns) == 0 {
		return true
	}
	at, has := table.Column(column)
	return has && !table.Columns[at].Invisible
}

func notASCII(r rune) bool { return r >= utf8.RuneSelf }

// create makes a temporary table with the very columns of a table. With its
// primary key too, on which it depends what GROUP BY may leave out, and which
// joins want; and with indexes on other columns by which joins look rows up.
func (g *Gathering) create(name string, t *plan.Gathered, columns []gather.Column) error {
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
	sql := "CREATE TEMPORARY TABLE " + name + key + " ENGINE = InnoDB AS SELECT " + strings.Join(names, ", ") + " FROM " + t.Quoted() + " LIMIT 0"
	if t.From != "" && t.From != g.At.Shard {
		defined, err := g.defined(t, columns)
		if err != nil {
			return err
		}
		sql = "CREATE TEMPORARY TABLE " + name + " (" + strings.Join(append(defined, keys...), ", ") + ") ENGINE = InnoDB"
	}
	return g.Make(name, sql)
}

// keyDefinitions are those of its keys.
func (g *Gathering) keyDefinitions(t *plan.Gathered, columns []gather.Column) (keys []string, err error) {
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

// askOf asks a question about a table where it is.
func (g *Gathering) askOf(t *plan.Gathered, sql string) (*backend.Rows, error) {
	if t.From == "" || t.From == g.At.Shard {
		return g.At.Conn.Own().Query(g.Context, sql)
	}
	return g.Ask(t.From, g.plain(), sql)
}

// defined writes the definitions of columns of a table that is on another shard.
func (g *Gathering) defined(t *plan.Gathered, columns []gather.Column) ([]string, error) {
	rows, err := g.askOf(t, "SHOW FULL COLUMNS FROM "+t.Quoted())
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

// primaryKey gives the columns of a table's primary key, if all of them are
// gathered and it holds for rows of all shards.
func (g *Gathering) primaryKey(t *plan.Gathered, columns []gather.Column) ([]string, error) {
	holds := t.Unique
	parts := 0
	for _, c := range columns {
		if c.Key {
			parts++
			holds = holds || slices.Contains(t.Keys, strings.ToLower(c.Name))
		}
	}
	if !holds || parts == 0 {
		return nil, nil
	}
	length, known := g.primaryKeyLength(t)
	if !known {
		rows, err := g.askOf(t, "SHOW KEYS FROM "+t.Quoted()+" WHERE Key_name = 'PRIMARY'")
		if err != nil {
			return nil, err
		}
		length = len(rows.Rows)
	}
	return gather.PrimaryKey(columns, length), nil
}

// primaryKeyLength is of how many columns a declared table's primary key is. The server is not asked for it: one that has locks says
// nothing of tables that are just being altered.
func (g *Gathering) primaryKeyLength(t *plan.Gathered) (n int, known bool) {
	table, err := g.Catalog.Find(t.TableName)
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

// filters are the conditions on a table. One with a value that would not compare
// as a literal as it does bound is left out: the statement has it anyway.
func (g *Gathering) filters(t *plan.Gathered) ([]string, error) {
	var out []string
	for _, f := range t.Filters {
		text, ok, err := g.literally(g.edit(f.Start, f.End, ""), []plan.Filter{f})
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, text+"\n")
		}
	}
	return out, nil
}

// literally gives a piece of the text with the values of its placeholders, which must
// all stand within conditions that take them.
func (g *Gathering) literally(piece stmt.Edit, within []plan.Filter) (string, bool, error) {
	var out []byte
	from := piece.From
	for _, literal := range g.Values.Literals {
		if literal.Kind != stmt.ParamLiteral || !piece.Covers(literal) {
			continue
		}
		p := g.Params[literal.Param]
		if !slices.ContainsFunc(within, func(f plan.Filter) bool {
			return g.edit(f.Start, f.End, "").Covers(literal) && mayBeLiteral(f, Value(p))
		}) {
			return "", false, nil
		}
		value, err := Literal(p, &g.Vars.Values)
		if err != nil {
			return "", false, err
		}
		out = append(append(out, g.Values.Text[from:literal.Start]...), value...)
		from = int(literal.End)
	}
	return string(append(out, g.Values.Text[from:piece.To]...)), true, nil
}

// mayBeLiteral tells whether a condition says the same with a value in its text. NULL
// has no type there: MySQL compares by doubles then what it compares by integers where
// NULL is bound, as in id NOT BETWEEN 4279409206466969662 AND NULL.
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
