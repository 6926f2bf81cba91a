package stmt

import (
	"slices"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

func (r *reader) insert(n *ast.InsertStmt) {
	r.out.Kind = Insert
	if n.IsReplace {
		r.out.Kind = Replace
	}
	table := firstTable(n.Table.TableRefs)
	if table == nil {
		r.fail("INSERT names no table")
		return
	}
	r.placed[table] = true
	in := &Insertion{
		Table:  TableName{table.Schema.O, table.Name.O},
		Ignore: n.IgnoreErr, FromSelect: n.Select != nil, Partitioned: len(n.PartitionNames) > 0,
		End: r.l.Anchor(r.l.end()),
	}
	r.out.Insert = in
	if n.Setlist {
		r.insertSet(in, n)
	} else {
		for _, c := range n.Columns {
			in.Columns = append(in.Columns, c.Name.O)
		}
		r.columnList(in)
		if n.Select != nil {
			r.insertQuery(in)
		}
	}
	r.rowAlias(in)
	in.Empty = !in.HasList && len(r.l.Rows) > 0 && r.l.Rows[0].Count == 0
	for _, a := range n.OnDuplicate {
		update := r.assignment(a)
		update.Same = update.Same || n.Select == nil && a.Column.Table.O == "" && sameColumn(a, in.Table.Name)
		update.FromRow = in.fromRow(a.Expr)
		in.Update = append(in.Update, update)
	}
	in.Tail = in.End
	if n.Select != nil {
		r.query(n.Select, nil)
		r.tail(in, n.OnDuplicate)
	}
	for _, row := range n.Lists {
		for _, e := range row {
			r.expressions(e, nil)
		}
	}
	for _, a := range n.OnDuplicate {
		r.expressions(a, nil)
	}
}

// fromRow returns the column of the new row that an expression of ON DUPLICATE KEY UPDATE is, or "".
func (in *Insertion) fromRow(e ast.ExprNode) string {
	switch e := unwrap(e).(type) {
	case *ast.ValuesExpr:
		return e.Column.Name.Name.O
	case *ast.ColumnNameExpr:
		if in.As == nil || e.Name.Table.O == "" || lower(e.Name.Table.O) == lower(in.Table.Name) {
			return ""
		}
		if in.As.Columns == nil {
			return e.Name.Name.O
		}
		at := slices.IndexFunc(in.As.Columns, func(name string) bool { return lower(name) == lower(e.Name.Name.O) })
		if at >= 0 && at < len(in.Columns) {
			return in.Columns[at]
		}
	}
	return ""
}

func firstTable(n ast.ResultSetNode) *ast.TableName {
	switch n := n.(type) {
	case *ast.Join:
		return firstTable(n.Left)
	case *ast.TableSource:
		return firstTable(n.Source)
	case *ast.TableName:
		return n
	}
	return nil
}

// columnList finds the parenthesis that closes the column list: the first one opened, unless that opens the first row.
func (r *reader) columnList(in *Insertion) {
	from := r.behindPartitions(in)
	open := r.l.opening(from)
	listed := len(in.Columns) > 0
	if !listed && (open < 0 || len(r.l.Rows) == 0 || open >= int(r.l.Rows[0].Open)) {
		if values := r.l.clause(from, "values", "value"); values >= 0 {
			in.ColumnsEnd = r.l.Anchor(values)
		}
		return
	}
	end := r.l.closing(open)
	if open < 0 || end < 0 {
		r.fail("the list of columns was not found")
		return
	}
	in.HasList = true
	in.ColumnsEnd = r.l.Anchor(end)
}

// behindPartitions returns the offset behind PARTITION (…), whose parenthesis is the first one opened.
func (r *reader) behindPartitions(in *Insertion) int {
	if !in.Partitioned {
		return 0
	}
	end := r.l.closing(r.l.opening(0))
	if end < 0 {
		r.fail("the list of partitions was not found")
	}
	return end + 1
}

// insertQuery finds the start of an INSERT's query, behind the column list or the table's name.
func (r *reader) insertQuery(in *Insertion) {
	from := r.behindPartitions(in)
	if in.HasList {
		from = r.l.Offset(in.ColumnsEnd) + 1
	}
	at := r.l.clause(from, "select", "with", "table", "values")
	if open := r.l.opening(from); open >= 0 && (at < 0 || open < at) {
		at = open
	}
	if at >= 0 {
		in.Query, in.Placed = r.l.Anchor(at), true
	}
}

// tail reads ON DUPLICATE KEY UPDATE behind a query.
func (r *reader) tail(in *Insertion, list []*ast.Assignment) {
	if len(list) == 0 {
		return
	}
	at := r.l.phrase("on", "duplicate", "key")
	if at < 0 {
		in.Placed = false
		return
	}
	in.Tail = r.l.Anchor(at)
	for _, a := range list {
		a.Expr.Accept(tailReads{in})
	}
}

// tailReads finds the columns that an expression of ON DUPLICATE KEY UPDATE reads.
type tailReads struct{ in *Insertion }

func (v tailReads) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.ValuesExpr:
		return n, true
	case *ast.ColumnName:
		v.in.TailReads = append(v.in.TailReads, columnRef(n))
	case *ast.SubqueryExpr:
		v.in.TailQueries = true
		return n, true
	}
	return n, false
}

func (v tailReads) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (r *reader) insertSet(in *Insertion, n *ast.InsertStmt) {
	set := r.l.clause(0, "set")
	if set < 0 {
		r.fail("INSERT without SET")
		return
	}
	in.SetStart = r.l.Anchor(set + len("set"))
	for i, c := range n.Columns {
		in.Set = append(in.Set, Assignment{Column: columnRef(c), Value: r.operand(n.Lists[0][i])})
	}
}

// updated is the assignment of an UPDATE.
func (r *reader) updated(a *ast.Assignment) Assignment {
	out := r.assignment(a)
	var uses columnUses
	a.Expr.Accept(&uses)
	out.Reads, out.Queries = uses.columns, uses.queries
	return out
}

// columnUses collects the columns in an expression.
type columnUses struct {
	columns []ColumnRef
	queries bool
}

func (v *columnUses) Enter(n ast.Node) (ast.Node, bool) {
	switch n := n.(type) {
	case *ast.SubqueryExpr:
		v.queries = true
		return n, true
	case *ast.ColumnName:
		v.columns = append(v.columns, columnRef(n))
	}
	return n, false
}

func (v *columnUses) Leave(n ast.Node) (ast.Node, bool) { return n, true }

func (r *reader) assignment(a *ast.Assignment) Assignment {
	return Assignment{Column: columnRef(a.Column), Value: r.operand(a.Expr), Same: sameColumn(a, a.Column.Table.O)}
}

// sameColumn reports whether the value is the assigned column, written with a table's name, or LAST_INSERT_ID() of it.
func sameColumn(a *ast.Assignment, table string) bool {
	e := unwrap(a.Expr)
	if f, ok := e.(*ast.FuncCallExpr); ok && f.FnName.L == "last_insert_id" && len(f.Args) == 1 {
		e = unwrap(f.Args[0])
	}
	c, ok := e.(*ast.ColumnNameExpr)
	return ok && lower(c.Name.Name.O) == lower(a.Column.Name.O) && c.Name.Table.O == table
}

func (r *reader) update(n *ast.UpdateStmt) {
	r.out.Kind = Update
	r.out.IgnoresErrors = n.IgnoreErr
	b := r.newBlock(nil)
	defer r.forget(len(r.ctes))
	r.with(n.With, nil)
	r.tableTree(b, n.TableRefs.TableRefs, false)
	r.where(b, n.Where)
	for _, a := range n.List {
		r.out.Assign = append(r.out.Assign, r.updated(a))
	}
	r.setClause()
	r.filter(b, r.l.clause(0, "set"))
	r.written(b, n.Limit, n.Order)
	r.nested(b, n)
}

// setClause finds the end of the assignment list.
func (r *reader) setClause() {
	set := r.l.clause(0, "set")
	if set < 0 {
		r.fail("UPDATE without SET")
		return
	}
	end := r.l.end()
	if clause := r.l.clause(set, "where", "order", "limit"); clause >= 0 {
		end = clause
	}
	r.out.SetStart, r.out.SetClause = r.l.Anchor(set+len("set")), r.l.Anchor(end)
	if start := r.l.behind("update", "low_priority", "ignore"); start >= 0 {
		r.out.References = &Stretch{r.l.Anchor(start), r.l.Anchor(set)}
	}
}

// deletedFrom finds the table references of a DELETE. Those after USING are not found.
func (r *reader) deletedFrom(n *ast.DeleteStmt) {
	from := r.l.clause(0, "from")
	if from < 0 || n.IsMultiTable && !n.BeforeFrom {
		return
	}
	end := r.l.end()
	if clause := r.l.clause(from, "where", "order", "limit"); clause >= 0 {
		end = clause
	}
	r.out.References = &Stretch{r.l.Anchor(from + len("from")), r.l.Anchor(end)}
}

func (r *reader) delete(n *ast.DeleteStmt) {
	r.out.Kind = Delete
	r.out.IgnoresErrors = n.IgnoreErr
	b := r.newBlock(nil)
	defer r.forget(len(r.ctes))
	r.with(n.With, nil)
	r.tableTree(b, n.TableRefs.TableRefs, false)
	r.where(b, n.Where)
	r.filter(b, r.l.clause(0, "from"))
	r.deletedFrom(n)
	r.written(b, n.Limit, n.Order)
	r.deleted(b, n.Tables)
	r.nested(b, n)
}

// deleted marks the tables that rows are deleted from, if these aren't all tables.
func (r *reader) deleted(b *Block, targets *ast.DeleteTableList) {
	if targets == nil {
		return
	}
	for i := range b.Tables {
		ref := &b.Tables[i]
		ref.Written = false
		for _, t := range targets.Tables {
			if t.Name.O == ref.Alias && (t.Schema.O == "" || ref.Schema == "" || t.Schema.O == ref.Schema) {
				ref.Written = true
			}
		}
	}
}

func (r *reader) written(b *Block, limit *ast.Limit, order *ast.OrderByClause) {
	for i := range b.Tables {
		b.Tables[i].Written = true
	}
	b.Limit = r.limit(limit)
	r.order(b, order)
}
