package session

import (
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/gather"
	"locus/proxy/trace"
	"locus/router/plan"
	"locus/router/stmt"
)

// table makes the n-th temporary table and reads its rows.
func (g *gathering) table(n int, t *plan.Gathered) error {
	defer g.timing.trace.Enter(trace.Table, t.Alias)()
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
	into := &gather.Table{Conn: g.at.Conn, Name: name, Columns: columns, Left: &g.left}
	return g.read(t.Read(selected, filters), into)
}

// columns asks the shard which columns a table has, and keeps those that are
// needed; of none, the first.
func (g *gathering) columns(t *plan.Gathered) ([]gather.Column, error) {
	rows, err := g.ask(t, "SELECT * FROM "+t.Quoted()+" LIMIT 0")
	if err != nil {
		return nil, err
	}
	var out []gather.Column
	for _, d := range rows.Columns {
		if g.vars.Foreign && !isASCII(string(d.Name)) {
			return nil, &plan.Refusal{Code: plan.ScatterShape, Message: "gathering a column whose name is not ASCII for a client whose character set is not UTF-8: use SET NAMES utf8mb4"}
		}
		if !t.All && !t.Names[strings.ToLower(string(d.Name))] {
			continue
		}
		c, err := gather.Of(d)
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	if len(out) == 0 && len(rows.Columns) > 0 {
		c, err := gather.Of(rows.Columns[0])
		return []gather.Column{c}, err
	}
	return out, nil
}

func isASCII(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return r >= 0x80 }) < 0
}

// create makes a temporary table with the very columns of a table. With its
// primary key too, on which it depends what GROUP BY may leave out, and which
// joins want.
func (g *gathering) create(name string, t *plan.Gathered, columns []gather.Column) error {
	names := make([]string, len(columns))
	for i, c := range columns {
		names[i] = gather.Quote(c.Name)
	}
	key := ""
	if k, err := g.primaryKey(t, columns); err != nil {
		return err
	} else if k != nil {
		key = " (PRIMARY KEY (" + strings.Join(k, ", ") + "))"
	}
	sql := "CREATE TEMPORARY TABLE " + name + key + " ENGINE = InnoDB AS SELECT " + strings.Join(names, ", ") + " FROM " + t.Quoted() + " LIMIT 0"
	if t.From != "" && t.From != g.at.Shard {
		defined, err := g.defined(t, columns)
		if err != nil {
			return err
		}
		if key != "" {
			defined = append(defined, strings.Trim(key, " ()")+")")
		}
		sql = "CREATE TEMPORARY TABLE " + name + " (" + strings.Join(defined, ", ") + ") ENGINE = InnoDB"
	}
	g.made = append(g.made, name)
	_, err := g.at.Conn.Own().Exec(g.ctx, sql)
	return err
}

// ask asks a question about a table where it is.
func (g *gathering) ask(t *plan.Gathered, sql string) (*backend.Rows, error) {
	if t.From == "" || t.From == g.at.Shard {
		return g.at.Conn.Own().Query(g.ctx, sql)
	}
	return g.askApart(t.From, g.settings(), sql)
}

// defined writes the definitions of columns of a table that is on another shard.
func (g *gathering) defined(t *plan.Gathered, columns []gather.Column) ([]string, error) {
	rows, err := g.ask(t, "SHOW FULL COLUMNS FROM "+t.Quoted())
	if err != nil {
		return nil, err
	}
	var out []string
	for _, row := range rows.Rows {
		if len(row) < 4 || !slices.ContainsFunc(columns, func(c gather.Column) bool { return c.Name == string(row[0]) }) {
			continue
		}
		text := gather.Quote(string(row[0])) + " " + string(row[1])
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
func (g *gathering) primaryKey(t *plan.Gathered, columns []gather.Column) ([]string, error) {
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
	rows, err := g.ask(t, "SHOW KEYS FROM "+t.Quoted()+" WHERE Key_name = 'PRIMARY'")
	if err != nil {
		return nil, err
	}
	return gather.PrimaryKey(columns, len(rows.Rows)), nil
}

// filters are the conditions on a table. One with a value that would not compare
// as a literal as it does bound is left out: the statement has it anyway.
func (g *gathering) filters(t *plan.Gathered) ([]string, error) {
	var out []string
	for _, f := range t.Filters {
		text, ok, err := g.piece(f)
		if err != nil {
			return nil, err
		}
		if ok {
			out = append(out, text)
		}
	}
	return out, nil
}

// piece gives a condition with the values of its placeholders.
func (g *gathering) piece(f plan.Filter) (string, bool, error) {
	text, ok, err := g.literally(g.lex.Offset(f.Start), g.lex.Offset(f.End), []plan.Filter{f})
	return text + "\n", ok, err
}

// literally gives a piece of the text with the values of its placeholders, which must
// all stand within conditions that take them.
func (g *gathering) literally(from, to int, within []plan.Filter) (string, bool, error) {
	var out []byte
	for _, literal := range g.lex.Literals {
		if literal.Kind != stmt.ParamLiteral || int(literal.Start) < from || int(literal.End) > to {
			continue
		}
		p := g.params[literal.Param]
		if !slices.ContainsFunc(within, func(f plan.Filter) bool {
			return g.lex.Offset(f.Start) <= int(literal.Start) && int(literal.End) <= g.lex.Offset(f.End) && mayBeLiteral(f, boundValue(p))
		}) {
			return "", false, nil
		}
		value, err := g.spelled(p)
		if err != nil {
			return "", false, err
		}
		out = append(append(out, g.lex.Text[from:literal.Start]...), value...)
		from = int(literal.End)
	}
	return string(append(out, g.lex.Text[from:to]...)), true, nil
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
