package stmt

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// Summary describes how a one-block SELECT uses the rows of FROM and WHERE: the columns and aggregates in its fields,
// GROUP BY, HAVING and ORDER BY.
type Summary struct {
	// Columns are those outside of aggregates.
	Columns    []ColumnPlace
	Aggregates []AggregatePlace
}

// Part is a part of a SELECT that a Summary covers.
type Part uint8

const (
	InField Part = iota
	InGroup
	InHaving
	InOrder
)

// ColumnPlace is the position of a column's name.
type ColumnPlace struct {
	Column     ColumnRef
	Part       Part
	Start, End Anchor
	// Whole: it is a whole field, GROUP BY item or ORDER BY item. Unnamed: it is a field without an alias, so its name
	// is the column's name.
	Whole, Unnamed bool
}

// AggregatePlace is the position of an aggregate.
type AggregatePlace struct {
	Function   string // in lower case
	Distinct   bool
	Start, End Anchor
	// ArgumentStart and ArgumentEnd enclose the contents of the parentheses, including DISTINCT.
	ArgumentStart, ArgumentEnd Anchor
	// Columns are the arguments if all are plain columns, else nil.
	Columns []ColumnRef
	// Placeholders reports whether the arguments contain placeholders.
	Placeholders bool
}

// summary finds the places of a one-block SELECT. It returns nil if some can't be found. A second parse with other
// names confirms them.
func (r *reader) summary(node ast.StmtNode) *Summary {
	n, ok := node.(*ast.SelectStmt)
	if !ok || len(r.out.Blocks) != 1 || n.Fields == nil || n.WindowSpecs != nil {
		return nil
	}
	v := &summarizer{l: r.l}
	v.parts(n)
	if v.lost || !r.proven(node, v) {
		return nil
	}
	return &v.out
}

// summarizer collects the places of one SELECT.
type summarizer struct {
	l     *Lexed
	part  Part
	whole ast.ExprNode // the complete expression of the item being visited
	alias bool         // the item has an alias
	out   Summary
	nodes []ast.ExprNode
	spans []span
	lost  bool
}

func (v *summarizer) parts(n *ast.SelectStmt) {
	for _, f := range n.Fields.Fields {
		if f.WildCard != nil {
			v.lost = true
			continue
		}
		v.item(InField, f.Expr, f.AsName.O != "")
	}
	if n.GroupBy != nil {
		v.items(InGroup, n.GroupBy.Items)
	}
	if n.Having != nil {
		v.item(InHaving, n.Having.Expr, true)
	}
	if n.OrderBy != nil {
		v.items(InOrder, n.OrderBy.Items)
	}
}

func (v *summarizer) items(part Part, items []*ast.ByItem) {
	for _, item := range items {
		v.item(part, item.Expr, true)
	}
}

func (v *summarizer) item(part Part, e ast.ExprNode, alias bool) {
	v.part, v.whole, v.alias = part, e, alias
	e.Accept(v)
}

func (v *summarizer) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.AggregateFuncExpr:
		v.aggregate(n)
		return n, true
	case *ast.ColumnNameExpr:
		v.column(n)
		return n, true
	case *ast.PositionExpr:
		v.lost = v.lost || v.part == InGroup
	case *ast.FuncCallExpr:
		v.lost = v.lost || n.FnName.L == grouping // its argument is a group, not a value
	case *ast.SubqueryExpr, *ast.WindowFuncExpr, *ast.DefaultExpr, *ast.ValuesExpr, *ast.MatchAgainst:
		v.lost = true
	}
	return n, v.lost
}

func (v *summarizer) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (v *summarizer) column(n *ast.ColumnNameExpr) {
	start := n.OriginTextPosition()
	end := v.l.nameEnd(start)
	if end < 0 {
		v.lost = true
		return
	}
	v.place(n, start, end)
	whole := unwrap(v.whole) == ast.ExprNode(n)
	v.out.Columns = append(v.out.Columns, ColumnPlace{
		Column: columnRef(n.Name), Part: v.part, Start: v.l.Anchor(start), End: v.l.Anchor(end),
		Whole: whole, Unnamed: whole && !v.alias,
	})
}

func (v *summarizer) aggregate(n *ast.AggregateFuncExpr) {
	start := n.OriginTextPosition()
	open := v.l.opening(start)
	end := -1
	if open >= 0 {
		end = v.l.closing(open)
	}
	if end < 0 || n.Order != nil {
		v.lost = true
		return
	}
	v.place(n, start, end+1)
	a := AggregatePlace{
		Function: lower(n.F), Distinct: n.Distinct, Start: v.l.Anchor(start), End: v.l.Anchor(end + 1),
		ArgumentStart: v.l.Anchor(open + 1), ArgumentEnd: v.l.Anchor(end),
	}
	for _, arg := range n.Args {
		if holdsAggregate(arg) {
			v.lost = true
		}
		c, ok := arg.(*ast.ColumnNameExpr)
		if !ok {
			a.Columns = nil
			break
		}
		a.Columns = append(a.Columns, columnRef(c.Name))
	}
	for _, literal := range v.l.Literals[v.l.literalFrom(open):] {
		if int(literal.End) > end {
			break
		}
		v.l.look(1)
		a.Placeholders = a.Placeholders || literal.Kind == ParamLiteral
	}
	v.out.Aggregates = append(v.out.Aggregates, a)
}

func (v *summarizer) place(n ast.ExprNode, start, end int) {
	v.nodes, v.spans = append(v.nodes, n), append(v.spans, span{start, end})
}

// nameEnd returns the end of the column name that begins at start, or -1.
func (l *Lexed) nameEnd(start int) int {
	list, i := l.piecesFrom(start), 0
	if len(list) == 0 || list[0].start != start || list[0].kind != 'w' && list[0].kind != '`' {
		return -1
	}
	for i+2 < len(list) && list[i+1].kind == '.' && (list[i+2].kind == 'w' || list[i+2].kind == '`') {
		i += 2
	}
	return list[i].end
}

// Commented reports whether a comment precedes an offset, ignoring blanks. A comment with optimizer hints is one too, although it is
// no literal. The offset must not be within a literal.
func (l *Lexed) Commented(offset int) bool {
	end := len(bytes.TrimRight(l.Text[:offset], " \t\r\n\f\v"))
	if bytes.HasSuffix(l.Text[:end], []byte("*/")) {
		return true
	}
	i := l.literalFrom(end) - 1
	return i >= 0 && l.Literals[i].Kind == CommentLiteral && end <= int(l.Literals[i].End)
}

// proven parses the text again with marks in the places. It reports whether the result is the same once the marks are
// replaced by the original nodes.
func (r *reader) proven(node ast.StmtNode, v *summarizer) bool {
	order := make([]int, len(v.spans))
	for i := range order {
		order[i] = i
	}
	slices.SortFunc(order, func(a, b int) int { return v.spans[a].start - v.spans[b].start })
	text := r.l.readable()
	var marked strings.Builder
	from := 0
	for _, i := range order {
		if v.spans[i].start < from {
			return false
		}
		marked.WriteString(text[from:v.spans[i].start] + " `" + placeMark + strconv.Itoa(i) + "` ")
		from = v.spans[i].end
	}
	marked.WriteString(text[from:])
	other, err := tree(r.l, marked.String())
	if err != nil {
		return false
	}
	u := &unmarker{nodes: v.nodes}
	other.Accept(u)
	return u.found == len(v.nodes) && alike(node, other)
}

// unmarker replaces marks by expressions.
type unmarker struct {
	nodes []ast.ExprNode
	found int
}

func (u *unmarker) Enter(n ast.Node) (ast.Node, bool) { return n, false }

func (u *unmarker) Leave(n ast.Node) (ast.Node, bool) {
	c, ok := n.(*ast.ColumnNameExpr)
	if !ok || c.Name.Table.O != "" {
		return n, true
	}
	number, ok := strings.CutPrefix(c.Name.Name.O, placeMark)
	if i, err := strconv.Atoi(number); ok && err == nil && i < len(u.nodes) {
		u.found++
		return u.nodes[i], true
	}
	return n, true
}
