package plan

import (
	"bytes"
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/gene"
	"locus/router/stmt"
)

// class is a group of sharded tables whose rows have one gene, and what the
// statement says of that gene.
type class struct {
	table *catalog.Table
	cond  *condition // nil: any gene
}

// condition is what is left of a WHERE clause for one class.
type condition struct {
	kind      stmt.ConditionKind
	args      []*condition
	key       *catalog.Key
	operands  []stmt.Operand
	low, high *stmt.Operand
	nullSafe  bool
}

// Route is where one execution runs. It is reused from execution to execution.
type Route struct {
	// Shards are indexes into the map's shards, ascending. Empty: the statement
	// can hold for no row, and any shard may say so.
	Shards []int
	// Genes are those that were found, in the order found; with All set it may
	// be every gene.
	Genes []gene.Gene
	All   bool

	ranges []gene.Range
	spare  []int
}

func (r *Route) reset() {
	r.Shards, r.Genes, r.All, r.ranges = r.Shards[:0], r.Genes[:0], false, r.ranges[:0]
}

// Values are what an execution compares with.
type Values struct {
	*stmt.Args
	// InsertID is the session's LAST_INSERT_ID().
	InsertID uint64
}

func (v *Values) operand(o stmt.Operand) stmt.Value {
	if o.InsertID {
		return stmt.UintValue(v.InsertID)
	}
	return v.Operand(o)
}

// Route finds the shards of a Keyed plan. It is safe for concurrent use with
// different routes.
func (p *Plan) Route(m *router.Map, v *Values, out *Route) error {
	out.reset()
	for i := range p.classes {
		if i == 0 {
			out.class(m, p.classes[0].cond, v)
			continue
		}
		if err := p.together(m, i, v, out); err != nil {
			return err
		}
	}
	if len(out.Shards) > 1 && p.Merge == nil {
		return p.NoMerge
	}
	if p.pinned != "" && !p.pinnedHere(m, out) {
		return refuse(CrossShard, "it joins a table that lives on shard %s with rows that live elsewhere: read them in two statements", p.pinned)
	}
	return p.agreed(v, out)
}

// together demands that another class is on the very shard of the first.
func (p *Plan) together(m *router.Map, i int, v *Values, out *Route) error {
	var other Route
	other.class(m, p.classes[i].cond, v)
	out.Genes = append(out.Genes, other.Genes...)
	out.All = out.All || other.All
	if len(out.Shards) == 1 && slices.Equal(out.Shards, other.Shards) {
		return nil
	}
	return refuse(CrossShard, "it joins rows of %s with rows of %s that may live on different shards: join them on the owner or the ID, or name the owner of both",
		p.classes[0].table.TableName, p.classes[i].table.TableName)
}

func (p *Plan) pinnedHere(m *router.Map, out *Route) bool {
	return len(out.Shards) == 1 && m.Shards()[out.Shards[0]] == p.pinned
}

// class fills the route from one class's condition.
func (r *Route) class(m *router.Map, c *condition, v *Values) {
	if c != nil && c.kind == stmt.Equal && len(c.operands) == 1 {
		if r.single(m, c, v) {
			return
		}
	}
	set, known := r.eval(m, c, v)
	if !known {
		r.All, r.Genes = true, r.Genes[:0]
		r.Shards = appendAll(r.Shards[:0], len(m.Shards()))
		return
	}
	r.Shards = append(r.Shards[:0], set...)
}

// single is the common case: one column, one value.
func (r *Route) single(m *router.Map, c *condition, v *Values) bool {
	o := c.operands[0]
	if o.Slot >= 0 && v.Slots[o.Slot].Count != 1 {
		return false
	}
	g, match := c.key.Of(v.operand(o))
	if match != catalog.Here {
		return false
	}
	r.Genes = append(r.Genes, g)
	r.Shards = append(r.Shards, m.Lookup(g))
	return true
}

func appendAll(dst []int, n int) []int {
	for i := range n {
		dst = append(dst, i)
	}
	return dst
}

// eval gives the shards where a condition may hold; known is false where that
// is all of them. It notes the genes that it meets: a superset of those touched.
func (r *Route) eval(m *router.Map, c *condition, v *Values) (shards []int, known bool) {
	if c == nil {
		return nil, false
	}
	switch c.kind {
	case stmt.And:
		return r.evalAnd(m, c, v)
	case stmt.Or:
		for _, arg := range c.args {
			set, ok := r.eval(m, arg, v)
			if !ok {
				return nil, false
			}
			shards = union(shards, set)
		}
		return shards, true
	case stmt.Equal:
		return r.evalEqual(m, c, v)
	case stmt.Between:
		return r.evalBetween(m, c, v)
	case stmt.Opaque, stmt.Join:
	}
	return nil, false
}

func (r *Route) evalAnd(m *router.Map, c *condition, v *Values) (shards []int, known bool) {
	for _, arg := range c.args {
		set, ok := r.eval(m, arg, v)
		switch {
		case !ok:
		case !known:
			shards, known = set, true
		default:
			shards = intersect(shards, set)
		}
	}
	return shards, known
}

func (r *Route) evalEqual(m *router.Map, c *condition, v *Values) (shards []int, known bool) {
	for _, o := range c.operands {
		if o.Slot < 0 || o.Negative {
			if !r.add(m, c, v.operand(o), &shards) {
				return nil, false
			}
			continue
		}
		slot := v.Slots[o.Slot]
		for i := slot.First; i < slot.First+slot.Count; i++ {
			if !r.add(m, c, v.Value(i), &shards) {
				return nil, false
			}
		}
	}
	return shards, true
}

func (r *Route) add(m *router.Map, c *condition, value stmt.Value, shards *[]int) bool {
	g, match := c.key.Of(value)
	switch {
	case match == catalog.Anywhere, c.nullSafe && value.Kind == stmt.Null:
		return false
	case match == catalog.Nowhere:
		return true
	}
	r.Genes = append(r.Genes, g)
	*shards = insert(*shards, m.Lookup(g))
	return true
}

func (r *Route) evalBetween(m *router.Map, c *condition, v *Values) ([]int, bool) {
	low, high := stmt.Value{Kind: stmt.Null}, stmt.Value{Kind: stmt.Null}
	if c.low != nil {
		if low = v.operand(*c.low); low.Kind == stmt.Null {
			return nil, true
		}
	}
	if c.high != nil {
		if high = v.operand(*c.high); high.Kind == stmt.Null {
			return nil, true
		}
	}
	genes, ok := c.key.Between(low, high)
	if !ok {
		return nil, false
	}
	r.ranges = append(r.ranges, genes)
	return m.ShardsOf(genes.First, genes.Last, nil), true
}

func insert(set []int, shard int) []int {
	at, found := slices.BinarySearch(set, shard)
	if found {
		return set
	}
	return slices.Insert(set, at, shard)
}

func union(a, b []int) []int {
	for _, s := range b {
		a = insert(a, s)
	}
	return a
}

func intersect(a, b []int) []int {
	out := make([]int, 0, min(len(a), len(b)))
	for _, s := range a {
		if _, found := slices.BinarySearch(b, s); found {
			out = append(out, s)
		}
	}
	return out
}

// isInsertID tells whether a cell is LAST_INSERT_ID().
func (v *Values) isInsertID(c stmt.Cell) bool {
	const word = "last_insert_id()"
	text := bytes.TrimSpace(v.Text[c.Start:c.End])
	return len(text) == len(word) && bytes.EqualFold(text, []byte(word))
}
