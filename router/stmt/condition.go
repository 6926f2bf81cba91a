package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

func lower(s string) string { return strings.ToLower(s) }

func (r *reader) where(b *Block, e ast.ExprNode) {
	if e != nil {
		b.Where = and(b.Where, r.condition(e))
	}
}

var opaque = &Condition{Kind: Opaque}

func (r *reader) condition(e ast.ExprNode) *Condition {
	switch e := e.(type) {
	case *ast.ParenthesesExpr:
		return r.condition(e.Expr)
	case *ast.BinaryOperationExpr:
		return r.binary(e)
	case *ast.PatternInExpr:
		return r.in(e)
	case *ast.BetweenExpr:
		return r.between(e)
	}
	return opaque
}

func (r *reader) binary(e *ast.BinaryOperationExpr) *Condition {
	switch e.Op {
	case opcode.LogicAnd:
		return &Condition{Kind: And, Args: []*Condition{r.condition(e.L), r.condition(e.R)}}
	case opcode.LogicOr:
		return &Condition{Kind: Or, Args: []*Condition{r.condition(e.L), r.condition(e.R)}}
	case opcode.EQ:
		return r.equal(e.L, e.R, false)
	case opcode.NullEQ:
		return r.equal(e.L, e.R, true)
	case opcode.GE, opcode.GT:
		return r.bound(e.L, e.R, true)
	case opcode.LE, opcode.LT:
		return r.bound(e.L, e.R, false)
	}
	return opaque
}

func unwrap(e ast.ExprNode) ast.ExprNode {
	for {
		p, ok := e.(*ast.ParenthesesExpr)
		if !ok {
			return e
		}
		e = p.Expr
	}
}

func (r *reader) equal(left, right ast.ExprNode, nullSafe bool) *Condition {
	left, right = unwrap(left), unwrap(right)
	if l, ok := left.(*ast.RowExpr); ok {
		return r.rowEqual(l, right, nullSafe)
	}
	lc, lok := left.(*ast.ColumnNameExpr)
	rc, rok := right.(*ast.ColumnNameExpr)
	switch {
	case lok && rok:
		return &Condition{Kind: Join, Column: columnRef(lc.Name), Other: columnRef(rc.Name), NullSafe: nullSafe}
	case lok:
		return &Condition{Kind: Equal, Column: columnRef(lc.Name), Operands: []Operand{r.operand(right)}, NullSafe: nullSafe}
	case rok:
		return &Condition{Kind: Equal, Column: columnRef(rc.Name), Operands: []Operand{r.operand(left)}, NullSafe: nullSafe}
	}
	return opaque
}

// rowEqual reads (a, b) = (1, 2).
func (r *reader) rowEqual(left *ast.RowExpr, right ast.ExprNode, nullSafe bool) *Condition {
	row, ok := right.(*ast.RowExpr)
	if !ok || len(row.Values) != len(left.Values) {
		return opaque
	}
	out := &Condition{Kind: And}
	for i := range left.Values {
		out.Args = append(out.Args, r.equal(left.Values[i], row.Values[i], nullSafe))
	}
	return out
}

func (r *reader) in(e *ast.PatternInExpr) *Condition {
	if e.Not || e.Sel != nil {
		return opaque
	}
	left := unwrap(e.Expr)
	if row, ok := left.(*ast.RowExpr); ok {
		out := &Condition{Kind: Or}
		for _, item := range e.List {
			out.Args = append(out.Args, r.rowEqual(row, unwrap(item), false))
		}
		return out
	}
	c, ok := left.(*ast.ColumnNameExpr)
	if !ok {
		return opaque
	}
	out := &Condition{Kind: Equal, Column: columnRef(c.Name)}
	for _, item := range e.List {
		operand := r.operand(item)
		if n := len(out.Operands); n > 0 && operand.Slot >= 0 && out.Operands[n-1].Slot == operand.Slot {
			continue // the rest of a collapsed list
		}
		out.Operands = append(out.Operands, operand)
	}
	return out
}

func (r *reader) between(e *ast.BetweenExpr) *Condition {
	c, ok := unwrap(e.Expr).(*ast.ColumnNameExpr)
	if !ok || e.Not {
		return opaque
	}
	low, high := r.operand(e.Left), r.operand(e.Right)
	return &Condition{Kind: Between, Column: columnRef(c.Name), Low: &low, High: &high}
}

// bound reads column >= value and its mirror image; whether the bound itself is
// included makes no difference to where rows may be.
func (r *reader) bound(left, right ast.ExprNode, lowBound bool) *Condition {
	left, right = unwrap(left), unwrap(right)
	c, ok := left.(*ast.ColumnNameExpr)
	value := right
	if !ok {
		if c, ok = right.(*ast.ColumnNameExpr); !ok {
			return opaque
		}
		value, lowBound = left, !lowBound
	}
	operand := r.operand(value)
	out := &Condition{Kind: Between, Column: columnRef(c.Name)}
	if lowBound {
		out.Low = &operand
	} else {
		out.High = &operand
	}
	return out
}

// operand reads a value. What is no single literal, parameter or constant word
// is unknown.
func (r *reader) operand(e ast.ExprNode) Operand {
	e = unwrap(e)
	out := Operand{Slot: -1, Position: e.OriginTextPosition()}
	switch n := e.(type) {
	case *ast.UnaryOperationExpr:
		return r.signed(n)
	case *ast.DefaultExpr:
		if n.Name == nil {
			out.Const = Value{Kind: Default}
		}
	case *ast.FuncCallExpr:
		out.InsertID = n.FnName.L == "last_insert_id" && len(n.Args) == 0
	case ast.ParamMarkerExpr:
		r.literalOperand(&out)
	case ast.ValueExpr:
		if !r.literalOperand(&out) {
			out.Const = constant(n)
		}
	}
	return out
}

func (r *reader) signed(n *ast.UnaryOperationExpr) Operand {
	out := r.operand(n.V)
	switch {
	case n.Op == opcode.Plus:
	case n.Op == opcode.Minus && out.Slot >= 0 && !out.Negative:
		out.Negative = true
	default:
		out = Operand{Slot: -1}
	}
	out.Position = n.OriginTextPosition()
	return out
}

// literalOperand finds the slot of the literal at the operand's position. Two
// strings side by side are one value to the parser, so they are unknown here.
func (r *reader) literalOperand(out *Operand) bool {
	slot, ok := r.l.SlotAt(out.Position)
	if !ok {
		slot, ok = r.l.slotHolding(out.Position)
	}
	if !ok {
		return false
	}
	if next := int(slot) + 1; next < len(r.l.Slots) {
		a, b := r.l.Literals[r.l.Slots[next].First-1], r.l.Literals[r.l.Slots[next].First]
		if a.Kind == StringLiteral && b.Kind == StringLiteral && r.l.blankBetween(a.End, b.Start) {
			return true
		}
	}
	out.Slot = slot
	return true
}

// constant knows the values that are words.
func constant(n ast.ValueExpr) Value {
	switch v := n.GetValue().(type) {
	case nil:
		return Value{Kind: Null}
	case int64:
		return IntValue(v)
	}
	return Value{}
}
