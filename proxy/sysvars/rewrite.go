package sysvars

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"locus/router/stmt"
)

// Diagnoses reports whether a statement asks for the number of warnings or errors. Such a statement does not change the diagnostics.
func Diagnoses(st *stmt.Statement) bool {
	return slices.ContainsFunc(st.Owned, func(o stmt.Owned) bool {
		name, variable := strings.CutPrefix(o.Name, "@@")
		return variable && variables[name].diagnoses
	})
}

// Rewrite returns the text of a statement with the session's values in the places that ask for them. A column keeps the name that it would have
// had.
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

// replacement returns the SQL that replaces a place of a statement, or "" if the text stays. written is the text in that place.
func (a *Answers) replacement(st *stmt.Statement, l *stmt.Lexed, o stmt.Owned, written string) (sql string, err error) {
	if table, isTable := strings.CutPrefix(o.Name, "table "); isTable {
		f := a.flavor()
		lists := strings.HasPrefix(table, listings)
		if o.Statement && !f.HasTableStatement() || !lists && !f.HasStatusTable(table) && strings.Contains(strings.ToLower(written), "information_schema") {
			return "", nil // the shard returns the error
		}
		return a.table(st, table, o.Statement, !o.Statement && l.Aliased(o.End))
	}
	if sql = a.ownedValue(o); o.Name == "is_used_lock()" {
		sql = a.lockOwner(written)
	}
	switch {
	case sql == "", st.Kind == stmt.Set:
	case Tableless(st) && o.Name != "release_all_locks()" && !variables[strings.TrimPrefix(o.Name, "@@")].ours: // the statement calls no function with effects, and uses no variable that shards lack
		sql = typed(sql, o, written)
	default:
		sql = castNumber(sql)
	}
	return sql, nil
}

// table returns the SQL that replaces the name of a server's table about sessions, or of a table of the schema locus. With statement set, it
// replaces the whole statement TABLE name.
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

// rewriting is a text some parts of which are replaced.
type rewriting struct {
	values    *Values
	text, out []byte
	from      int // the first byte of text that is not in out yet
	replaced  []stmt.Owned
	fields    []stmt.Unnamed // the fields that end after the last replaced place
}

// replace writes sql in the place of o. Places must come in the order of the text.
func (w *rewriting) replace(o stmt.Owned, sql string) {
	w.out = append(append(w.out, w.text[w.from:o.Start]...), sql...)
	w.from, w.replaced = o.End, append(w.replaced, o)
}

// name adds aliases to the fields that end before a place, if a part of them was replaced. The alias is the field's original text.
func (w *rewriting) name(upTo int) {
	for ; len(w.fields) > 0 && w.fields[0].End <= upTo; w.fields = w.fields[1:] {
		f := w.fields[0]
		if slices.ContainsFunc(w.replaced, func(o stmt.Owned) bool { return f.Start <= o.Start && o.End <= f.End }) {
			w.out = append(w.out, w.text[w.from:f.End]...)
			w.out, w.from = w.values.AppendAlias(w.out, w.text[f.Start:f.End]), f.End
		}
	}
}

// Tableless reports whether a query reads no table, such as SELECT ROW_COUNT().
func Tableless(st *stmt.Statement) bool {
	return st.Kind == stmt.Select && !slices.ContainsFunc(st.Blocks, func(b *stmt.Block) bool { return len(b.Tables) > 0 })
}

// typed gives a value the type of the shard's own value.
func typed(sql string, o stmt.Owned, asked string) string {
	if strings.HasPrefix(o.Name, "@@") {
		asked = o.Name // the global value, because the shard may lack the variable in the requested scope
	}
	signed := o.Name == "row_count()" || o.Name == "found_rows()"
	if _, err := strconv.ParseUint(sql, 10, 64); err == nil && !signed {
		sql = "CAST(" + sql + " AS UNSIGNED)"
	}
	return "IF(TRUE, " + sql + ", " + asked + ")"
}

// castNumber wraps a number so that ORDER BY does not take it for the number of a field.
func castNumber(sql string) string {
	if _, err := strconv.ParseInt(sql, 10, 64); err != nil {
		return sql
	}
	return "CAST(" + sql + " AS SIGNED)"
}

// longestName is the longest alias, in bytes.
const longestName = 256

// AppendAlias appends an alias that names a field by its original text. The names of servers have no characters of four bytes. They have a
// question mark for each.
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

// withoutWide returns UTF-8 with a question mark in place of each character beyond the basic plane.
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
