package stmt

import (
	"math"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// CommonTable is a common table expression of the outermost WITH clause.
type CommonTable struct {
	Name string // as written
	// NameEnd is behind the name. End is behind the closing parenthesis of the query.
	NameEnd, End Anchor
	// Reads are the places that read it, in the order of the text. A recursive one reads itself, which is not among them.
	Reads []CommonRead
	// Merges reports whether a server may read the query's tables in place of its rows. A field then has the type of its
	// expression.
	Merges bool
	// Exact reports, if it merges, which fields are columns of tables. It is empty if all are, and nil if that is not known.
	Exact []bool
	// Obstacle reports that it merges, and that the rows by themselves may compare differently.
	Obstacle bool
}

// CommonRead is the position of the name of a common table expression where it is read.
type CommonRead struct {
	Start, End Anchor
	// Statement reports whether it is TABLE name.
	Statement bool
}

// commonTables finds the expressions of the outermost WITH clause. It returns false if their positions are not known.
func (r *reader) commonTables(n *ast.WithClause) ([]CommonTable, bool) {
	reader := lexemeReader{l: r.l, list: r.l.lexemes(math.MaxInt)}
	if n == nil || !reader.takes("with") {
		return nil, false
	}
	if n.IsRecursive && !reader.takes("recursive") {
		return nil, false
	}
	var out []CommonTable
	for i, c := range n.CTEs {
		if i > 0 && !reader.takesChar(',') {
			return nil, false
		}
		at := reader.peek()
		name, ok := reader.name()
		if !ok || name != c.Name.O {
			return nil, false
		}
		t := CommonTable{Name: string(r.l.Text[at.start:at.end]), NameEnd: r.l.Anchor(at.end)}
		if len(c.ColNameList) > 0 && reader.parentheses() == 0 || !reader.takes("as") {
			return nil, false
		}
		end := reader.parentheses()
		if end == 0 {
			return nil, false
		}
		t.End = r.l.Anchor(end)
		t.merge(c.Query.Query)
		out = append(out, t)
	}
	return out, true
}

// parentheses skips the next pair of parentheses with its content. It returns its end, or 0.
func (r *lexemeReader) parentheses() (end int) {
	if r.peek().char != '(' {
		return 0
	}
	for depth := 0; len(r.list) > 0; {
		x := r.next()
		switch {
		case x.kind != punctuation:
		case x.char == '(':
			depth++
		case x.char == ')':
			if depth--; depth == 0 {
				return x.end
			}
		}
	}
	return 0
}

// merge determines whether a server may merge the query into the one that reads it.
func (t *CommonTable) merge(query ast.Node) {
	sel, ok := query.(*ast.SelectStmt)
	if !ok {
		list, is := query.(*ast.SetOprStmt)
		t.Merges = !is || list.SelectList == nil || len(list.SelectList.Selects) < 2
		t.Obstacle = t.Merges
		return
	}
	if t.Merges = merges(sel); !t.Merges {
		return
	}
	t.Obstacle = sel.With != nil || !readsTables(sel.From)
	if sel.Fields == nil {
		t.Exact = []bool{}
	}
	if sel.Fields == nil || t.Obstacle {
		return
	}
	stars := false
	for _, f := range sel.Fields.Fields {
		column := false
		if f.WildCard == nil {
			_, column = f.Expr.(*ast.ColumnNameExpr)
			var v fieldColumns
			f.Expr.Accept(&v)
			t.Obstacle = t.Obstacle || !v.column || v.query
		}
		t.Exact, stars = append(t.Exact, column), stars || f.WildCard != nil
	}
	if !stars {
		return
	}
	computed := false
	for i, f := range sel.Fields.Fields {
		computed = computed || f.WildCard == nil && !t.Exact[i]
	}
	if t.Exact = nil; !computed {
		t.Exact = []bool{}
	}
}

// merges reports whether a server may read the tables of a query in place of its rows.
func merges(n *ast.SelectStmt) bool {
	if n.GroupBy != nil || n.Having != nil || n.Distinct || n.Limit != nil || n.From == nil || len(n.WindowSpecs) > 0 {
		return false
	}
	if n.Fields == nil {
		return true
	}
	var v ownAggregates
	for _, f := range n.Fields.Fields {
		if f.Expr != nil {
			f.Expr.Accept(&v)
		}
	}
	if n.OrderBy != nil {
		n.OrderBy.Accept(&v)
	}
	return !v.found
}

// readsTables reports whether a FROM clause names tables only, without derived ones.
func readsTables(n *ast.TableRefsClause) bool {
	var v derivedTables
	n.Accept(&v)
	return !v.found
}

// ownAggregates finds aggregates and window functions, except for those in subqueries.
type ownAggregates struct{ found bool }

func (v *ownAggregates) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.AggregateFuncExpr, *ast.WindowFuncExpr:
		v.found = true
	case *ast.SubqueryExpr:
		return n, true
	}
	return n, false
}

func (v *ownAggregates) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// fieldColumns finds the columns and subqueries of a field.
type fieldColumns struct{ column, query bool }

func (v *fieldColumns) Enter(n ast.Node) (ast.Node, bool) {
	switch n.(type) {
	case *ast.ColumnNameExpr:
		v.column = true
	case *ast.SubqueryExpr:
		v.query = true
	}
	return n, false
}

func (v *fieldColumns) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// derivedTables finds derived tables.
type derivedTables struct{ found bool }

func (v *derivedTables) Enter(n ast.Node) (ast.Node, bool) {
	if s, ok := n.(*ast.TableSource); ok {
		_, table := s.Source.(*ast.TableName)
		_, join := s.Source.(*ast.Join)
		v.found = v.found || !table && !join
	}
	return n, false
}

func (v *derivedTables) Leave(n ast.Node) (ast.Node, bool) { return n, true }

// outermostWith returns the WITH clause of a query.
func outermostWith(n ast.Node) *ast.WithClause {
	switch n := n.(type) {
	case *ast.SelectStmt:
		return n.With
	case *ast.SetOprStmt:
		return n.With
	}
	return nil
}
