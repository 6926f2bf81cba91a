package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// OwnCall is a CALL of a procedure in the proxies' own schema.
type OwnCall struct {
	Procedure string // in lower case
	Args      []Operand
}

// call reads CALL.
func (r *reader) call(n *ast.CallStmt) {
	r.out.Kind = Call
	if n.Procedure == nil {
		return
	}
	if n.Procedure.Schema.L != Own {
		r.out.Routine = &TableName{n.Procedure.Schema.O, n.Procedure.FnName.O}
		return
	}
	own := &OwnCall{Procedure: n.Procedure.FnName.L}
	for _, e := range n.Procedure.Args {
		own.Args = append(own.Args, r.operand(e))
	}
	r.out.Kind, r.out.OwnCall = Procedure, own
}
