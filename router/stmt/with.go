package stmt

import (
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
)

// cte is the name of a common table expression. Where it is visible, it hides tables with the same name.
type cte struct {
	name string
	// pending: it is defined later in the same WITH.
	pending bool
	// query is its definition. uses counts its readers.
	query *ast.SelectStmt
	uses  *int
	// number is its position in the outermost WITH clause, or -1. reading: its own query is being read, which opens nothing again.
	number  int
	reading bool
}

// with reads the queries of a WITH clause and makes their names visible until forget. A query sees the names before its own. A
// recursive query also sees its own name.
func (r *reader) with(n *ast.WithClause, parent *Block) {
	if n == nil {
		return
	}
	from := len(r.ctes)
	numberOf := func(i int) int {
		if n == r.outermost {
			return i
		}
		return -1
	}
	for i, c := range n.CTEs {
		r.ctes = append(r.ctes, cte{name: c.Name.O, pending: n.IsRecursive, uses: new(int), number: numberOf(i)})
	}
	if !n.IsRecursive {
		r.ctes = r.ctes[:from]
	}
	for i, c := range n.CTEs {
		if n.IsRecursive {
			r.ctes[from+i].pending, r.ctes[from+i].reading = false, true
		}
		r.query(c.Query.Query, parent)
		if n.IsRecursive {
			r.ctes[from+i].reading = false
		}
		if !n.IsRecursive {
			query, _ := c.Query.Query.(*ast.SelectStmt)
			if len(c.ColNameList) > 0 { // the query's fields have other names
				query = nil
			}
			r.ctes = append(r.ctes, cte{name: c.Name.O, query: query, uses: new(int), number: numberOf(i)})
		}
	}
}

func (r *reader) forget(visible int) { r.ctes = r.ctes[:visible] }

// cteOf returns the common table expression that a table's name refers to, or nil. The servers disagree on letter case,
// and on names defined later in a recursive WITH. Such texts are refused.
func (r *reader) cteOf(n *ast.TableName) *cte {
	if n.Schema.L != "" {
		return nil
	}
	for i := len(r.ctes) - 1; i >= 0; i-- {
		c := &r.ctes[i]
		switch {
		case c.name == n.Name.O && c.pending:
			r.fail("the common table expression %s is used before it is defined", c.name)
			return c
		case c.name == n.Name.O:
			return c
		case strings.EqualFold(c.name, n.Name.O):
			r.fail("the common table expression %s is written %s, which is another table to some servers: use one spelling", c.name, n.Name.O)
			return c
		}
	}
	return nil
}
