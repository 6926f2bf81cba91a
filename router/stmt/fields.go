package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

func lower(s string) string { return strings.ToLower(s) }

var aggregates = map[string]Aggregate{"count": Count, "sum": Sum, "min": Min, "max": Max, "avg": Avg}

func (r *reader) field(n *ast.SelectField) Field {
	f := Field{Alias: n.AsName.O, Star: n.WildCard != nil}
	if f.Alias != "" && r.isString(f.Alias) {
		r.out.Verbatim = true // AS 'name': the key doesn't contain the name
	}
	if f.Star {
		f.StarOf, f.StarAt = n.WildCard.Table.O, r.l.Anchor(n.Offset)
	}
	switch e := n.Expr.(type) {
	case *ast.ColumnNameExpr:
		ref := columnRef(e.Name)
		f.Column = &ref
	case *ast.AggregateFuncExpr:
		r.aggregate(&f, e, n.Offset)
	default:
		if n.Expr != nil && holdsAggregate(n.Expr) {
			f.Aggregate = OtherAggregate
		}
	}
	return f
}

// StarEnd returns the end of a * or t.* that begins at start. It returns false if there is none, as in TABLE t.
func (l *Lexed) StarEnd(start int) (end int, ok bool) {
	list := l.piecesFrom(start)
	if len(list) == 0 || list[0].start != start {
		return 0, false
	}
	for len(list) > 2 && list[0].kind != '*' && list[1].kind == '.' {
		list = list[2:]
	}
	return list[0].end, list[0].kind == '*'
}

// isString reports whether some string of the text may be this name.
func (r *reader) isString(name string) bool {
	if r.strings == nil {
		r.strings = map[string]bool{}
		var a Args
		for i, literal := range r.l.Literals {
			if literal.isString() && literal.End-literal.Start <= longestString {
				a.Reset(r.l, nil)
				r.strings[string(a.Value(int32(i)).Text)] = true
			}
		}
	}
	return len(name) > longestName || r.strings[name]
}

// No server accepts a longer name. As a string it has at most twice as many bytes, plus quotes and an introducer.
const (
	longestName   = 4 * 256
	longestString = 2*longestName + 32
)

func (r *reader) aggregate(f *Field, e *ast.AggregateFuncExpr, offset int) {
	f.Aggregate = OtherAggregate
	kind, ok := aggregates[lower(e.F)]
	open := r.l.opening(offset)
	if !ok || open < 0 || len(e.Args) != 1 || holdsAggregate(e.Args[0]) {
		return
	}
	end := r.l.closing(open)
	if end < 0 {
		return
	}
	f.Aggregate, f.Distinct = kind, e.Distinct
	f.ArgumentStart, f.ArgumentEnd = r.l.Anchor(open+1), r.l.Anchor(end)
	if c, ok := e.Args[0].(*ast.ColumnNameExpr); ok {
		f.Argument = columnRef(c.Name)
	}
}

type aggregateFinder struct{ found bool }

func (v *aggregateFinder) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.AggregateFuncExpr:
		v.found = true
	case *ast.SubqueryExpr:
		return n, true
	}
	return n, v.found
}

func (v *aggregateFinder) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func holdsAggregate(n ast.ExprNode) bool {
	var v aggregateFinder
	n.Accept(&v)
	return v.found
}

func columnRef(n *ast.ColumnName) ColumnRef {
	return ColumnRef{Schema: n.Schema.O, Table: n.Table.O, Name: n.Name.O}
}
