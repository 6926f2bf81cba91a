package plan

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// node is one table reference of one query block.
type node struct {
	block *stmt.Block
	ref   *stmt.TableRef
	table *catalog.Table // nil for undeclared and derived tables
	class int            // index of the node that stands for its co-located group
}

// scope resolves the names of a statement and groups its sharded tables: tables
// of one class have, in every row of the answer, rows of one gene.
type scope struct {
	ctx   Context
	nodes []node
}

func newScope(s *stmt.Statement, ctx Context) (*scope, error) {
	sc := &scope{ctx: ctx}
	for _, b := range s.Blocks {
		for i := range b.Tables {
			n := node{block: b, ref: &b.Tables[i], class: len(sc.nodes)}
			if !n.ref.Derived {
				t, err := ctx.find(n.ref.TableName)
				if err != nil {
					return nil, err
				}
				n.table = t
			}
			sc.nodes = append(sc.nodes, n)
		}
	}
	for _, b := range s.Blocks {
		sc.attach(b, b.Where, nil)
		for _, join := range b.Joins {
			sc.attach(b, join.On, func(x, y *node) bool { return x.ref.Nullable || y.ref.Nullable })
		}
	}
	return sc, nil
}

func (n *node) sharded() bool { return n.table != nil && n.table.Kind == catalog.Sharded }

// resolve finds the table that a column belongs to, from the inside out, and
// the key that the column is, if any.
func (sc *scope) resolve(b *stmt.Block, ref stmt.ColumnRef) (*node, *catalog.Key) {
	for ; b != nil; b = b.Parent {
		n, unknown := sc.within(b, ref)
		if n != nil {
			if !n.sharded() {
				return n, nil
			}
			key, _ := n.table.KeyOf(ref.Name)
			return n, key
		}
		if unknown {
			return nil, nil
		}
	}
	return nil, nil
}

// within looks in one block. unknown says that the column may belong to a table
// whose columns are not known, or to several.
func (sc *scope) within(b *stmt.Block, ref stmt.ColumnRef) (found *node, unknown bool) {
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if n.block != b {
			continue
		}
		if ref.Table != "" {
			if n.ref.Alias == ref.Table && (ref.Schema == "" || ref.Schema == sc.schemaOf(n)) {
				return n, false
			}
			continue
		}
		if n.table == nil || len(n.table.Columns) == 0 {
			unknown = true
			continue
		}
		if _, ok := n.table.Column(ref.Name); ok {
			if found != nil {
				return nil, true
			}
			found = n
		}
	}
	return found, unknown
}

func (sc *scope) schemaOf(n *node) string {
	if n.ref.Schema != "" {
		return n.ref.Schema
	}
	return sc.ctx.Schema
}

func (sc *scope) root(n *node) int {
	i := n.class
	for sc.nodes[i].class != i {
		i = sc.nodes[i].class
	}
	return i
}

// attach joins the classes of tables whose gene-carrying columns are equal
// wherever c holds. The class of the outer block stays the representative, so
// that conditions of an inner block never narrow an outer one.
func (sc *scope) attach(b *stmt.Block, c *stmt.Condition, allowed func(x, y *node) bool) {
	if c == nil {
		return
	}
	switch c.Kind {
	case stmt.And:
		for _, arg := range c.Args {
			sc.attach(b, arg, allowed)
		}
	case stmt.Join:
		x, xk := sc.resolve(b, c.Column)
		y, yk := sc.resolve(b, c.Other)
		if xk == nil || yk == nil || xk.Domain() != yk.Domain() || (allowed != nil && !allowed(x, y)) {
			return
		}
		rx, ry := sc.root(x), sc.root(y)
		if rx > ry {
			rx, ry = ry, rx
		}
		sc.nodes[ry].class = rx
	case stmt.Opaque, stmt.Or, stmt.Equal, stmt.Between:
	}
}

// depth counts the blocks around b.
func depth(b *stmt.Block) int {
	n := 0
	for ; b.Parent != nil; b = b.Parent {
		n++
	}
	return n
}

// classes gives one class for each group of sharded tables, narrowed by the
// conditions of the outermost block that the group reaches into.
func (sc *scope) classes() []class {
	var out []class
	for i := range sc.nodes {
		if !sc.nodes[i].sharded() || sc.root(&sc.nodes[i]) != i {
			continue
		}
		home := sc.nodes[i].block
		for j := range sc.nodes {
			if sc.nodes[j].sharded() && sc.root(&sc.nodes[j]) == i && depth(sc.nodes[j].block) < depth(home) {
				home = sc.nodes[j].block
			}
		}
		out = append(out, class{table: sc.nodes[i].table, cond: sc.narrow(home, home.Where, i)})
	}
	return out
}

// narrow keeps of a condition what says where the rows of a class are; nil may
// hold anywhere.
func (sc *scope) narrow(b *stmt.Block, c *stmt.Condition, root int) *condition {
	if c == nil {
		return nil
	}
	switch c.Kind {
	case stmt.And, stmt.Or:
		return sc.narrowTree(b, c, root)
	case stmt.Equal, stmt.Between:
		n, key := sc.resolve(b, c.Column)
		if key == nil || sc.root(n) != root {
			return nil
		}
		return leaf(c, key)
	case stmt.Opaque, stmt.Join:
	}
	return nil
}

func (sc *scope) narrowTree(b *stmt.Block, c *stmt.Condition, root int) *condition {
	out := &condition{kind: c.Kind}
	for _, arg := range c.Args {
		narrowed := sc.narrow(b, arg, root)
		switch {
		case narrowed != nil:
			out.args = append(out.args, narrowed)
		case c.Kind == stmt.Or:
			return nil
		}
	}
	switch len(out.args) {
	case 0:
		return nil
	case 1:
		return out.args[0]
	}
	return out
}

func leaf(c *stmt.Condition, key *catalog.Key) *condition {
	for _, o := range c.Operands {
		if !o.Known() {
			return nil
		}
	}
	if c.NullSafe && len(c.Operands) == 1 && c.Operands[0].Slot < 0 {
		return nil // <=> NULL holds for rows
	}
	for _, o := range []*stmt.Operand{c.Low, c.High} {
		if o != nil && !o.Known() {
			return nil
		}
	}
	return &condition{kind: c.Kind, key: key, operands: c.Operands, low: c.Low, high: c.High, nullSafe: c.NullSafe}
}

func systemSchema(name string) bool {
	switch strings.ToLower(name) {
	case "information_schema", "performance_schema", "mysql", "sys":
		return true
	}
	return false
}
