package stmt

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Shown is a SHOW about the session or about all sessions.
type Shown struct {
	What   string // "variables", "status", "processlist", "grants", "warnings", "errors", "tables", "columns", "create table"
	Table  string // for SHOW COLUMNS and SHOW CREATE TABLE
	Global bool
	Full   bool
	Count  bool   // SHOW COUNT(*) WARNINGS
	Clause string // LIKE …, WHERE … or LIMIT …, as written
}

var showWords = map[ast.ShowStmtType]string{
	ast.ShowVariables: "variables", ast.ShowStatus: "status", ast.ShowProcessList: "processlist",
	ast.ShowGrants: "grants", ast.ShowWarnings: "warnings", ast.ShowErrors: "errors",
}

// showable are the permitted kinds of SHOW: contents of databases, state of the session, and built-in properties of the
// server. Its logs, accounts and replication aren't included.
var showable = map[ast.ShowStmtType]bool{
	ast.ShowEngines: true, ast.ShowDatabases: true, ast.ShowTables: true, ast.ShowTableStatus: true, ast.ShowColumns: true,
	ast.ShowWarnings: true, ast.ShowCharset: true, ast.ShowVariables: true, ast.ShowStatus: true, ast.ShowCollation: true,
	ast.ShowCreateTable: true, ast.ShowCreateView: true, ast.ShowCreateSequence: true, ast.ShowGrants: true, ast.ShowTriggers: true,
	ast.ShowProcedureStatus: true, ast.ShowFunctionStatus: true, ast.ShowIndex: true, ast.ShowProcessList: true,
	ast.ShowCreateDatabase: true, ast.ShowEvents: true, ast.ShowPlugins: true, ast.ShowProfile: true, ast.ShowProfiles: true,
	ast.ShowPrivileges: true, ast.ShowErrors: true, ast.ShowOpenTables: true, ast.ShowCreateProcedure: true,
}

// builtIn are the kinds of SHOW with equal results on all servers of one version, regardless of their contents.
var builtIn = map[ast.ShowStmtType]bool{
	ast.ShowEngines: true, ast.ShowCharset: true, ast.ShowCollation: true, ast.ShowPlugins: true, ast.ShowPrivileges: true,
}

func (r *reader) show(n *ast.ShowStmt) {
	r.out.Kind, r.out.Schema = Show, n.DBName
	r.out.Listed = r.lists(n)
	r.out.BuiltIn = builtIn[n.Tp]
	what, table := r.ownSchema(n)
	if !showable[n.Tp] || what == "grants" && n.User != nil && !n.User.CurrentUser {
		r.out.Kind = Admin
		r.out.Replicates = n.Tp == ast.ShowMasterStatus || n.Tp == ast.ShowBinlogStatus || n.Tp == ast.ShowReplicaStatus
		return
	}
	switch what {
	case "":
		return
	case "warnings", "errors":
		r.out.Kind = ShowWarnings
	}
	shown := &Shown{What: what, Table: table, Global: n.GlobalScope, Full: n.Full, Count: n.CountWarningsOrErrors}
	if at := r.l.clause(0, "like", "where", "limit"); at >= 0 {
		shown.Clause = string(r.l.Text[at:r.l.end()])
	}
	r.out.Shown, r.out.Verbatim = shown, true
}

// shownLimit returns the position of LIMIT in SHOW WARNINGS or SHOW ERRORS, or -1.
func (l *Lexed) shownLimit() int32 {
	scan := tokens{l: l}
	for _, words := range [][]string{{"show"}, {"warnings", "errors"}, {"limit"}} {
		t, ok := scan.next()
		if !ok || !slices.ContainsFunc(words, func(word string) bool { return l.is(t, word) }) {
			return -1
		}
		if words[0] == "limit" {
			return int32(t.start)
		}
	}
	return -1
}

// inLiteral reports whether a position is within a literal.
func (l *Lexed) inLiteral(at int) bool {
	for _, literal := range l.Literals {
		if int(literal.Start) <= at && at < int(literal.End) {
			return true
		}
	}
	return false
}

// Qualifiers returns the positions of a schema's name with its point, before a table's name, in column names.
func (l *Lexed) Qualifiers(schema, table string) (found []Stretch) {
	list := l.pieces()
	is := func(p piece, name string) bool {
		return (p.kind == 'w' || p.kind == '`') && strings.EqualFold(Unquoted(l.Text[p.start:p.end]), name)
	}
	for i := 0; i+4 < len(list); i++ {
		if is(list[i], schema) && list[i+1].kind == '.' && is(list[i+2], table) && list[i+3].kind == '.' && (i == 0 || list[i-1].kind != '.') {
			found = append(found, Stretch{l.Anchor(list[i].start), l.Anchor(list[i+2].start)})
		}
	}
	return found
}

// Aliased reports whether an alias follows a table's name that ends at offset end.
func (l *Lexed) Aliased(end int) bool {
	at := l.behindBlanks(end)
	switch {
	case at >= len(l.Text):
		return false
	case l.Mode.names(l.Text[at]):
		return true
	case !inName(l.Text[at]):
		return false
	}
	word, _ := nameAt(l.Text, at)
	return !afterTable[word]
}

var afterTable = set(strings.Join([]string{
	"where join inner left right cross straight_join natural on using order group having limit window union intersect except",
	"for lock use force ignore into procedure offset fetch",
}, " "))
