package stmt

import (
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Loading is the contents of a LOAD DATA.
type Loading struct {
	// Local: the client has the file.
	Local bool
	// Replace: existing rows are replaced. Otherwise they are kept if Local is set.
	Replace bool
	// Columns are the columns assigned by the list or by SET. Listed reports whether there is a list. Without one all
	// columns are assigned.
	Columns []string
	Listed  bool
	// Reads are the columns that SET reads. Queries reports whether it reads tables.
	Reads   []string
	Queries bool
	// Speaks is a function or system variable in SET that depends on the connection or changes its state, such as
	// USER() or GET_LOCK(). It is empty for none.
	Speaks string
}

func (r *reader) loadData(n *ast.LoadDataStmt) {
	r.out.Kind = LoadData
	load := &Loading{
		Local: n.FileLocRef == ast.FileLocClient, Replace: n.OnDuplicate == ast.OnDuplicateKeyHandlingReplace,
		Listed: len(n.ColumnsAndUserVars) > 0,
	}
	r.out.Load = load
	for _, c := range n.ColumnsAndUserVars {
		if c.UserVar != nil {
			r.out.Features |= SetsUserVariable
			r.assigned(c.UserVar.Name)
			continue
		}
		load.Columns = append(load.Columns, c.ColumnName.Name.O)
	}
	for _, a := range n.ColumnAssignments {
		if name := a.Column.Name.O; load.Listed && !contains(load.Columns, name) {
			load.Columns = append(load.Columns, name)
		}
		a.Expr.Accept(loadReads{load})
	}
}

// contains reports whether a column is in the list.
func contains(columns []string, name string) bool {
	return slices.ContainsFunc(columns, func(c string) bool { return strings.EqualFold(c, name) })
}

// Fills reports whether the statement assigns a column before SET computes.
func (load *Loading) Fills(name string) bool { return !load.Listed || contains(load.Columns, name) }

// locking are the functions of named locks.
var locking = set(`get_lock release_lock release_all_locks is_free_lock is_used_lock`)

// loadReads finds the columns that an expression of SET reads.
type loadReads struct{ load *Loading }

func (v loadReads) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.ColumnName:
		v.load.Reads = append(v.load.Reads, n.Name.O)
	case *ast.SubqueryExpr:
		v.load.Queries = true
	case *ast.VariableExpr:
		if n.IsSystem {
			v.load.Speaks = "@@" + n.Name
		}
	case *ast.FuncCallExpr:
		if name := n.FnName.L; speakers[name] || locking[name] {
			v.load.Speaks = strings.ToUpper(name) + "()"
		}
	}
	return n, false
}

func (v loadReads) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// skippedLines finds IGNORE n LINES, or ROWS, of a LOAD. It doesn't matter for routing, and the parser supports only one of
// the two.
func (l *Lexed) skippedLines() (start, end int32) {
	scan := tokens{l: l}
	verb, ok := scan.next()
	if !ok || !l.is(verb, "load") {
		return -1, -1
	}
	for _, literal := range l.Literals {
		if literal.Kind != IntLiteral {
			continue
		}
		before := strings.TrimRight(string(l.Text[:literal.Start]), " \t\r\n\f\v")
		at := skipBlanks(l.Text, int(literal.End))
		behind := wordEnd(l.Text, at)
		word := l.Text[at:behind]
		if (isWord(word, "lines") || isWord(word, "rows")) && len(before) > len("ignore") && isWord([]byte(before[len(before)-len("ignore"):]), "ignore") {
			return int32(len(before) - len("ignore")), int32(behind)
		}
	}
	return -1, -1
}
