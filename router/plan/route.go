package plan

import (
	"slices"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Keyed is what tells where the rows of a statement on sharded tables are.
type Keyed struct {
	// Owned narrows the statement to the rows that their shards own; nil where
	// that has no place in the text.
	Owned *Owned

	classes []class
	sided   bool             // each class's rows are on one shard also where their gene is divided
	pinned  router.ShardName // the shard of single tables beside sharded ones
	apart   *Refusal         // why no shard can have all tables
}

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
	table     catalog.TableName // of the key
	operands  []stmt.Operand
	low, high *stmt.Operand
	nullSafe  bool
	inRows    bool           // in a list of rows; see catalog.Key.OfInRows
	beside    []stmt.Operand // what these have in its place
	side      bool           // the key tells the residue of the table's rows
}

// manner is how a value stands in a condition, which servers' comparisons
// depend on.
type manner uint8

const (
	alone manner = iota
	listed
	mixed // among values of other types, in a list of rows
)

// of reads the gene that rows must have for the condition to hold with a value.
func (c *condition) of(v stmt.Value, how manner) (gene.Gene, catalog.Match) {
	switch {
	case c.nullSafe && v.Kind == stmt.Null, // of rows that an outer join lacks
		how == mixed:
		return 0, catalog.Anywhere
	case c.inRows:
		return c.key.OfInRows(v)
	case how == listed:
		return c.key.OfListed(v)
	}
	return c.key.Of(v)
}

// manner tells how the values of the condition are compared.
func (c *condition) manner(v *Values) manner {
	o := &c.operands[0]
	switch {
	case c.inRows && !c.key.Column.IsInteger() && !c.besideTexts(v):
		return mixed
	case len(c.operands) > 1 || o.Variable != "": // what a variable holds is no literal
		return listed
	case o.Slot < 0 || v.Slots[o.Slot].Count == 1:
		return alone
	}
	slot := v.Slots[o.Slot]
	for i := slot.First; i < slot.First+slot.Count; i++ {
		if !c.key.Convertible(v.Value(i)) {
			return listed
		}
	}
	return alone
}

// mostBeside are looked at, since each of them looks at all.
const mostBeside = 100

// besideTexts tells whether all that a list of rows has in this place compares as a text does with the column. Beside a number MariaDB
// compares texts as numbers too: (name, n) IN (('ann', 1), (42, 2)) finds 'zoe', which is 0 as 'ann' is.
func (c *condition) besideTexts(v *Values) bool {
	text := func(v stmt.Value) bool {
		return v.Kind == stmt.String || v.Kind == stmt.Null || v.Kind == stmt.Bytes && c.key.Column.IsBinary()
	}
	if len(c.beside) > mostBeside {
		return false
	}
	for i := range c.beside {
		o := &c.beside[i]
		if o.Slot < 0 || o.Negative {
			if !text(v.operand(o)) {
				return false
			}
			continue
		}
		slot := v.Slots[o.Slot]
		for at := slot.First; at < slot.First+slot.Count; at++ {
			if !text(v.Value(at)) {
				return false
			}
		}
	}
	return true
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
	sides  []side // of Genes
}

// Meets tells whether the statement may concern rows of one of the genes.
func (r *Route) Meets(set gene.Set) bool {
	if r.All {
		return !set.Empty()
	}
	for _, g := range r.Genes {
		if set.Contains(g) {
			return true
		}
	}
	return len(r.ranges) > 0 && !gene.NewSet(r.ranges...).Intersect(set).Empty()
}

// Named tells whether Genes are all that the statement may concern rows of.
func (r *Route) Named() bool { return !r.All && len(r.ranges) == 0 }

func (r *Route) reset() {
	r.Shards, r.Genes, r.All, r.ranges, r.sides = r.Shards[:0], r.Genes[:0], false, r.ranges[:0], r.sides[:0]
}

// Values are what an execution compares with.
type Values struct {
	*stmt.Args
	// InsertID is the session's LAST_INSERT_ID().
	InsertID uint64
	// Numbers are what the rows of an INSERT were given for an AUTO_INCREMENT column, 0 for
	// one that has its own; nil: they were given none yet.
	Numbers []uint64
	// UserVariable gives the value of a user variable, named in lower case
	// without @; nil where they are not known. NULL is what one has that was
	// never set.
	UserVariable func(name string) stmt.Value
}

// operand reads an operand, which is passed by its address: it is large, and each statement that names a key has one.
func (v *Values) operand(o *stmt.Operand) stmt.Value {
	switch {
	case o.InsertID:
		return stmt.UintValue(v.InsertID)
	case o.Variable != "":
		return v.variable(o.Variable)
	}
	return v.Operand(o)
}

func (v *Values) variable(name string) stmt.Value {
	if v.UserVariable == nil {
		return stmt.Value{}
	}
	return v.UserVariable(name)
}

// Locate finds the shards of the rows, whatever becomes of the shards' answers.
func (p *Keyed) Locate(m *router.Map, v *Values, out *Route) error {
	out.reset()
	if p.apart != nil {
		out.All = true
		return p.apart
	}
	for i := range p.classes {
		if i == 0 {
			out.class(m, p.classes[0].cond, v)
			continue
		}
		if reason := p.together(m, i, v, out); reason != nil {
			return reason
		}
	}
	if p.pinned != "" {
		if reason := p.pin(m, out); reason != nil {
			return reason
		}
	}
	if reason := p.divided(m, out); reason != nil {
		return reason
	}
	return nil
}

// together demands that another class is on the one shard of those before. A
// class without rows is everywhere alike.
func (p *Keyed) together(m *router.Map, i int, v *Values, out *Route) *Refusal {
	var other Route
	other.class(m, p.classes[i].cond, v)
	out.Genes, out.sides = append(out.Genes, other.Genes...), append(out.sides, other.sides...)
	out.ranges = append(out.ranges, other.ranges...)
	out.All = out.All || other.All
	switch {
	case len(other.Shards) == 0:
		return nil
	case len(out.Shards) == 0 && len(other.Shards) == 1:
		out.Shards = append(out.Shards, other.Shards...)
		return nil
	case len(out.Shards) == 1 && slices.Equal(out.Shards, other.Shards):
		return nil
	}
	return refuse(CrossShard, "it joins rows of %s with rows of %s that may live on different shards: join them on the owner or the ID, or name the owner of both",
		p.classes[0].table.TableName, p.classes[i].table.TableName)
}

// pin demands the shard of the single tables beside sharded ones.
func (p *Keyed) pin(m *router.Map, out *Route) *Refusal {
	if len(out.Shards) == 0 {
		if at := slices.Index(m.Shards(), p.pinned); at >= 0 {
			out.Shards = append(out.Shards, at)
			return nil
		}
	}
	if len(out.Shards) == 1 && m.Shard(out.Shards[0]) == p.pinned {
		return nil
	}
	return refuse(CrossShard, "it joins a table that lives on shard %s with rows that live elsewhere: read them in two statements", p.pinned)
}

// onlyGene gives the gene that all rows have which the statement may concern, if that
// is known.
func (r *Route) onlyGene() (only gene.Gene, one bool) {
	if r.All || len(r.Genes) == 0 || len(r.ranges) > 0 {
		return 0, false
	}
	for _, g := range r.Genes {
		if g != r.Genes[0] {
			return 0, false
		}
	}
	return r.Genes[0], true
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
		r.All, r.Genes, r.sides = true, r.Genes[:0], r.sides[:0]
		r.Shards = m.ShardsOf(0, m.Width().Last(), r.Shards[:0])
		return
	}
	r.Shards = append(r.Shards[:0], set...)
}

// single is the common case: one column, one value.
func (r *Route) single(m *router.Map, c *condition, v *Values) bool {
	o := &c.operands[0]
	if o.Slot >= 0 && v.Slots[o.Slot].Count != 1 {
		return false
	}
	value, how := v.operand(o), c.manner(v)
	g, match := c.of(value, how)
	if match != catalog.Here {
		return false
	}
	low, high := r.owners(m, c, g, value, how)
	if r.Shards = append(r.Shards, low); high >= 0 {
		r.Shards = append(r.Shards, high)
	}
	return true
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
	case stmt.Opaque, stmt.Join, stmt.Within:
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
	how := c.manner(v)
	for i := range c.operands {
		o := &c.operands[i]
		if o.Slot < 0 || o.Negative {
			if !r.add(m, c, v.operand(o), how, &shards) {
				return nil, false
			}
			continue
		}
		slot := v.Slots[o.Slot]
		for at := slot.First; at < slot.First+slot.Count; at++ {
			if !r.add(m, c, v.Value(at), how, &shards) {
				return nil, false
			}
		}
	}
	return shards, true
}

// add notes the shard of one value; false where it may hold on any.
func (r *Route) add(m *router.Map, c *condition, value stmt.Value, how manner, shards *[]int) bool {
	g, match := c.of(value, how)
	switch match {
	case catalog.Anywhere:
		return false
	case catalog.Nowhere:
		return true
	case catalog.Here:
	}
	low, high := r.owners(m, c, g, value, how)
	if *shards = insert(*shards, low); high >= 0 {
		*shards = insert(*shards, high)
	}
	return true
}

func (r *Route) evalBetween(m *router.Map, c *condition, v *Values) ([]int, bool) {
	low, high := v.bounds(c)
	if c.low != nil && low.Kind == stmt.Null || c.high != nil && high.Kind == stmt.Null {
		return nil, true // a comparison with NULL
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

// computed reads a cell of an INSERT that is no literal: LAST_INSERT_ID() or a
// user variable. Others only the server can compute.
func (v *Values) computed(c stmt.Cell) stmt.Value {
	switch variable, insertID := v.Computed(c); {
	case insertID:
		return stmt.UintValue(v.InsertID)
	case variable != "":
		return v.variable(variable)
	}
	return stmt.Value{}
}
