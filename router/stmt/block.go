package stmt

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// selectBlock reads one SELECT and then the blocks nested in it. parent is the block whose columns it may use besides
// its own.
func (r *reader) selectBlock(n *ast.SelectStmt, parent *Block) {
	b := r.newBlock(parent)
	r.blocks[n] = b
	defer r.forget(len(r.ctes))
	r.with(n.With, parent)
	if n.From != nil {
		r.tableTree(b, n.From.TableRefs, false)
	}
	r.where(b, n.Where)
	b.Distinct = n.Distinct
	b.Grouped = n.GroupBy != nil
	b.Rollup = b.Grouped && n.GroupBy.Rollup
	b.Groups = groups(n.GroupBy)
	b.Having = n.Having != nil
	b.Limited = n.Limit != nil
	if n.Fields != nil {
		for _, f := range n.Fields.Fields {
			b.Fields = append(b.Fields, r.field(f))
		}
	}
	if len(r.out.Blocks) > 0 && b == r.out.Blocks[0] {
		r.clauses(b, n)
	}
	r.nested(b, n)
}

func (r *reader) newBlock(parent *Block) *Block {
	b := &Block{Parent: parent}
	r.out.Blocks = append(r.out.Blocks, b)
	return b
}

// clauses finds the parts of the outermost SELECT that a scatter rewrites.
func (r *reader) clauses(b *Block, n *ast.SelectStmt) {
	b.Braced = n.IsInBraces
	if from := r.l.clause(0, "from"); from >= 0 && !b.Braced && n.Kind == ast.SelectStmtKindSelect {
		b.From, b.HasFrom = r.l.Anchor(from), true
		r.filter(b, from)
	}
	r.order(b, n.OrderBy)
	b.Limit = r.limit(n.Limit)
}

// afterFilter are the words that may follow the condition of WHERE.
var afterFilter = []string{
	"group", "having", "order", "limit", "window", "for", "lock", "into", "procedure", "returning",
	"union", "intersect", "except",
}

// setOperators are the words between the arms of a query.
var setOperators = []string{"union", "intersect", "except"}

// filter finds the WHERE clause of an outermost block, or of an arm.
func (r *reader) filter(b *Block, from int) {
	if from < 0 {
		return
	}
	end := r.l.end()
	where := r.l.clause(from, "where")
	if next := r.l.clause(from, setOperators...); next >= 0 && next < where {
		where = -1 // the WHERE belongs to another arm
	}
	if where >= 0 {
		from = where + len("where")
	}
	if after := r.l.clause(from, afterFilter...); after >= 0 {
		if where < 0 && r.l.clause(from, "index", "key") >= 0 {
			return // FOR may belong to a hint
		}
		end = after
	}
	if fetch, ok := r.l.fetchFrom(from); ok {
		end = min(end, fetch.start)
	}
	b.Filter, b.HasFilter = Filter{There: where >= 0, Open: r.l.Anchor(end), Close: r.l.Anchor(end)}, true
	if where >= 0 {
		b.Filter.Open = r.l.Anchor(from)
	}
}

func (r *reader) union(n *ast.SetOprStmt, parent *Block) {
	defer r.forget(len(r.ctes))
	r.with(n.With, parent)
	r.arms(n.SelectList, parent)
	if n.OrderBy != nil {
		r.expressions(n.OrderBy, parent)
	}
	if parent == nil && n.With == nil {
		r.unionAll(n)
	}
}

// unionAll sets the arms of a UNION ALL of plain SELECTs, and finds their clauses.
func (r *reader) unionAll(n *ast.SetOprStmt) {
	var arms []*Block
	at := 0
	for i, node := range n.SelectList.Selects {
		arm, ok := node.(*ast.SelectStmt)
		if !ok || !plainArm(arm, i == 0) {
			return
		}
		from := r.l.clause(at, "from")
		next := r.l.clause(max(from, at), setOperators...)
		if last := i == len(n.SelectList.Selects)-1; from < 0 || last != (next < 0) {
			return
		}
		b := r.blocks[arm]
		b.From, b.HasFrom = r.l.Anchor(from), true
		r.filter(b, from)
		arms, at = append(arms, b), next+len("union")
	}
	r.out.Arms, r.out.ArmsOrdered, r.out.ArmsLimit = arms, n.OrderBy != nil, r.limit(n.Limit)
}

// plainArm reports whether an arm is a SELECT without parentheses and clauses of its own before the next arm. UNION ALL precedes it
// unless it is the first one.
func plainArm(n *ast.SelectStmt, first bool) bool {
	if n.IsInBraces || n.Kind != ast.SelectStmtKindSelect || n.With != nil || n.From == nil || n.OrderBy != nil || n.Limit != nil {
		return false
	}
	return first || n.AfterSetOperator != nil && *n.AfterSetOperator == ast.UnionAll
}

func (r *reader) arms(n *ast.SetOprSelectList, parent *Block) {
	defer r.forget(len(r.ctes))
	r.with(n.With, parent)
	for _, arm := range n.Selects {
		r.query(arm, parent)
	}
	if n.OrderBy != nil {
		r.expressions(n.OrderBy, parent)
	}
}

// query reads any node that is allowed in place of a SELECT.
func (r *reader) query(n ast.Node, parent *Block) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		r.selectBlock(n, parent)
	case *ast.SetOprStmt:
		r.union(n, parent)
	case *ast.SetOprSelectList:
		r.arms(n, parent)
	case *ast.SubqueryExpr:
		r.query(n.Query, parent)
	default:
		r.fail("a query of an unknown kind, %T", n)
	}
}

// nested reads the subqueries in a block's expressions. Derived tables were read with the FROM clause, common table
// expressions with WITH.
func (r *reader) nested(b *Block, n ast.Node) { n.Accept(&subqueries{r: r, b: b, root: n}) }

// expressions reads the subqueries of a node outside of blocks.
func (r *reader) expressions(n ast.Node, parent *Block) {
	n.Accept(&subqueries{r: r, b: parent})
}

type subqueries struct {
	r    *reader
	b    *Block
	root ast.Node
}

func (v *subqueries) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SubqueryExpr:
		v.r.query(n.Query, v.b)
		return n, true
	case *ast.WithClause:
		return n, true
	case *ast.TableSource:
		_, joined := n.Source.(*ast.Join)
		return n, !joined
	case *ast.SelectStmt, *ast.SetOprStmt:
		return n, n != v.root
	}
	return n, false
}

func (v *subqueries) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// groups returns the columns of GROUP BY. With ROLLUP, which creates rows of several groups, it returns none.
func groups(by *ast.GroupByClause) (out []ColumnRef) {
	if by == nil || by.Rollup {
		return nil
	}
	for _, item := range by.Items {
		if c, ok := unwrap(item.Expr).(*ast.ColumnNameExpr); ok {
			out = append(out, columnRef(c.Name))
		}
	}
	return out
}
