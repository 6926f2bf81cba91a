package stmt

import (
	"github.com/pingcap/tidb/pkg/parser/ast"
)

// tableTree reads the join tree of a FROM clause. nullable reports whether all of it is on the optional side of an
// outer join.
func (r *reader) tableTree(b *Block, n ast.ResultSetNode, nullable bool) {
	switch n := n.(type) {
	case *ast.Join:
		r.join(b, n, nullable)
	case *ast.TableSource:
		r.tableSource(b, n, nullable)
	case *ast.TableName:
		r.table(b, n, "", nullable)
	default:
		r.fail("a table of an unknown kind, %T", n)
	}
}

func (r *reader) join(b *Block, n *ast.Join, nullable bool) {
	if n.Right == nil {
		r.tableTree(b, n.Left, nullable)
		return
	}
	first := len(b.Tables)
	r.tableTree(b, n.Left, nullable || n.Tp == ast.RightJoin)
	middle := len(b.Tables)
	r.tableTree(b, n.Right, nullable || n.Tp == ast.LeftJoin)
	last := len(b.Tables)
	b.Natural = b.Natural || n.NaturalJoin
	var on *Condition
	if n.On != nil {
		on = r.condition(n.On.Expr)
		r.noteOn(b, n, nullable, [3]int{first, middle, last})
	}
	for _, c := range n.Using {
		on = and(on, b.using(c.Name.O, first, middle, n.Tp == ast.RightJoin))
	}
	switch {
	case on == nil:
	case n.Tp == ast.LeftJoin:
		b.Joins = append(b.Joins, JoinCondition{on, middle, last})
	case n.Tp == ast.RightJoin:
		b.Joins = append(b.Joins, JoinCondition{on, first, middle})
	case nullable:
		b.Joins = append(b.Joins, JoinCondition{on, first, last})
	default:
		b.Where = and(b.Where, on)
	}
}

// noteOn records the conditions of a join for FindPlaces.
func (r *reader) noteOn(b *Block, n *ast.Join, nullable bool, at [3]int) {
	switch {
	case n.Tp == ast.LeftJoin:
		r.noteConjuncts(b, n.On.Expr, at[1], at[2], true)
	case n.Tp == ast.RightJoin:
		r.noteConjuncts(b, n.On.Expr, at[0], at[1], true)
	case nullable:
		r.noteConjuncts(b, n.On.Expr, at[0], at[2], true)
	default:
		r.noteConjuncts(b, n.On.Expr, 0, -1, false)
	}
}

// noteTable records for FindPlaces that n is the next table of the block.
func (r *reader) noteTable(n *ast.TableName, b *Block) {
	if r.refs == nil {
		r.refs = map[*ast.TableName]tableAt{}
	}
	r.refs[n] = tableAt{b, len(b.Tables)}
}

// using reads one column of USING (…) between the tables [first, middle) and those from middle on.
func (b *Block) using(name string, first, middle int, right bool) *Condition {
	left := b.merged(name, first, middle)
	other := b.merged(name, middle, len(b.Tables))
	if left == nil || other == nil {
		b.Using = true
		return nil
	}
	c := &Condition{
		Kind:   Join,
		Column: ColumnRef{Table: left.Alias, Name: name},
		Other:  ColumnRef{Table: other.Alias, Name: name},
	}
	m := MergedColumn{Name: name, Alias: left.Alias}
	if right {
		m.Alias = other.Alias
	}
	m.Tables = append(append(m.Tables, left.Tables...), other.Tables...)
	b.Merged = append(b.Merged, m)
	return c
}

// merged resolves a column's unqualified name within the tables [first, last): to the column of the only table, or to
// an earlier USING's.
func (b *Block) merged(name string, first, last int) *MergedColumn {
	if last-first == 1 {
		alias := b.Tables[first].Alias
		return &MergedColumn{Name: name, Alias: alias, Tables: []string{alias}}
	}
	for i := len(b.Merged) - 1; i >= 0; i-- {
		m := &b.Merged[i]
		if lower(m.Name) != lower(name) {
			continue
		}
		for _, t := range b.Tables[first:last] {
			if t.Alias == m.Alias {
				return m
			}
		}
	}
	return nil
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

func (r *reader) tableSource(b *Block, n *ast.TableSource, nullable bool) {
	switch source := n.Source.(type) {
	case *ast.TableName:
		r.table(b, source, n.AsName.O, nullable)
	case *ast.Join:
		r.join(b, source, nullable)
	default:
		if !r.countTable(b) {
			return
		}
		b.Tables = append(b.Tables, TableRef{Alias: n.AsName.O, Derived: true, Nullable: nullable})
		outer, read := b.Parent, r.l.laid()
		if n.Lateral || read.lateral[lower(n.AsName.O)] {
			outer = b
		}
		if query, ok := source.(*ast.SelectStmt); ok && len(n.ColumnNames) == 0 && !read.opaque[lower(n.AsName.O)] {
			r.reads(b, query)
		}
		r.query(source, outer)
	}
}

func (r *reader) table(b *Block, n *ast.TableName, alias string, nullable bool) {
	r.placed[n] = true
	if !r.countTable(b) {
		return
	}
	ref := TableRef{TableName: TableName{n.Schema.O, n.Name.O}, Alias: alias, Nullable: nullable, Partitioned: len(n.PartitionNames) > 0}
	if alias == "" {
		ref.Alias = n.Name.O
	}
	c := r.cteOf(n)
	ref.Derived = c != nil
	switch {
	case r.places == nil:
	case c == nil:
		r.noteTable(n, b)
	case !c.reading:
		r.opened[c.uses]++
		again := r.opened[c.uses] > 1
		r.places.Reopens = r.places.Reopens || again
		if c.number < 0 {
			r.reopensOther = r.reopensOther || again
		} else {
			r.commonReads[n] = c.number
		}
	}
	b.Tables = append(b.Tables, ref)
	if c == nil || c.query == nil {
		return
	}
	*c.uses++
	if uses := c.uses; *uses == 1 {
		query, at := c.query, len(b.Tables)-1
		r.links = append(r.links, func() {
			if *uses == 1 {
				b.Tables[at].Source = r.blocks[query]
			}
		})
	}
}

// reads records the block that b's last table, a derived one, reads.
func (r *reader) reads(b *Block, query *ast.SelectStmt) {
	at := len(b.Tables) - 1
	r.links = append(r.links, func() { b.Tables[at].Source = r.blocks[query] })
}
