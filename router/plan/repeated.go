package plan

import (
	"fmt"
	"strings"

	"locus/router/stmt"
)

// Repeated is a common table expression that a gathered statement reads more than once. MySQL opens the temporary tables of its query
// for each read, and can't open one twice. So its rows are written into temporary tables of their own, one for each read.
type Repeated struct {
	Name   string // as written
	Schema string // of the temporary tables
	// NameEnd is behind the name. End is behind the closing parenthesis of the query.
	NameEnd, End stmt.Anchor
	Reads        []RepeatedRead

	merges bool
	exact  []bool // see stmt.CommonTable
}

// RepeatedRead is a place that reads a common table expression.
type RepeatedRead struct {
	Start, End stmt.Anchor
	Statement  bool // it is TABLE name
	Aliased    bool
}

// mostRepeated is the limit of the temporary tables for repeated common table expressions.
const mostRepeated = 16

// repeated returns the common table expressions that are read more than once. It returns nil if there are none, or if one of them
// can't be computed before the statement.
//
// A server reads the tables of a plain query in place of its rows. A field then has the collation rules of its expression, which a
// column of a temporary table does not have. Columns have the same rules, and so do numbers and dates.
func repeated(l *stmt.Lexed, places *stmt.Places, tables []Gathered) (out []Repeated) {
	schema := ""
	for i := range tables {
		if !tables[i].System {
			schema = tables[i].Schema
		}
	}
	reads := 0
	for i := range places.Common {
		c := &places.Common[i]
		if len(c.Reads) < 2 {
			continue
		}
		reads += len(c.Reads)
		varies := places.Statement.Features&(stmt.Volatile|stmt.OneServer|stmt.UnknownFunction) != 0
		if schema == "" || reads > mostRepeated || c.Merges && (c.Obstacle || varies || readsComputed(l, c, places.Common)) {
			return nil
		}
		r := Repeated{Name: c.Name, Schema: schema, NameEnd: c.NameEnd, End: c.End, merges: c.Merges, exact: c.Exact}
		for _, read := range c.Reads {
			aliased := !read.Statement && l.Aliased(l.Offset(read.End))
			r.Reads = append(r.Reads, RepeatedRead{read.Start, read.End, read.Statement, aliased})
		}
		out = append(out, r)
	}
	return out
}

// readsComputed reports whether a query reads fields that are not columns from another common table expression, which is not written
// into a temporary table itself.
func readsComputed(l *stmt.Lexed, c *stmt.CommonTable, all []stmt.CommonTable) bool {
	for i := range all {
		from := &all[i]
		if len(from.Reads) != 1 || !from.Merges {
			continue
		}
		at := l.Offset(from.Reads[0].Start)
		within := l.Offset(c.NameEnd) <= at && at < l.Offset(c.End)
		if within && (from.Obstacle || !allExact(from.Exact) || readsComputed(l, from, all[:i])) {
			return true
		}
	}
	return false
}

func allExact(exact []bool) bool {
	for _, e := range exact {
		if !e {
			return false
		}
	}
	return exact != nil
}

// Exact reports whether the n-th field has the collation rules of a column.
func (r *Repeated) Exact(n int) bool {
	return !r.merges || r.exact != nil && (len(r.exact) == 0 || n < len(r.exact) && r.exact[n])
}

// Temporary returns the full name, in SQL, of the temporary table for a read of the n-th repeated expression.
func (r *Repeated) Temporary(n, read int) string {
	return quote(r.Schema) + "." + quote(fmt.Sprintf("locus_repeated_%d_%d", n, read))
}

// Definition returns the text that replaces what is between the name and the end of a repeated expression. MySQL ignores a
// common table expression that nothing reads.
func (*Repeated) Definition() string { return " AS (SELECT 1)" }

// Replacement returns the text that replaces a read of the n-th repeated expression.
func (r *Repeated) Replacement(n, read int) string {
	at, table := r.Reads[read], " "+r.Temporary(n, read)
	if at.Statement {
		table = " SELECT * FROM" + table
	}
	if at.Aliased {
		return table + " "
	}
	return strings.Join([]string{table, "AS", r.Name, ""}, " ")
}
