package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// survey notes every table that is named anywhere, and every feature.
func (r *reader) survey(node ast.Node) {
	node.Accept(surveyor{r})
}

type surveyor struct{ r *reader }

func (v surveyor) Enter(n ast.Node) (ast.Node, bool) {
	out := v.r.out
	switch n := n.(type) {
	case *ast.TableName:
		v.r.tables = append(v.r.tables, n)
		out.Tables = append(out.Tables, TableName{n.Schema.O, n.Name.O})
	case *ast.DeleteTableList: // they name tables of the FROM clause
		return n, true
	case *ast.Limit:
		out.Features |= Limited
	case *ast.WithClause:
		out.Features |= With
	case *ast.SelectStmt:
		v.selectFeatures(n)
	case *ast.SetOprStmt:
		out.Features |= Union
	case *ast.WindowFuncExpr:
		out.Features |= Windows
	case *ast.VariableExpr:
		v.variable(n)
	case *ast.FuncCallExpr:
		v.function(n)
	}
	return n, false
}

func (v surveyor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (v surveyor) selectFeatures(n *ast.SelectStmt) {
	out := v.r.out
	if n.LockInfo != nil && n.LockInfo.LockType != ast.SelectLockNone {
		out.Features |= Locking
		for _, t := range n.LockInfo.Tables { // FOR UPDATE OF names tables of the FROM clause
			v.r.placed[t] = true
		}
	}
	if n.SelectIntoOpt != nil {
		out.Features |= IntoTarget
	}
	if n.SelectStmtOpts != nil && n.CalcFoundRows {
		out.Features |= ReadsRowCount
	}
}

func (v surveyor) variable(n *ast.VariableExpr) {
	switch {
	case !n.IsSystem && n.Value != nil:
		v.r.out.Features |= SetsUserVariable
	case !n.IsSystem:
		v.r.out.Features |= ReadsUserVariable
	case strings.EqualFold(n.Name, "last_insert_id"), strings.EqualFold(n.Name, "identity"), strings.EqualFold(n.Name, "insert_id"):
		v.r.out.Features |= ReadsInsertID | Volatile
	default:
		v.r.out.Features |= Volatile
	}
}

func (v surveyor) function(n *ast.FuncCallExpr) {
	out := v.r.out
	switch n.FnName.L {
	case "last_insert_id":
		out.Features |= ReadsInsertID
		if len(n.Args) > 0 {
			out.Features |= SetsInsertID
		}
	case "found_rows", "row_count":
		out.Features |= ReadsRowCount
	case "connection_id":
		out.Features |= ReadsConnectionID
	case "get_lock", "release_lock", "release_all_locks", "is_free_lock", "is_used_lock":
		out.Features |= NamedLock
	}
	switch {
	case !scalar(n):
		out.Features |= UnknownFunction | Volatile
	case volatiles[n.FnName.L]:
		out.Features |= Volatile
	case clocks[n.FnName.L] && !(n.FnName.L == "unix_timestamp" && len(n.Args) > 0):
		out.Features |= ReadsClock
	}
}
