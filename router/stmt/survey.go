package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

// survey records every table and every feature in the tree.
func (r *reader) survey(node ast.Node) {
	node.Accept(surveyor{r})
}

type surveyor struct{ r *reader }

func (v surveyor) Enter(n ast.Node) (ast.Node, bool) {
	out := v.r.out
	switch n := n.(type) {
	case *ast.TableName:
		v.r.tables = append(v.r.tables, n)
		v.r.ownTable(n)
		out.Tables = append(out.Tables, TableName{n.Schema.O, n.Name.O})
	case *ast.DeleteTableList: // these names refer to tables of the FROM clause
		return n, true
	case *ast.Limit:
		out.Features |= Limited
	case *ast.WithClause:
		out.Features |= With
		v.r.hidesOwn(n)
	case *ast.SelectStmt:
		v.selectFeatures(n)
	case *ast.SetOprStmt:
		out.Features |= Union
	case *ast.WindowFuncExpr:
		out.Features |= Windows
	case *ast.SelectField:
		v.r.ownField(n)
	case *ast.VariableExpr:
		v.variable(n)
	case *ast.FuncCallExpr:
		v.function(n)
	case *ast.ColumnName:
		if v.r.l.Mode&Oracle != 0 && n.Table.L == "" {
			out.Features |= oracleWords[n.Name.L]
		}
	case *ast.Join:
		if n.On != nil {
			v.filter(n.On.Expr)
		}
	case *ast.MatchAgainst:
		v.match(n)
	case *ast.DefaultExpr:
		out.ReadsDefault = out.ReadsDefault || n.Name != nil
	}
	return n, false
}

func (v surveyor) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (v surveyor) selectFeatures(n *ast.SelectStmt) {
	out := v.r.out
	v.filter(n.Where)
	v.r.ranked = v.r.ranked || n.Limit != nil && n.OrderBy == nil
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
		out.Features |= CalcFoundRows
	}
}

func (v surveyor) variable(n *ast.VariableExpr) {
	if n.IsSystem {
		v.r.owned++
	} else if v.r.l.quotedVariables() {
		v.r.out.Verbatim = true
	}
	switch {
	case !n.IsSystem && n.Value != nil:
		v.r.out.Features |= SetsUserVariable
		v.r.out.AssignsWithin = true
		v.r.assigned(n.Name)
	case !n.IsSystem:
		v.r.out.Features |= ReadsUserVariable
		v.r.out.ReadVariables = append(v.r.out.ReadVariables, lower(n.Name))
	case strings.EqualFold(n.Name, "last_insert_id"), strings.EqualFold(n.Name, "identity"), strings.EqualFold(n.Name, "insert_id"):
		v.r.out.Features |= ReadsInsertID | Volatile
	case n.IsGlobal, serverVariables[lower(n.Name)]:
		v.r.out.Features |= Volatile | OneServer
	case strings.EqualFold(n.Name, "timestamp"):
		v.r.out.Features |= Volatile | ReadsClock
	default:
		v.r.out.Features |= Volatile
	}
}

// filter records the MATCH … AGAINST that a condition uses only as true or false.
func (v surveyor) filter(e ast.ExprNode) {
	switch e := unwrap(e).(type) {
	case *ast.MatchAgainst:
		if v.r.filtering == nil {
			v.r.filtering = map[*ast.MatchAgainst]bool{}
		}
		v.r.filtering[e] = true
	case *ast.BinaryOperationExpr:
		if e.Op == opcode.LogicAnd || e.Op == opcode.LogicOr {
			v.filter(e.L)
			v.filter(e.R)
		}
	case *ast.UnaryOperationExpr:
		if e.Op == opcode.Not || e.Op == opcode.Not2 {
			v.filter(e.V)
		}
	}
}

// match finds MATCH … AGAINST whose relevance shows. Servers return the most relevant rows first if a query of natural
// language has no ORDER BY, and LIMIT then chooses them.
func (v surveyor) match(n *ast.MatchAgainst) {
	if !v.r.filtering[n] || n.Modifier.WithQueryExpansion() || v.r.ranked && !n.Modifier.IsBooleanMode() {
		v.r.out.Features |= Scored
	}
}

func (v surveyor) function(n *ast.FuncCallExpr) {
	out := v.r.out
	v.r.ownFunction(n)
	out.Called = append(out.Called, Called{TableName{n.Schema.O, n.FnName.O}, scalar(n)})
	if reaching(n) {
		out.Reaches = n.FnName.L
	}
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
	case "get_lock", "release_lock", "release_all_locks":
		out.Features |= NamedLock
		v.lock(n)
		if n.FnName.L == "release_all_locks" {
			out.Effects |= ReleasesAllLocks
		}
	case "database", "schema":
		out.Effects |= ReadsSchema
	case "is_free_lock", "is_used_lock":
		out.Features |= ReadsNamedLock
	}
	switch {
	case n.FnName.L == grouping && n.Schema.L == "": // MySQL's; it computes from the row that is grouped
	case !scalar(n):
		out.Features |= UnknownFunction | Volatile
	case oneServer(n):
		out.Features |= Volatile | OneServer
	case volatiles[n.FnName.L]:
		out.Features |= Volatile
	case clocks[n.FnName.L] && !(n.FnName.L == "unix_timestamp" && len(n.Args) > 0):
		out.Features |= ReadsClock
	}
}

// lock records the name of a requested lock. The operand is unknown if only the server can compute the name.
func (v surveyor) lock(n *ast.FuncCallExpr) {
	if n.FnName.L != "get_lock" {
		return
	}
	var name Operand
	if len(n.Args) > 0 {
		name = v.r.operand(n.Args[0])
	}
	v.r.out.Locks = append(v.r.out.Locks, name)
}

// assigned records a user variable that the statement assigns.
func (r *reader) assigned(name string) {
	if name = lower(name); !r.assigns[name] {
		if r.assigns == nil {
			r.assigns = map[string]bool{}
		}
		r.assigns[name] = true
		r.out.Assigns = append(r.out.Assigns, name)
	}
}
