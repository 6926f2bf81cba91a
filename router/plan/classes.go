package plan

import (
	"locus/router/catalog"
	"locus/router/stmt"
)

// root gives the node that stands for a node's class.
func (sc *scope) root(n *node) int {
	i := n.class
	for sc.nodes[i].class != i {
		i = sc.nodes[i].class
	}
	return i
}

// attachBlock joins classes by the conditions of one block.
//
// A condition speaks for the rows of some tables only: WHERE for those of its
// block, the ON of an outer join for those of the side that may be absent.
// Rows of these tables that don't satisfy it take part in nothing; so whichever
// class lies wholly within them joins the class on the other side. A class that
// reaches outside of them doesn't: `a LEFT JOIN b ON b.x = a.x AND b.x = c.x`
// puts b to a, and says nothing of a and c.
func (sc *scope) attachBlock(b *stmt.Block) {
	sc.attach(b, b.Where, 0, len(b.Tables))
	for _, j := range b.Joins {
		sc.attach(b, j.On, j.First, j.Last)
	}
}

func (sc *scope) attach(b *stmt.Block, c *stmt.Condition, first, last int) {
	if c == nil {
		return
	}
	switch c.Kind {
	case stmt.And:
		for _, arg := range c.Args {
			sc.attach(b, arg, first, last)
		}
	case stmt.Join:
		x, xk := sc.resolve(b, c.Column)
		y, yk := sc.resolve(b, c.Other)
		switch {
		case xk == nil || yk == nil || xk.Domain() != yk.Domain():
		case c.InRows: // may be compared as doubles
		case c.NullSafe && (x.ref.Nullable || y.ref.Nullable): // holds for absent rows
		default:
			sc.join(x, y, func(n *node) bool { return n.block == b && first <= n.index && n.index < last })
		}
	case stmt.Opaque, stmt.Or, stmt.Equal, stmt.Between:
	}
}

// join makes one class of two if one of them lies within what the condition
// speaks for.
func (sc *scope) join(x, y *node, spokenFor func(*node) bool) {
	rx, ry := sc.root(x), sc.root(y)
	if rx == ry || !sc.wholly(rx, spokenFor) && !sc.wholly(ry, spokenFor) {
		return
	}
	sc.nodes[max(rx, ry)].class = min(rx, ry)
}

func (sc *scope) wholly(root int, spokenFor func(*node) bool) bool {
	for i := range sc.nodes {
		if n := &sc.nodes[i]; sc.root(n) == root && !spokenFor(n) {
			return false
		}
	}
	return true
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
// conditions of the outermost block that the group reaches into: those of an
// inner block say nothing of the outer block's rows.
func (sc *scope) classes() []class {
	var out []class
	for i := range sc.nodes {
		if !sc.nodes[i].sharded() || sc.root(&sc.nodes[i]) != i {
			continue
		}
		home := sc.nodes[i].block
		for j := range sc.nodes {
			if n := &sc.nodes[j]; sc.root(n) == i && depth(n.block) < depth(home) {
				home = n.block
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
	for _, o := range []*stmt.Operand{c.Low, c.High} {
		if o != nil && !o.Known() {
			return nil
		}
	}
	return &condition{
		kind: c.Kind, key: key, operands: c.Operands, low: c.Low, high: c.High,
		nullSafe: c.NullSafe, inRows: c.InRows,
	}
}
