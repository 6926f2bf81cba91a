package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// Listed is a SHOW of databases, or of a database's contents, whose rows a condition can restrict.
type Listed struct {
	What string // "databases", "tables", "table status", "open tables", "triggers", "events", "procedure status", "function status"
	// Filter is the position of its WHERE, or where one would be. If Like is set, it is a LIKE from Open to Close.
	Filter Filter
	Like   bool
	// Columns are the columns that its WHERE names.
	Columns []string
}

var listedWords = map[ast.ShowStmtType]string{
	ast.ShowDatabases: "databases", ast.ShowTables: "tables", ast.ShowTableStatus: "table status", ast.ShowOpenTables: "open tables",
	ast.ShowTriggers: "triggers", ast.ShowEvents: "events", ast.ShowProcedureStatus: "procedure status", ast.ShowFunctionStatus: "function status",
}

func (r *reader) lists(n *ast.ShowStmt) *Listed {
	what, ok := listedWords[n.Tp]
	if !ok {
		return nil
	}
	end := r.l.end()
	l := &Listed{What: what, Filter: Filter{Open: r.l.Anchor(end), Close: r.l.Anchor(end)}}
	if at := r.l.clause(0, "like"); at >= 0 && n.Pattern != nil {
		l.Like, l.Filter.Open = true, r.l.Anchor(at)
	} else if at := r.l.clause(0, "where"); at >= 0 && n.Where != nil {
		l.Filter.There, l.Filter.Open = true, r.l.Anchor(at+len("where"))
		var named columnNames
		n.Where.Accept(&named)
		l.Columns = named
	}
	return l
}

// columnNames collects the columns that an expression names.
type columnNames []string

// Enter implements ast.Visitor.
func (c *columnNames) Enter(n ast.Node) (ast.Node, bool) {
	if name, is := n.(*ast.ColumnName); is {
		*c = append(*c, name.Name.O)
	}
	return n, false
}

// Leave implements ast.Visitor.
func (c *columnNames) Leave(n ast.Node) (ast.Node, bool) { return n, true }
