package sysvars

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"locus/router/stmt"
)

// Diagnoses tells a statement that asks for the number of warnings, which leaves them as they are.
func Diagnoses(st *stmt.Statement) bool {
	return slices.ContainsFunc(st.Owned, func(o stmt.Owned) bool {
		name, variable := strings.CutPrefix(o.Name, "@@")
		return variable && variables[name].diagnoses
	})
}

// Rewrite writes what the session knows into a statement's text, as values in the places that ask for it. A column keeps the name
// that it would have had.
func (a *Answers) Rewrite(st *stmt.Statement, l *stmt.Lexed) ([]byte, error) {
	w := rewriting{values: &a.Values, text: l.Text, fields: st.Unnamed}
	for _, o := range st.Owned {
		w.name(o.Start)
		sql, err := a.replacement(st, l, o, string(l.Text[o.Start:o.End]))
		if err != nil {
			return nil, err
		}
		if sql != "" {
			w.replace(o, sql)
		}
	}
	w.name(len(w.text))
	return append(w.out, w.text[w.from:]...), nil
}

// replacement gives what stands in one place of a statement, in place of what is written there; empty: that stays.
func (a *Answers) replacement(st *stmt.Statement, l *stmt.Lexed, o stmt.Owned, written string) (sql string, err error) {
	if table, isTable := strings.CutPrefix(o.Name, "table "); isTable {
		f := a.flavor()
		lists := strings.HasPrefix(table, listings)
		if o.Statement && !f.HasTableStatement() || !lists && !f.HasStatusTable(table) && strings.Contains(strings.ToLower(written), "information_schema") {
			return "", nil // the shard says so
		}
		return a.table(st, table, o.Statement, !o.Statement && l.Aliased(o.End))
	}
	if sql = a.of(o); o.Name == "is_used_lock()" {
		sql = a.holder(written)
	}
	switch {
	case sql == "", st.Kind == stmt.Set:
	case Tableless(st) && o.Name != "release_all_locks()" && !variables[strings.TrimPrefix(o.Name, "@@")].ours: // whose asking has effects, or that no shard has
		sql = typed(sql, o, written)
	default:
		sql = ownNumber(sql)
	}
	return sql, nil
}

// table gives what stands for one of the servers' tables that speak of sessions, or of the schema locus: in place of its name, or
// of the whole statement TABLE name.
func (a *Answers) table(st *stmt.Statement, name string, statement, aliased bool) (sql string, err error) {
	switch own, isOwn := strings.CutPrefix(name, stmt.Own+"."); {
	case isOwn:
		if sql, err = a.virtualTable(own, st); err != nil {
			return "", err
		}
	case strings.HasPrefix(name, listings):
		if sql, err = a.listing(strings.ToUpper(strings.TrimPrefix(name, listings))); err != nil {
			return "", err
		}
	case name == "processlist":
		sql = "(SELECT ID, USER, HOST, DB, COMMAND, TIME, STATE, INFO FROM " + a.processTable("information_schema.PROCESSLIST") + " AS sessions)"
	default:
		sql = a.variableTable(name, "VARIABLE_NAME", "VARIABLE_VALUE")
	}
	if statement {
		sql = "SELECT * FROM " + sql
	}
	if !aliased {
		sql += " AS `" + name[strings.IndexByte(name, '.')+1:] + "`"
	}
	return sql, nil
}

// rewriting is a text with other words in some places.
type rewriting struct {
	values    *Values
	text, out []byte
	from      int // what of text is not in out yet
	replaced  []stmt.Owned
	fields    []stmt.Unnamed // that end behind what was looked at
}

func (w *rewriting) replace(o stmt.Owned, sql string) {
	w.out = append(append(w.out, w.text[w.from:o.Start]...), sql...)
	w.from, w.replaced = o.End, append(w.replaced, o)
}

// name names the fields up to a place by the texts that they had, if something was replaced in them.
func (w *rewriting) name(upTo int) {
	for ; len(w.fields) > 0 && w.fields[0].End <= upTo; w.fields = w.fields[1:] {
		f := w.fields[0]
		if slices.ContainsFunc(w.replaced, func(o stmt.Owned) bool { return f.Start <= o.Start && o.End <= f.End }) {
			w.out = append(w.out, w.text[w.from:f.End]...)
			w.out, w.from = w.values.AppendAlias(w.out, w.text[f.Start:f.End]), f.End
		}
	}
}

// Tableless tells a query of no rows, such as SELECT ROW_COUNT().
func Tableless(st *stmt.Statement) bool {
	return st.Kind == stmt.Select && !slices.ContainsFunc(st.Blocks, func(b *stmt.Block) bool { return len(b.Tables) > 0 })
}

// typed gives a value the type that the shard's own, which was asked for, has.
func typed(sql string, o stmt.Owned, asked string) string {
	if strings.HasPrefix(o.Name, "@@") {
		asked = o.Name // in whatever scope the shard has it
	}
	signed := o.Name == "row_count()" || o.Name == "found_rows()"
	if _, err := strconv.ParseUint(sql, 10, 64); err == nil && !signed {
		sql = "CAST(" + sql + " AS UNSIGNED)"
	}
	return "IF(TRUE, " + sql + ", " + asked + ")"
}

// ownNumber makes a number one that ORDER BY doesn't take for a field's.
func ownNumber(sql string) string {
	if _, err := strconv.ParseInt(sql, 10, 64); err != nil {
		return sql
	}
	return "CAST(" + sql + " AS SIGNED)"
}

// longestName is that of an alias, in characters.
const longestName = 256

// AppendAlias names a field by the text that it had. Servers' names have no characters of four bytes: they show a question mark
// for each.
func (v *Values) AppendAlias(out, name []byte) []byte {
	if len(name) > longestName {
		return out
	}
	if v.QuotesUTF8() {
		name = withoutWide(name)
	}
	return appendAlias(out, name)
}

func appendAlias(out, name []byte) []byte {
	out = append(out, " AS `"...)
	out = append(out, bytes.ReplaceAll(name, []byte("`"), []byte("``"))...)
	return append(out, '`')
}

// withoutWide is UTF-8 with question marks for what lies beyond the basic plane.
func withoutWide(text []byte) []byte {
	const leadsFour = 0xf0
	if !slices.ContainsFunc(text, func(b byte) bool { return b >= leadsFour }) {
		return text
	}
	return bytes.Map(func(r rune) rune {
		if r > 0xffff {
			return '?'
		}
		return r
	}, text)
}
