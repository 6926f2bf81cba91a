package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// StoredParams reports for each placeholder whether its value is only stored: it is a whole item of VALUES or SET of an INSERT, REPLACE or
// UPDATE. No result of the statement depends on the type of such a value if it is NULL. It returns nil for a text that can't be read.
func StoredParams(l *Lexed) []bool {
	node, _, err := nodes(l)
	if err != nil || l.Params == 0 {
		return nil
	}
	stored := make([]bool, l.Params)
	store := func(e ast.ExprNode) {
		p, ok := unwrap(e).(ast.ParamMarkerExpr)
		if !ok {
			return
		}
		if at := l.paramAt(p.OriginTextPosition()); at >= 0 {
			stored[at] = true
		}
	}
	switch n := node.(type) {
	case *ast.InsertStmt:
		for _, row := range n.Lists {
			for _, item := range row {
				store(item)
			}
		}
		for _, a := range n.OnDuplicate {
			store(a.Expr)
		}
	case *ast.UpdateStmt:
		for _, a := range n.List {
			store(a.Expr)
		}
	}
	return stored
}

// paramAt returns the index of the placeholder at a position, or -1.
func (l *Lexed) paramAt(position int) int {
	for _, literal := range l.Literals {
		if int(literal.Start) == position && literal.Kind == ParamLiteral {
			return int(literal.Param)
		}
	}
	return -1
}
