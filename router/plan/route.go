package plan

import (
	"slices"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Keyed contains the conditions that determine where the rows of a statement on sharded tables are.
type Keyed struct {
	// Owned narrows the statement to the rows that their shard owns. It is nil if the text has no place for that condition.
	Owned *Owned
	// Sought describes how a look-up index narrows a route of several shards. It is nil if none does.
	Sought *Sought

	classes []class
	sided   bool             // each class's rows are on one shard even if their gene is divided
	pinned  router.ShardName // the shard of the single tables that are joined with the sharded ones; may be empty
	noShard *Refusal         // why no shard can have all tables; nil: one can
	arms    []Keyed          // the arms of a UNION ALL whose rows may be on different shards; nil for other statements
}

// class is a group of sharded tables whose joined rows have one gene, with the statement's condition on that gene.
type class struct {
	table *catalog.Table
	block *stmt.Block // of its first table
	cond  *condition  // nil: any gene
}

// condition is the part of a WHERE clause that applies to one class.
type condition struct {
	kind      stmt.ConditionKind
	args      []*condition
	key       *catalog.Key
	table     catalog.TableName // of the key
	operands  []stmt.Operand
	low, high *stmt.Operand
	nullSafe  bool
	inRows    bool           // the key is in a list of rows; see catalog.Key.OfInRows
	beside    []stmt.Operand // the values in the same place of the other rows of the list
	side      bool           // the residue of this key places the table's rows
}

// manner is the form in which a condition has a value. Servers compare values differently in different forms.
type manner uint8

const (
	alone manner = iota
	listed
	mixed // among values of other types, in a list of rows
)

// geneOf returns the gene of the rows that satisfy the condition with a value.
func (c *condition) geneOf(v stmt.Value, how manner) (gene.Gene, catalog.Match) {
	switch {
	case c.nullSafe && v.Kind == stmt.Null, // matches rows that an outer join doesn't find
		how == mixed:
		return 0, catalog.Anywhere
	case c.inRows:
		return c.key.OfInRows(v)
	case how == listed:
		return c.key.OfListed(v)
	}
	return c.key.Of(v)
}

// manner returns how servers compare the values of the condition.
func (c *condition) manner(v *Values) manner {
	o := &c.operands[0]
	switch {
	case c.inRows && !c.key.Column.IsInteger() && !c.besideTexts(v):
		return mixed
	case len(c.operands) > 1 || o.Variable != "": // a server doesn't treat a variable as a literal
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

// maxBeside limits the values that are compared with all others, which takes quadratic time.
const maxBeside = 100

// besideTexts reports whether all values in the same place of a list of rows are compared with the column as text. If one is a
// number, MariaDB also compares the texts as numbers: (name, n) IN (('ann', 1), (42, 2)) finds 'zoe', because both 'ann' and
// 'zoe' are 0.
func (c *condition) besideTexts(v *Values) bool {
	text := func(v stmt.Value) bool {
		return v.Kind == stmt.String || v.Kind == stmt.Null || v.Kind == stmt.Bytes && c.key.Column.IsBinary()
	}
	if len(c.beside) > maxBeside {
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

// Route describes where one execution runs. It is reused by later executions.
type Route struct {
	// Shards are indexes into the map's shards, in ascending order. Empty means that no row can match. Any shard may then answer.
	Shards []int
	// Genes are the genes of the conditions, in the order of the conditions. If All is true, the statement may concern every
	// gene.
	Genes []gene.Gene
	All   bool

	ranges []gene.Range
	sides  []side // of Genes
}

// Meets reports whether the statement may concern rows of one of the genes.
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

// Named reports whether the statement concerns no rows of genes other than Genes.
func (r *Route) Named() bool { return !r.All && len(r.ranges) == 0 }

func (r *Route) reset() {
	r.Shards, r.Genes, r.All, r.ranges, r.sides = r.Shards[:0], r.Genes[:0], false, r.ranges[:0], r.sides[:0]
}

// Values are the values of one execution.
type Values struct {
	*stmt.Args
	// InsertID is the session's LAST_INSERT_ID().
	InsertID uint64
	// Numbers are the numbers that the rows of an INSERT were issued for an AUTO_INCREMENT column. A row that has its own number
	// has 0 here. Nil means that none have been issued yet.
	Numbers []uint64
	// UserVariable returns the value of a user variable. The name is in lower case, without @. A variable that was never set is
	// NULL. UserVariable is nil if user variables are not known.
	UserVariable func(name string) stmt.Value
	// CellVariable is UserVariable for the values of an INSERT's rows.
	CellVariable func(name string) stmt.Value
	// CellExpression returns the value of another expression in an INSERT's row. It may query a shard. The result is Unknown if it can't
	// be computed. CellExpression may be nil.
	CellExpression func(text string) stmt.Value
}

// operand returns the value of an operand. The operand is passed by address because it is large, and this runs for each statement
// that names a key.
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

// Locate finds the shards of the rows, whether or not their answers can be combined.
func (p *Keyed) Locate(m *router.Map, v *Values, out *Route) error {
	out.reset()
	if p.noShard != nil {
		out.All = true
		return p.noShard
	}
	if p.arms != nil {
		return p.locateArms(m, v, out)
	}
	for i := range p.classes {
		if i == 0 {
			out.setClass(m, p.classes[0].cond, v)
			continue
		}
		if reason := p.joinClass(m, i, v, out); reason != nil {
			return reason
		}
	}
	if p.pinned != "" {
		if reason := p.requirePinned(m, out); reason != nil {
			return reason
		}
	}
	if reason := p.checkDivided(m, out); reason != nil {
		return reason
	}
	return nil
}

// joinClass requires that another class is on the single shard of the classes before it. A class without rows can be on any shard.
func (p *Keyed) joinClass(m *router.Map, i int, v *Values, out *Route) *Refusal {
	var other Route
	other.setClass(m, p.classes[i].cond, v)
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

// requirePinned requires that the rows are on the shard of the single tables. If no row can match, it sets the route to that shard.
func (p *Keyed) requirePinned(m *router.Map, out *Route) *Refusal {
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

// onlyGene returns the gene of all rows that the statement may concern. one is false if they may have several genes.
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

// setClass sets the route from the condition of one class.
func (r *Route) setClass(m *router.Map, c *condition, v *Values) {
	if c != nil && c.kind == stmt.Equal && len(c.operands) == 1 {
		if r.setSingle(m, c, v) {
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

// setSingle handles the common case of one column and one value. It returns false if the condition is not that case.
func (r *Route) setSingle(m *router.Map, c *condition, v *Values) bool {
	o := &c.operands[0]
	if o.Slot >= 0 && v.Slots[o.Slot].Count != 1 {
		return false
	}
	value, how := v.operand(o), c.manner(v)
	g, match := c.geneOf(value, how)
	if match != catalog.Here {
		return false
	}
	low, high := r.owners(m, c, g, value, how)
	if r.Shards = append(r.Shards, low); high >= 0 {
		r.Shards = append(r.Shards, high)
	}
	return true
}

// eval returns the shards whose rows may satisfy a condition. known is false if that is every shard. It records the genes of the
// condition's values, which are a superset of the genes of the rows.
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

// add adds the shards of one value. It returns false if a row on any shard may match the value.
func (r *Route) add(m *router.Map, c *condition, value stmt.Value, how manner, shards *[]int) bool {
	g, match := c.geneOf(value, how)
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

// computed returns the value of a cell of an INSERT that is LAST_INSERT_ID() or a constant expression, perhaps of user variables. It
// returns the zero value for expressions that only the server can compute, and for those that would ask for a generated value.
func (v *Values) computed(c stmt.Cell) stmt.Value {
	if _, insertID := v.Computed(c); insertID {
		return stmt.UintValue(v.InsertID)
	}
	if value := v.Constant(c, v.CellVariable); value.Kind != stmt.Unknown {
		return generatedByNone(value)
	}
	if text, plain := v.Expression(c); plain && v.CellExpression != nil {
		return generatedByNone(v.CellExpression(text))
	}
	return stmt.Value{}
}

// generatedByNone returns a value, or the zero value for one that would ask for a generated value.
func generatedByNone(v stmt.Value) stmt.Value {
	if AsksForValue(v) {
		return stmt.Value{}
	}
	return v
}
