package stmt

import (
	"bytes"
	"unicode/utf8"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/opcode"
)

func (r *reader) where(b *Block, e ast.ExprNode) {
	if e != nil {
		b.Where = and(b.Where, r.condition(e))
		r.noteConjuncts(b, e, 0, -1, false)
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

func inRows(c *Condition) *Condition {
	if c.Kind == And {
		for _, arg := range c.Args {
			inRows(arg)
		}
	} else if c.Kind != Opaque { // the opaque condition is shared
		c.InRows = true
	}
	return c
}

// besideOthers sets Beside of each comparison in a list of rows to the values that the other rows have at its
// position, because servers compare all values of a position with the same type.
func besideOthers(rows []*Condition) {
	leaves := make([][]*Condition, len(rows))
	for i, row := range rows {
		leaves[i] = row.leaves(nil)
	}
	for at := range leaves[0] {
		var all []Operand
		for _, row := range leaves {
			if at < len(row) && row[at].Kind == Equal {
				all = append(all, row[at].Operands...)
			} else {
				all = append(all, Operand{Slot: -1})
			}
		}
		for _, row := range leaves {
			if at < len(row) && row[at].Kind == Equal {
				row[at].Beside = all
			}
		}
	}
}

// leaves appends the conditions connected by AND, in order.
func (c *Condition) leaves(to []*Condition) []*Condition {
	if c.Kind != And {
		return append(to, c)
	}
	for _, arg := range c.Args {
		to = arg.leaves(to)
	}
	return to
}

func (r *reader) in(e *ast.PatternInExpr) *Condition {
	if e.Not {
		return opaque
	}
	left := unwrap(e.Expr)
	if e.Sel != nil {
		return r.within(left, e.Sel)
	}
	if row, ok := left.(*ast.RowExpr); ok {
		out := &Condition{Kind: Or}
		for _, item := range e.List {
			out.Args = append(out.Args, inRows(r.rowEqual(row, unwrap(item), false)))
		}
		besideOthers(out.Args)
		return out
	}
	c, ok := left.(*ast.ColumnNameExpr)
	if !ok {
		return opaque
	}
	out := &Condition{Kind: Equal, Column: columnRef(c.Name)}
	for _, item := range e.List { // a collapsed list holds its first element
		out.Operands = append(out.Operands, r.operand(item))
	}
	return out
}

// within reads IN (SELECT …) of one column or several.
func (r *reader) within(left, subquery ast.ExprNode) *Condition {
	sub, ok := unwrap(subquery).(*ast.SubqueryExpr)
	if !ok {
		return opaque
	}
	query, ok := sub.Query.(*ast.SelectStmt)
	if !ok {
		return opaque
	}
	columns := []ast.ExprNode{left}
	if row, ok := left.(*ast.RowExpr); ok {
		columns = row.Values
	}
	out := &Condition{Kind: And}
	for i, e := range columns {
		if c, ok := unwrap(e).(*ast.ColumnNameExpr); ok {
			part := &Condition{Kind: Within, Column: columnRef(c.Name), Field: i}
			r.links = append(r.links, func() { part.Query = r.blocks[query] })
			out.Args = append(out.Args, part)
		}
	}
	if len(out.Args) == 1 {
		return out.Args[0]
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

// bound reads column >= value and its mirror image. Whether the bound itself is included doesn't matter for the
// location of rows.
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

// operand reads a value. Anything but a single literal, parameter, user variable or constant word is unknown.
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
		out.InsertID = n.FnName.L == "last_insert_id" && n.Schema.L == "" && len(n.Args) == 0
	case *ast.VariableExpr:
		if !n.IsSystem && n.Value == nil {
			out.Variable = lower(n.Name)
		}
	case ast.ParamMarkerExpr:
		out.Slot = r.slotOf(out.Position, n)
	case ast.ValueExpr:
		if out.Slot = r.slotOf(out.Position, n); out.Slot < 0 {
			out.Const = r.constant(out.Position, n)
		}
	}
	return out
}

func (r *reader) signed(n *ast.UnaryOperationExpr) Operand {
	out := r.operand(n.V)
	switch {
	case n.Op == opcode.Plus && out.Slot >= 0:
	case n.Op == opcode.Minus && out.Slot >= 0 && !out.Negative:
		out.Negative = true
	default:
		out = Operand{Slot: -1}
	}
	out.Position = n.OriginTextPosition()
	return out
}

// slotOf returns the slot of the literal at a position. It returns -1 if the parser's value isn't just that literal: an
// introducer unknown to the lexer (_koi8r'x') precedes it, or another string follows it and is joined to it.
func (r *reader) slotOf(position int, n ast.ValueExpr) int32 {
	slot, ok := r.l.SlotAt(position)
	if !ok {
		return -1
	}
	literal := r.l.Literals[r.l.Slots[slot].First]
	if literal.Kind == CommentLiteral || (literal.isString() && r.stringFollows(literal.End)) {
		return -1
	}
	if !r.agrees(n, r.l.Slots[slot].First) {
		return -1
	}
	return slot
}

// stringFollows reports whether a string follows offset, after blanks and comments.
func (r *reader) stringFollows(offset int32) bool {
	for _, next := range r.l.Literals[r.l.literalFrom(int(offset)):] {
		r.l.look(1)
		if len(bytes.TrimSpace(r.l.Text[offset:next.Start])) > 0 {
			return false
		}
		if next.Kind != CommentLiteral {
			return next.Kind == StringLiteral
		}
		offset = next.End
	}
	return false
}

// agrees compares the parser's value with ours, if their kinds can be compared.
func (r *reader) agrees(n ast.ValueExpr, literal int32) bool {
	var a Args
	a.Reset(r.l, nil)
	if l := r.l.Literals[literal]; l.overlong() || r.l.Text[l.End-1] == '.' {
		return true // the text for the parser was changed here, so the two can differ
	}
	ours := a.Value(literal)
	switch theirs := n.GetValue().(type) {
	case int64:
		return ours.Kind == Int && ours.Int == theirs
	case uint64:
		return ours.Kind == Uint && ours.Uint == theirs
	case string:
		return ours.Kind == Unknown || (ours.Kind == String || ours.Kind == Bytes) && (string(ours.Text) == theirs || !utf8.Valid(ours.Text))
	}
	return true
}

// constant reads values that are words.
func (r *reader) constant(position int, n ast.ValueExpr) Value {
	if position >= len(r.l.Text) || class[r.l.Text[position]] != wordByte {
		return Value{}
	}
	switch v := n.GetValue().(type) {
	case nil:
		return Value{Kind: Null}
	case int64:
		return IntValue(v)
	}
	return Value{}
}
