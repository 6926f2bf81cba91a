package stmt

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// selectBlock reads one SELECT and, behind it, the blocks nested in it.
func (r *reader) selectBlock(n *ast.SelectStmt, parent *Block) {
	b := r.newBlock(parent)
	if n.From != nil {
		r.tables(b, n.From.TableRefs, joinSide{})
	}
	r.where(b, n.Where)
	b.Distinct = n.Distinct
	b.Grouped = n.GroupBy != nil
	b.Having = n.Having != nil
	if n.Fields != nil {
		for _, f := range n.Fields.Fields {
			b.Fields = append(b.Fields, r.field(f))
		}
	}
	if parent == nil && len(r.out.Blocks) == 1 {
		r.clauses(b, n)
	}
	if n.With != nil {
		for _, cte := range n.With.CTEs {
			r.query(cte.Query.Query, b)
		}
	}
	r.nested(b, n)
}

func (r *reader) newBlock(parent *Block) *Block {
	b := &Block{Parent: parent}
	r.out.Blocks = append(r.out.Blocks, b)
	return b
}

// clauses places the parts of the outermost SELECT that a scatter rewrites.
func (r *reader) clauses(b *Block, n *ast.SelectStmt) {
	if from := r.l.clause(0, "from"); from >= 0 {
		b.From = r.l.Anchor(from)
	}
	if n.OrderBy != nil {
		for _, item := range n.OrderBy.Items {
			b.Order = append(b.Order, r.orderItem(item))
		}
	}
	if n.Limit != nil {
		b.Limit = r.limit(n.Limit)
	}
}

func (r *reader) orderItem(item *ast.ByItem) OrderItem {
	out := OrderItem{Desc: item.Desc}
	switch e := item.Expr.(type) {
	case *ast.ColumnNameExpr:
		ref := columnRef(e.Name)
		out.Column = &ref
	case *ast.PositionExpr:
		out.Literal = true
		out.Position = Operand{Slot: -1, Const: IntValue(int64(e.N))}
	}
	return out
}

// limit finds the numbers of LIMIT by their order; the parser does not place them.
func (r *reader) limit(n *ast.Limit) *Limit {
	at := r.l.clause(0, "limit")
	if at < 0 {
		return nil
	}
	first := r.slotBehind(at)
	if first < 0 {
		return nil
	}
	out := &Limit{Start: r.l.Anchor(at), Count: Operand{Slot: first}}
	last := first
	if n.Offset != nil {
		last = first + 1
		offset := Operand{Slot: last}
		if comma := r.l.Text[r.l.slotEnd(first):r.l.Literals[r.l.Slots[last].First].Start]; hasComma(comma) {
			out.Count, offset = offset, out.Count // LIMIT offset, count
		}
		out.Offset = &offset
	}
	out.End = Anchor{Slot: last}
	return out
}

func hasComma(b []byte) bool {
	for _, c := range b {
		if c == ',' {
			return true
		}
	}
	return false
}

// slotBehind gives the first slot of a literal behind an offset, or -1.
func (r *reader) slotBehind(offset int) int32 {
	for i, s := range r.l.Slots {
		if literal := r.l.Literals[s.First]; int(literal.Start) > offset && literal.Kind != CommentLiteral {
			return int32(i)
		}
	}
	return -1
}

func (r *reader) union(n *ast.SetOprStmt, parent *Block) {
	for _, arm := range n.SelectList.Selects {
		r.query(arm, parent)
	}
	if n.With != nil {
		for _, cte := range n.With.CTEs {
			r.query(cte.Query.Query, parent)
		}
	}
}

// query reads whatever may stand where a SELECT may.
func (r *reader) query(n ast.Node, parent *Block) {
	switch n := n.(type) {
	case *ast.SelectStmt:
		r.selectBlock(n, parent)
	case *ast.SetOprStmt:
		r.union(n, parent)
	case *ast.SetOprSelectList:
		for _, arm := range n.Selects {
			r.query(arm, parent)
		}
	case *ast.SubqueryExpr:
		r.query(n.Query, parent)
	}
}

// nested reads the subqueries that stand in expressions of a block. Derived
// tables were read with the FROM clause.
func (r *reader) nested(b *Block, n ast.Node) {
	n.Accept(&subqueries{r: r, b: b, root: n})
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
	case *ast.TableSource, *ast.WithClause:
		return n, true
	case *ast.SelectStmt, *ast.SetOprStmt:
		return n, n != v.root
	}
	return n, false
}

func (v *subqueries) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// joinSide says where in the tree of joins a table stands.
type joinSide struct{ nullable bool }

func (r *reader) tables(b *Block, n ast.ResultSetNode, side joinSide) {
	switch n := n.(type) {
	case *ast.Join:
		r.join(b, n, side)
	case *ast.TableSource:
		r.tableSource(b, n, side)
	case *ast.TableName:
		b.Tables = append(b.Tables, r.tableRef(n, "", side))
	}
}

func (r *reader) join(b *Block, n *ast.Join, side joinSide) {
	if n.Right == nil {
		r.tables(b, n.Left, side)
		return
	}
	left, right := side, side
	switch n.Tp {
	case ast.LeftJoin:
		right.nullable = true
	case ast.RightJoin:
		left.nullable = true
	case ast.CrossJoin:
	}
	from := len(b.Tables)
	r.tables(b, n.Left, left)
	middle := len(b.Tables)
	r.tables(b, n.Right, right)
	b.Natural = b.Natural || n.NaturalJoin
	var on *Condition
	if n.On != nil {
		on = r.condition(n.On.Expr)
	}
	for _, c := range n.Using {
		if middle-from != 1 || len(b.Tables)-middle != 1 {
			b.Using = true
			break
		}
		on = and(on, &Condition{
			Kind:   Join,
			Column: ColumnRef{Table: b.Tables[from].Alias, Name: c.Name.O},
			Other:  ColumnRef{Table: b.Tables[middle].Alias, Name: c.Name.O},
		})
	}
	if on == nil {
		return
	}
	if left.nullable || right.nullable {
		b.On = append(b.On, on)
		return
	}
	b.Where = and(b.Where, on)
}

func and(a, b *Condition) *Condition {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &Condition{Kind: And, Args: []*Condition{a, b}}
}

func (r *reader) tableSource(b *Block, n *ast.TableSource, side joinSide) {
	switch source := n.Source.(type) {
	case *ast.TableName:
		b.Tables = append(b.Tables, r.tableRef(source, n.AsName.O, side))
	case *ast.Join:
		r.join(b, source, side)
	default:
		b.Tables = append(b.Tables, TableRef{Alias: n.AsName.O, Derived: true, Nullable: side.nullable})
		r.query(source, b)
	}
}

func (r *reader) tableRef(n *ast.TableName, alias string, side joinSide) TableRef {
	ref := TableRef{TableName: TableName{n.Schema.O, n.Name.O}, Alias: alias, Nullable: side.nullable}
	if alias == "" {
		ref.Alias = n.Name.O
	}
	ref.Derived = n.Schema.L == "" && r.ctes[n.Name.L]
	return ref
}

var aggregates = map[string]Aggregate{"count": Count, "sum": Sum, "min": Min, "max": Max, "avg": Avg}

func (r *reader) field(n *ast.SelectField) Field {
	f := Field{Alias: n.AsName.O, Star: n.WildCard != nil}
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
