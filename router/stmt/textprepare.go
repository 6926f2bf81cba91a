package stmt

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// TextPrepared is PREPARE, EXECUTE, EXECUTE IMMEDIATE or DEALLOCATE PREPARE.
type TextPrepared struct {
	Verb string // "prepare", "execute", "immediate", "deallocate"
	Name string // in lower case
	// Text is the prepared text, Variable the user variable that holds it, or Expression an expression that a server
	// must compute.
	Text, Variable, Expression string
	// Using are user variables. Values are expressions in their place.
	Using, Values []string
}

func (r *reader) textPrepare(node ast.StmtNode) {
	p := &TextPrepared{}
	switch n := node.(type) {
	case *ast.PrepareStmt:
		p.Verb, p.Name, p.Text = "prepare", lower(n.Name), n.SQLText
		if n.SQLVar != nil {
			p.Variable = lower(n.SQLVar.Name)
		}
	case *ast.ExecuteStmt:
		p.Verb, p.Name = "execute", lower(n.Name)
		for _, v := range n.UsingVars {
			variable, ok := v.(*ast.VariableExpr)
			if !ok || variable.IsSystem {
				r.fail("EXECUTE … USING takes user variables")
				return
			}
			p.Using = append(p.Using, lower(variable.Name))
		}
	case *ast.DeallocateStmt:
		p.Verb, p.Name = "deallocate", lower(n.Name)
	}
	r.out.Kind, r.out.Prepared, r.out.Verbatim = TextPrepare, p, true
}
