package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

func (r *reader) insert(n *ast.InsertStmt) error {
	r.out.Kind = Insert
	if n.IsReplace {
		r.out.Kind = Replace
	}
	table := firstTable(n.Table.TableRefs)
	if table == nil {
		return &SyntaxError{"INSERT names no table"}
	}
	in := &Insertion{
		Table:  TableName{table.Schema.O, table.Name.O},
		Ignore: n.IgnoreErr, FromSelect: n.Select != nil, Partitioned: len(n.PartitionNames) > 0,
		End: r.l.Anchor(r.l.end()),
	}
	r.out.Insert = in
	for _, c := range n.Columns {
		in.Columns = append(in.Columns, c.Name.O)
	}
	r.columnList(in)
	if n.Setlist {
		r.insertSet(in, n)
	}
	for _, a := range n.OnDuplicate {
		in.Update = append(in.Update, r.assignment(a))
	}
	if n.Select != nil {
		r.query(n.Select, nil)
	}
	for _, row := range n.Lists {
		for _, e := range row {
			e.Accept(&subqueries{r: r, b: nil})
		}
	}
	return nil
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

// columnList finds the parenthesis that closes the list of columns.
func (r *reader) columnList(in *Insertion) {
	body := r.l.clause(0, "values", "value", "set", "select", "with", "table")
	open := r.l.openingBefore(body)
	if open < 0 || in.Partitioned {
		return
	}
	if end := r.l.closing(open); end >= 0 {
		in.HasList = true
		in.ColumnsEnd = r.l.Anchor(end)
	}
}

func (r *reader) insertSet(in *Insertion, n *ast.InsertStmt) {
	in.Columns = nil
	if set := r.l.clause(0, "set"); set >= 0 {
		in.SetStart = r.l.Anchor(set + len("set"))
	}
	for i, c := range n.Columns {
		in.Set = append(in.Set, Assignment{Column: columnRef(c), Value: r.operand(n.Lists[0][i])})
	}
}

func (r *reader) assignment(a *ast.Assignment) Assignment {
	return Assignment{Column: columnRef(a.Column), Value: r.operand(a.Expr)}
}

func (r *reader) update(n *ast.UpdateStmt) {
	r.out.Kind = Update
	b := r.newBlock(nil)
	r.tables(b, n.TableRefs.TableRefs, joinSide{})
	r.where(b, n.Where)
	for _, a := range n.List {
		r.out.Assign = append(r.out.Assign, r.assignment(a))
	}
	set := r.l.clause(0, "set")
	end := r.l.end()
	if set >= 0 {
		if clause := r.l.clause(set, "where", "order", "limit"); clause >= 0 {
			end = clause
		}
	}
	r.out.SetClause = r.l.Anchor(end)
	r.written(b, n.Limit, n.Order)
	r.nested(b, n)
}

func (r *reader) delete(n *ast.DeleteStmt) {
	r.out.Kind = Delete
	b := r.newBlock(nil)
	r.tables(b, n.TableRefs.TableRefs, joinSide{})
	r.where(b, n.Where)
	r.written(b, n.Limit, n.Order)
	r.nested(b, n)
}

func (r *reader) written(b *Block, limit *ast.Limit, order *ast.OrderByClause) {
	for i := range b.Tables {
		b.Tables[i].Written = true
	}
	if limit != nil {
		b.Limit = r.limit(limit)
	}
	if order != nil {
		for _, item := range order.Items {
			b.Order = append(b.Order, r.orderItem(item))
		}
	}
}
