package advise

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"locus/proxy/schema"
	"locus/router/catalog"
	"locus/router/stmt"
)

// place is a column of a table. Column is in lower case.
type place struct {
	table  catalog.TableName
	column string
}

func (p place) compare(o place) int {
	return cmp.Or(p.table.Compare(o.table), cmp.Compare(p.column, o.column))
}

// mostValues is the number of different values of a column that are remembered.
const mostValues = 3

// evidence contains the facts about the columns from the schema and the statements.
type evidence struct {
	schema *Schema
	// used is the weight of the statements that compare a column with a value, or name it in an INSERT.
	used map[place]float64
	// joined are pairs of columns with equal values, with the weight of the statements that show it; keyed are those of foreign keys.
	joined map[[2]place]float64
	keyed  map[[2]place]bool
	values map[place]map[string]bool
	// compared is the number of executions that compare a column with a value.
	compared map[place]int
	weights  map[place]float64 // see joinWeight
}

func newEvidence(s *Schema) *evidence {
	e := &evidence{
		schema: s, used: map[place]float64{}, joined: map[[2]place]float64{}, keyed: map[[2]place]bool{},
		values: map[place]map[string]bool{}, compared: map[place]int{},
	}
	for _, k := range s.Listing.ForeignKeys {
		for i := range min(len(k.Columns), len(k.Referred)) {
			child, parent := place{k.TableName, strings.ToLower(k.Columns[i])}, place{k.References, strings.ToLower(k.Referred[i])}
			if s.byName[child.table] != nil && s.byName[parent.table] != nil && child != parent {
				e.keyed[pair(child, parent)] = true
			}
		}
	}
	return e
}

func pair(a, b place) [2]place {
	if a.compare(b) > 0 {
		a, b = b, a
	}
	return [2]place{a, b}
}

// note adds the evidence of one execution. It returns the pairs of columns that the statement compares with the same value, with that value.
func (e *evidence) note(database string, s *stmt.Statement, args *stmt.Args, weight float64) map[[2]place]string {
	n := noting{e: e, database: database, args: args, weight: weight, equal: map[string][]place{}}
	for _, b := range s.Blocks {
		n.condition(b, b.Where)
		for _, j := range b.Joins {
			n.condition(b, j.On)
		}
	}
	if in := s.Insert; in != nil {
		if t := n.table(in.Table); t != nil {
			for _, c := range in.Columns {
				n.use(place{t.TableName, strings.ToLower(c)})
			}
		}
	}
	pairs := map[[2]place]string{}
	for value, places := range n.equal {
		for i, p := range places {
			for _, other := range places[:i] {
				if n.joinable(p, other) {
					pairs[pair(p, other)] = value
				}
			}
		}
	}
	return pairs
}

// noteEqual adds the pairs of columns that all executions of a digest compare with the same value. Executions with one value only show nothing.
func (e *evidence) noteEqual(executions []map[[2]place]string, weight float64) {
	if len(executions) < 2 {
		return
	}
	for edge, value := range executions[0] {
		differs, all := false, true
		for _, other := range executions[1:] {
			v, is := other[edge]
			all, differs = all && is, differs || v != value
		}
		if all && differs {
			e.joined[edge] += weight
		}
	}
}

// noting reads one statement.
type noting struct {
	e        *evidence
	database string
	args     *stmt.Args
	weight   float64
	equal    map[string][]place // columns that are compared with the same value
}

func (n *noting) table(name stmt.TableName) *schema.Surveyed {
	return n.e.schema.find(cmp.Or(name.Schema, n.database), name.Name)
}

// resolve returns the column that a name refers to in a block or in the blocks around it.
func (n *noting) resolve(b *stmt.Block, ref stmt.ColumnRef) (place, bool) {
	for ; b != nil; b = b.Parent {
		for i := range b.Tables {
			r := &b.Tables[i]
			if r.Derived || ref.Table != "" && !strings.EqualFold(ref.Table, r.Alias) {
				continue
			}
			if t := n.table(r.TableName); t != nil && column(t, ref.Name) != nil {
				return place{t.TableName, strings.ToLower(ref.Name)}, true
			}
		}
	}
	return place{}, false
}

func (n *noting) use(p place) { n.e.used[p] += n.weight }

func (n *noting) join(a, b place) {
	if n.joinable(a, b) {
		n.e.joined[pair(a, b)] += n.weight
	}
}

func (n *noting) joinable(a, b place) bool {
	return a.table != b.table && sameType(n.e.columnOf(a), n.e.columnOf(b))
}

func (e *evidence) columnOf(p place) *catalog.Column {
	return column(e.schema.byName[p.table], p.column)
}

// condition notes the comparisons that every row must satisfy.
func (n *noting) condition(b *stmt.Block, c *stmt.Condition) {
	if c == nil {
		return
	}
	switch c.Kind {
	case stmt.And:
		for _, arg := range c.Args {
			n.condition(b, arg)
		}
	case stmt.Equal:
		if p, ok := n.resolve(b, c.Column); ok {
			n.compared(p, c)
		}
	case stmt.Join:
		x, known := n.resolve(b, c.Column)
		y, both := n.resolve(b, c.Other)
		if known && both {
			n.join(x, y)
		}
	case stmt.Within:
		if c.Query == nil || c.Field >= len(c.Query.Fields) || c.Query.Fields[c.Field].Column == nil {
			return
		}
		x, known := n.resolve(b, c.Column)
		y, both := n.resolve(c.Query, *c.Query.Fields[c.Field].Column)
		if known && both {
			n.join(x, y)
		}
	case stmt.Opaque, stmt.Or, stmt.Between:
	}
}

// compared notes a comparison with values.
func (n *noting) compared(p place, c *stmt.Condition) {
	n.use(p)
	n.e.compared[p]++
	for i := range c.Operands {
		o := &c.Operands[i]
		if o.Slot < 0 || int(o.Slot) >= len(n.args.Slots) {
			continue
		}
		slot := n.args.Slots[o.Slot]
		for at := slot.First; at < slot.First+slot.Count; at++ {
			value := n.args.Value(at)
			text := value.String()
			if n.args.Literals[at].Kind == stmt.ParamLiteral || value.Kind == stmt.Unknown {
				n.any(p)
				continue
			}
			n.value(p, text)
			if len(c.Operands) == 1 && slot.Count == 1 && tells(n.e.columnOf(p)) {
				n.equal[text] = append(n.equal[text], p)
			}
		}
	}
}

// any notes a comparison with a value that is not known.
func (n *noting) any(p place) {
	for i := range mostValues {
		n.value(p, strings.Repeat("?", i+1))
	}
}

func (n *noting) value(p place, text string) {
	if n.e.values[p] == nil {
		n.e.values[p] = map[string]bool{}
	}
	if len(n.e.values[p]) < mostValues {
		n.e.values[p][text] = true
	}
}

// enoughExecutions is the number of comparisons from which the number of different values counts.
const enoughExecutions = 8

// few reports whether the statements compare a column with at most two different values.
func (e *evidence) few(p place) bool {
	return e.compared[p] >= enoughExecutions && len(e.values[p]) < mostValues
}

// nameEdges returns pairs of columns of which one is named after the other's table. It leaves out columns that refer to
// another key by better evidence.
func (e *evidence) nameEdges() (edges [][2]place) {
	known := map[place]bool{}
	note := func(edge [2]place) {
		for i, p := range edge {
			if other := edge[1-i]; identifies(e.schema.byName[other.table], other.column) {
				known[p] = true
			}
		}
	}
	for edge := range e.keyed {
		note(edge)
	}
	for edge := range e.joined {
		note(edge)
	}
	keys := map[string][]place{} // the keys of each schema, by the names of columns that may refer to them
	prefixes := e.tablePrefixes()
	for i := range e.schema.Tables {
		t := &e.schema.Tables[i]
		p := primary(t)
		if len(p) != 1 {
			continue
		}
		key := place{t.TableName, strings.ToLower(t.Columns[p[0]].Name)}
		for _, name := range referringNames(strings.TrimPrefix(lowered(t.Name), prefixes[t.Schema]), key.column) {
			keys[t.Schema+"."+name] = append(keys[t.Schema+"."+name], key)
		}
	}
	for i := range e.schema.Tables {
		t := &e.schema.Tables[i]
		prefix := commonPrefix(t)
		for c := range t.Columns {
			p := place{t.TableName, strings.ToLower(t.Columns[c].Name)}
			named := keys[t.Schema+"."+p.column]
			if named == nil && prefix != "" {
				named = keys[t.Schema+"."+strings.TrimPrefix(p.column, prefix)]
			}
			if len(named) != 1 || named[0].table == t.TableName || known[p] || !sameType(&t.Columns[c], e.columnOf(named[0])) {
				continue
			}
			edges = append(edges, pair(p, named[0]))
		}
	}
	return edges
}

// tablePrefixes returns for each database the prefix that the names of all its tables have, such as wp_.
func (e *evidence) tablePrefixes() map[string]string {
	prefixes := map[string]string{}
	for i := range e.schema.Tables {
		t := &e.schema.Tables[i]
		prefix, _, found := strings.Cut(lowered(t.Name), "_")
		if prefix += "_"; !found {
			prefix = ""
		}
		if before, is := prefixes[t.Schema]; is && before != prefix {
			prefix = ""
		}
		prefixes[t.Schema] = prefix
	}
	return prefixes
}

// referringNames returns the names by which columns of other tables refer to the key of a table.
func referringNames(table, key string) []string {
	names := map[string]bool{}
	for _, singular := range []string{table, strings.TrimSuffix(table, "s"), strings.TrimSuffix(table, "es"), strings.TrimSuffix(table, "ies") + "y"} {
		names[singular+"_"+key] = true
		names[singular+key] = true
	}
	if key != "id" && strings.HasSuffix(key, "id") {
		names[key] = true // such as w_id
	}
	return slices.Sorted(maps.Keys(names))
}

// commonPrefix returns the prefix that all columns of a table have, such as ol_, or "".
func commonPrefix(t *schema.Surveyed) string {
	prefix, _, found := strings.Cut(strings.ToLower(t.Columns[0].Name), "_")
	if !found || len(t.Columns) < 2 {
		return ""
	}
	prefix += "_"
	for i := range t.Columns {
		if !strings.HasPrefix(strings.ToLower(t.Columns[i].Name), prefix) {
			return ""
		}
	}
	return prefix
}

// class is a set of columns with equal values.
type class struct {
	places []place
	weight float64
}

// classes returns the candidates, those that the most statements use first.
func (e *evidence) classes(most int) []class {
	parent := map[place]place{}
	var root func(place) place
	root = func(p place) place {
		up, is := parent[p]
		if !is || up == p {
			parent[p] = p
			return p
		}
		top := root(up)
		parent[p] = top
		return top
	}
	for edge := range e.keyed {
		parent[root(edge[0])] = root(edge[1])
	}
	for edge := range e.joined {
		parent[root(edge[0])] = root(edge[1])
	}
	for _, edge := range e.nameEdges() {
		parent[root(edge[0])] = root(edge[1])
	}
	for p := range e.used {
		root(p)
	}
	groups := map[place]*class{}
	for _, p := range slices.SortedFunc(maps.Keys(parent), place.compare) {
		if c := e.columnOf(p); !tells(c) || e.few(p) {
			continue
		}
		top := root(p)
		if groups[top] == nil {
			groups[top] = new(class)
		}
		groups[top].places = append(groups[top].places, p)
		groups[top].weight += e.used[p]
	}
	var list []class
	for _, c := range groups {
		if c.weight > 0 && slices.ContainsFunc(c.places, func(p place) bool { return e.schema.byName[p.table].Leading[p.column] }) {
			list = append(list, *c)
		}
	}
	slices.SortFunc(list, func(a, b class) int { return cmp.Or(cmp.Compare(b.weight, a.weight), a.places[0].compare(b.places[0])) })
	return list[:min(len(list), most)]
}

// best returns for each table of the class the column that statements use most. Of equal ones it is a key's column, or else the first.
func (e *evidence) best(c class) map[catalog.TableName]string {
	chosen := map[catalog.TableName]place{}
	for _, p := range c.places {
		before, is := chosen[p.table]
		if !is || e.rank(p) > e.rank(before) {
			chosen[p.table] = p
		}
	}
	columns := map[catalog.TableName]string{}
	for t, p := range chosen {
		columns[t] = e.columnOf(p).Name
	}
	return columns
}

// rank orders the columns of one table.
func (e *evidence) rank(p place) float64 {
	rank, t := e.used[p], e.schema.byName[p.table]
	rank += e.joinWeight(p)
	if slices.ContainsFunc(t.Unique, func(u catalog.UniqueKey) bool {
		return slices.ContainsFunc(u.Columns, func(at int) bool { return strings.EqualFold(t.Columns[at].Name, p.column) })
	}) {
		rank += 1e-9
	}
	if e.columnOf(p).Nullable {
		rank -= 1e-9
	}
	return rank
}

// joinWeight returns the weight of the joins of a column. No evidence may be added afterwards.
func (e *evidence) joinWeight(p place) float64 {
	if e.weights == nil {
		e.weights = map[place]float64{}
		for _, edge := range slices.SortedFunc(maps.Keys(e.joined), comparePairs) { // sums of floats depend on the order
			e.weights[edge[0]] += e.joined[edge]
			e.weights[edge[1]] += e.joined[edge]
		}
	}
	return e.weights[p]
}

func comparePairs(a, b [2]place) int { return cmp.Or(a[0].compare(b[0]), a[1].compare(b[1])) }

// reference is a column that refers to a unique column of another table.
type reference struct {
	child  place
	parent place
}

// references returns the references of each table, by the child. Those with foreign keys come first.
func (e *evidence) references() map[catalog.TableName][]reference {
	refs := map[catalog.TableName][]reference{}
	add := func(a, b place) {
		ta, tb := e.schema.byName[a.table], e.schema.byName[b.table]
		ua, ub := identifies(ta, a.column), identifies(tb, b.column)
		switch {
		case a.table == b.table:
		case ub && !ua:
			refs[a.table] = append(refs[a.table], reference{a, b})
		case ua && !ub:
			refs[b.table] = append(refs[b.table], reference{b, a})
		}
	}
	for _, edge := range slices.SortedFunc(maps.Keys(e.keyed), comparePairs) {
		add(edge[0], edge[1])
	}
	for _, edge := range slices.SortedFunc(maps.Keys(e.joined), comparePairs) {
		if !e.keyed[edge] {
			add(edge[0], edge[1])
		}
	}
	names := e.nameEdges()
	slices.SortFunc(names, comparePairs)
	for _, edge := range names {
		add(edge[0], edge[1])
	}
	return refs
}
