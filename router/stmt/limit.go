package stmt

import (
	"bytes"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

func (r *reader) order(b *Block, n *ast.OrderByClause) {
	if n == nil {
		return
	}
	for _, item := range n.Items {
		b.Order = append(b.Order, r.orderItem(item))
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
	case ast.ParamMarkerExpr:
	case ast.ValueExpr:
		out.Constant = true
	}
	return out
}

// limit finds the numbers of LIMIT by their order, because the parser doesn't return their positions. A clause without
// a known position is Unplaced.
func (r *reader) limit(n *ast.Limit) *Limit {
	if n == nil {
		return nil
	}
	at := r.l.clause(0, "limit")
	if at < 0 {
		return r.fetched()
	}
	first := r.slotFrom(0, at)
	if first < 0 {
		return &Limit{Unplaced: true}
	}
	out := &Limit{Start: r.l.Anchor(at), Count: Operand{Slot: first}}
	last := first
	if n.Offset != nil {
		if last = r.slotFrom(first+1, at); last < 0 {
			return &Limit{Unplaced: true}
		}
		offset := Operand{Slot: last}
		if bytes.IndexByte(r.gap(first, last), ',') >= 0 {
			out.Count, offset = offset, out.Count // LIMIT offset, count
		}
		out.Offset = &offset
	}
	out.End = Anchor{Slot: last}
	return out
}

// gap returns the text between two slots, without comments.
func (r *reader) gap(a, b int32) []byte {
	var out []byte
	for ; a < b; a++ {
		out = append(out, r.l.Text[r.l.slotEnd(a):r.l.Literals[r.l.Slots[a+1].First].Start]...)
	}
	return out
}

// slotFrom returns the first slot, beginning with slot, that isn't a comment and starts after an offset, or -1.
func (r *reader) slotFrom(slot int32, offset int) int32 {
	for ; int(slot) < len(r.l.Slots); slot++ {
		if literal := r.l.Literals[r.l.Slots[slot].First]; int(literal.Start) > offset && literal.Kind != CommentLiteral {
			return slot
		}
	}
	return -1
}

// ordered reports whether a query has ORDER BY and no LIMIT.
func ordered(query ast.StmtNode) bool {
	switch n := query.(type) {
	case *ast.SelectStmt:
		return n.OrderBy != nil && n.Limit == nil
	case *ast.SetOprStmt:
		return n.OrderBy != nil && n.Limit == nil
	}
	return false
}
