package plan

import (
	"slices"

	"locus/router/catalog"
	"locus/router/stmt"
)

// root returns the node that represents a node's class.
func (sc *scope) root(n *node) int {
	i := n.class
	for sc.nodes[i].class != i {
		i = sc.nodes[i].class
	}
	n.class = i // shorten the path for the next call
	return i
}

// passes reports whether a block returns every row that satisfies its WHERE. A condition on its result then has the same effect
// inside the block.
func passes(b *stmt.Block) bool {
	if b.Limited || b.Grouped || b.Having {
		return false
	}
	for _, f := range b.Fields {
		if f.Aggregate != stmt.NoAggregate {
			return false
		}
	}
	return true
}

// region is the tables to whose rows a condition applies. Their rows that don't satisfy it have no effect on the answer.
type region struct {
	sc          *scope
	b           *stmt.Block
	first, last int // tables of b
	sub         *stmt.Block
	grouped     []*stmt.Block // derived tables that are grouped by the condition's column: the condition applies to whole groups
}

// has reports whether the condition applies to the rows of a node. The node is a table of the region, a table in a derived table
// of the region, or a table of the subquery in the condition.
func (r region) has(n *node) bool {
	if n.block == r.b {
		return r.first <= n.index && n.index < r.last
	}
	if r.sub != nil && n.block == r.sub {
		return true
	}
	for i := r.first; i < r.last; i++ {
		if source := r.b.Tables[i].Source; source == n.block && (r.sc.passes(source) || slices.Contains(r.grouped, source)) {
			return true
		}
	}
	return false
}

func (sc *scope) passes(b *stmt.Block) bool { return !sc.windows && passes(b) }

// groupsBy reports whether a block's rows are grouped by a key of one of its tables, possibly with other columns. Rows with
// different keys are then in different groups. A condition on the key in the result has the same effect inside the block, unless
// LIMIT counts the groups.
func (sc *scope) groupsBy(b *stmt.Block, n *node, key *catalog.Key) bool {
	if sc.windows || b.Limited || n.block != b {
		return false
	}
	for of, by := range sc.groupKeys(b) {
		if of == n && by == key {
			return true
		}
	}
	return false
}

// attachBlock joins classes by the conditions of one block. WHERE applies to all its tables. The ON of an outer join applies to
// the tables of the side that may be absent.
func (sc *scope) attachBlock(b *stmt.Block) {
	sc.attach(b, b.Where, region{sc: sc, b: b, last: len(b.Tables)})
	for _, j := range b.Joins {
		sc.attach(b, j.On, region{sc: sc, b: b, first: j.First, last: j.Last})
	}
}

func (sc *scope) attach(b *stmt.Block, c *stmt.Condition, r region) {
	if c == nil {
		return
	}
	switch c.Kind {
	case stmt.And:
		for _, arg := range c.Args {
			sc.attach(b, arg, r)
		}
	case stmt.Join:
		x, xk := sc.resolve(b, c.Column)
		y, yk := sc.resolve(b, c.Other)
		switch {
		case xk == nil || yk == nil || xk.Domain() != yk.Domain():
		case c.InRows: // may be compared as doubles
		case c.NullSafe && (x.maybeAbsent(b) || y.maybeAbsent(b)): // holds for absent rows
		default:
			for _, side := range []struct {
				n   *node
				key *catalog.Key
			}{{x, xk}, {y, yk}} {
				if sc.groupsBy(side.n.block, side.n, side.key) {
					r.grouped = append(r.grouped, side.n.block)
				}
			}
			sc.joinBy(x, xk, y, yk, r)
		}
	case stmt.Within:
		sc.attachWithin(b, c, r)
	case stmt.Opaque, stmt.Or, stmt.Equal, stmt.Between:
	}
}

// maybeAbsent reports whether the row that a condition of b reads may be one that an outer join did not find, in b or in a block
// around it.
func (n *node) maybeAbsent(b *stmt.Block) bool { return n.block != b || n.ref.Nullable }

// attachWithin joins both sides of column IN (SELECT field …) into one class. Outer rows without a match have no effect on the
// answer. The same is true for rows of the subquery, if it returns all rows that it finds.
func (sc *scope) attachWithin(b *stmt.Block, c *stmt.Condition, r region) {
	if c.Query == nil {
		return
	}
	x, xk := sc.resolve(b, c.Column)
	y, yk := sc.field(c.Query, c.Field)
	if xk == nil || yk == nil || xk.Domain() != yk.Domain() {
		return
	}
	if sc.passes(c.Query) || sc.groupsBy(c.Query, y, yk) {
		r.sub = c.Query
	}
	sc.joinBy(x, xk, y, yk, r)
}

// joinBy records that keys of two nodes are equal.
func (sc *scope) joinBy(x *node, xk *catalog.Key, y *node, yk *catalog.Key, r region) {
	if xk == x.table.Side() && yk == y.table.Side() {
		sc.joinSides(x, y, r)
	}
	sc.join(x, y, r)
}

// join merges two classes whose rows have one gene wherever the condition holds.
//
// A class follows the other one if the condition applies to all its tables: its rows are only used together with rows of the
// other class, wherever these are. If the condition applies to neither class as a whole, it doesn't determine where rows are. In
// `a LEFT JOIN b ON b.x = a.x AND b.x = c.x`, b follows a. Then nothing follows from b.x = c.x, because rows of a and c are used
// even where it doesn't hold.
func (sc *scope) join(x, y *node, r region) {
	rx, ry := sc.root(x), sc.root(y)
	if rx == ry {
		return
	}
	homes := []home(nil)
	xFollows, yFollows := sc.wholly(rx, r), sc.wholly(ry, r)
	if xFollows {
		homes = append(homes, sc.nodes[ry].homes...)
	}
	if yFollows {
		homes = append(homes, sc.nodes[rx].homes...)
	}
	if homes == nil {
		return
	}
	low, high := min(rx, ry), max(rx, ry)
	sc.nodes[high].class = low
	sc.nodes[low].homes = homes
}

func (sc *scope) wholly(root int, r region) bool {
	for i := range sc.nodes {
		if n := &sc.nodes[i]; sc.root(n) == root && !r.has(n) {
			return false
		}
	}
	return true
}

// home is a block whose WHERE holds for all rows of a class that are used in the answer. If the block reads groups, its WHERE
// applies to the columns that these are grouped by.
type home struct {
	block  *stmt.Block
	groups *stmt.Block // the block of the derived table with these groups, or nil
}

// homesOf returns the blocks whose WHERE every used row of a block's tables must satisfy: the block itself, and the blocks that
// read it as a derived table.
func (sc *scope) homesOf(b *stmt.Block) []home {
	homes := []home{{block: b}}
	for reader := sc.readers[b]; reader != nil; b, reader = reader, sc.readers[reader] {
		if !sc.passes(b) {
			return append(homes, home{reader, b})
		}
		homes = append(homes, home{block: reader})
	}
	return homes
}

// classes returns a class for each group of sharded tables, narrowed by the conditions of its homes.
func (sc *scope) classes() []class {
	var out []class
	for i := range sc.nodes {
		n := &sc.nodes[i]
		if !n.sharded() || sc.root(n) != i {
			continue
		}
		c := class{table: n.table, block: n.block}
		for at, h := range n.homes {
			if slices.Index(n.homes, h) == at && (h.groups == nil || !slices.Contains(n.homes, home{block: h.block})) {
				c.cond = both(c.cond, sc.narrow(h.block, h.block.Where, func(n *node, key *catalog.Key) bool {
					return sc.root(n) == i && (h.groups == nil || sc.groupsBy(h.groups, n, key))
				}))
			}
		}
		out = append(out, c)
	}
	return out
}

func both(a, b *condition) *condition {
	switch {
	case a == nil:
		return b
	case b == nil:
		return a
	}
	return &condition{kind: stmt.And, args: []*condition{a, b}}
}

// narrow returns the part of a block's condition that determines where rows are: the part on the keys that belong to them. Nil means
// that rows of any gene may satisfy the condition.
func (sc *scope) narrow(b *stmt.Block, c *stmt.Condition, belongs func(*node, *catalog.Key) bool) *condition {
	if c == nil {
		return nil
	}
	switch c.Kind {
	case stmt.And, stmt.Or:
		return sc.narrowTree(b, c, belongs)
	case stmt.Equal, stmt.Between:
		n, key := sc.resolve(b, c.Column)
		if key == nil || !belongs(n, key) {
			return nil
		}
		return leaf(c, key, n.table)
	case stmt.Opaque, stmt.Join, stmt.Within:
	}
	return nil
}

func (sc *scope) narrowTree(b *stmt.Block, c *stmt.Condition, belongs func(*node, *catalog.Key) bool) *condition {
	out := &condition{kind: c.Kind}
	for _, arg := range c.Args {
		narrowed := sc.narrow(b, arg, belongs)
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

func leaf(c *stmt.Condition, key *catalog.Key, t *catalog.Table) *condition {
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
		kind: c.Kind, key: key, table: t.TableName, operands: c.Operands, low: c.Low, high: c.High,
		nullSafe: c.NullSafe, inRows: c.InRows, beside: c.Beside, side: key == t.Side(),
	}
}
