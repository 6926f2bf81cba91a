package stmt

import (
	"regexp"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Own is the schema of the proxy's own tables, which no server has.
const Own = "locus"

const ownNames = "events jobs job_steps job_differences mirrors mirror_differences shards servers routes proxies sessions tables findings slow_statements statements"

// OwnTables are the tables in it.
var OwnTables = set(ownNames)

// ownShows are the SHOW statements that the proxy answers for its own schema.
var ownShows = map[ast.ShowStmtType]string{
	ast.ShowTables: "tables", ast.ShowTableStatus: "table status", ast.ShowColumns: "columns", ast.ShowCreateTable: "create table", ast.ShowIndex: "index",
}

// withinOwn reports whether names without a schema refer to the proxy's own tables.
func (l *Lexed) withinOwn() bool { return strings.EqualFold(l.Within, Own) }

// ownSchema returns the kind of object that a SHOW lists of the proxy's own schema. It also returns the table if the SHOW
// lists that table's columns.
func (r *reader) ownSchema(n *ast.ShowStmt) (what, table string) {
	schema := strings.ToLower(n.DBName)
	if n.Table != nil && n.Table.Schema.L != "" {
		schema = n.Table.Schema.L
	}
	shown := ownShows[n.Tp]
	switch {
	case shown == "", schema != Own && (schema != "" || !r.l.withinOwn()):
	case n.Table == nil:
		return shown, ""
	case OwnTables[n.Table.Name.L]:
		return shown, n.Table.Name.L
	}
	return showWords[n.Tp], ""
}

// Server tables about all sessions, or about variables. Their names in Owned have the prefix "table ".
var ownTables = set("processlist session_variables global_variables session_status global_status")

// listings are tables of information_schema that list objects. Programs that show databases read them. They are owned if
// the text names the proxy's own schema. Their names in Owned then begin with "table information_schema.".
var listings = set("tables columns")

var ownTable = regexp.MustCompile("(?i)(?:`(?:information|performance)_schema`|\\b(?:information|performance)_schema)[ \t\r\n]*\\.[ \t\r\n]*" +
	"(?:`(processlist|(?:session|global)_(?:variables|status))`|(processlist|(?:session|global)_(?:variables|status))\\b)")

var listingTable = regexp.MustCompile("(?i)(?:`information_schema`|\\binformation_schema)[ \t\r\n]*\\.[ \t\r\n]*(?:`(tables|columns)`|(tables|columns)\\b)")

var ownSchemaTable = func() *regexp.Regexp {
	either := strings.ReplaceAll(ownNames, " ", "|")
	return regexp.MustCompile("(?i)(?:`locus`|\\blocus)[ \t\r\n]*\\.[ \t\r\n]*(?:`(" + either + ")`|(" + either + ")\\b)")
}()

// ownTable records a table that the proxy answers.
func (r *reader) ownTable(n *ast.TableName) {
	switch schema := n.Schema.L; {
	case schema == Own || schema == "" && r.l.withinOwn():
		if OwnTables[n.Name.L] && (schema != "" || !slices.Contains(r.hidden, n.Name.L)) {
			r.owned++
			r.unqualified = r.unqualified || schema == ""
		}
	case schema == "information_schema" && listings[n.Name.L]:
		// A literal names the schema.
		r.out.Verbatim = r.out.Verbatim || slices.ContainsFunc(r.l.Literals, func(literal Literal) bool { return literal.Kind == StringLiteral })
		if r.namesOwn() {
			r.owned++
		}
	case ownTables[n.Name.L] && (schema == "information_schema" || schema == "performance_schema"):
		r.owned++
	}
}

// namesOwn reports whether the text names the proxy's own schema, or that is the current one.
func (r *reader) namesOwn() bool {
	return r.l.withinOwn() || slices.ContainsFunc(r.l.Literals, func(literal Literal) bool {
		return literal.Kind == StringLiteral && int(literal.End-literal.Start) == len(Own)+2 && strings.EqualFold(string(r.l.Text[literal.Start+1:literal.End-1]), Own)
	})
}

// hidesOwn records the common table expressions that have the name of one of the proxy's own tables. It refuses a statement that
// may name such a table as well, without its schema.
func (r *reader) hidesOwn(n *ast.WithClause) {
	for i, c := range n.CTEs {
		if !r.l.withinOwn() || !OwnTables[c.Name.L] {
			continue
		}
		before := n.CTEs[:i+1] // in these, the name refers to the proxy's table
		if n.IsRecursive {
			before = n.CTEs[:i]
		}
		if r.unqualified || slices.ContainsFunc(before, func(b *ast.CommonTableExpression) bool { return namesTable(b, c.Name.L) }) {
			r.fail("%s is a table of the schema %s and a common table expression: give the latter another name", c.Name.O, Own)
		}
		r.hidden = append(r.hidden, c.Name.L)
	}
}

// namesTable reports whether a node names a table without its schema.
func namesTable(node ast.Node, name string) bool {
	return slices.ContainsFunc(tableNames(node), func(t *ast.TableName) bool { return t.Schema.L == "" && t.Name.L == name })
}

// ownTables finds the places where such tables are read.
func (r *reader) ownTables() {
	text := r.l.readable()
	r.ownTablesOf(text, ownTable, "table ")
	r.ownTablesOf(text, ownSchemaTable, "table "+Own+".")
	if r.namesOwn() {
		r.ownTablesOf(text, listingTable, "table information_schema.")
	}
	if r.unqualified {
		r.unqualifiedTables()
	}
}

func (r *reader) ownTablesOf(text string, pattern *regexp.Regexp, prefix string) {
	for _, m := range pattern.FindAllStringSubmatchIndex(text, -1) {
		name := ""
		for _, group := range [][2]int{{m[2], m[3]}, {m[4], m[5]}} {
			if group[0] >= 0 {
				name = text[group[0]:group[1]]
			}
		}
		if !r.l.inLiteral(m[0]) {
			r.ownPlace(span{m[0], m[1]}, prefix+strings.ToLower(name))
		}
	}
}

// unqualifiedTables finds the proxy's own tables that are named without their schema.
func (r *reader) unqualifiedTables() {
	for _, at := range r.l.tableNames() {
		if name := strings.ToLower(strings.Trim(string(r.l.Text[at.start:at.end]), "`")); OwnTables[name] && !slices.Contains(r.hidden, name) {
			r.ownPlace(at, "table "+Own+"."+name)
		}
	}
}

func (r *reader) ownPlace(at span, name string) {
	start, statement := r.l.tableStatement(at.start)
	r.out.Owned = append(r.out.Owned, Owned{Start: start, End: at.end, Name: name, Statement: statement})
}
