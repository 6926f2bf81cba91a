package advise

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// Limits of the search.
const (
	searchedDigests = 1000 // the costliest ones
	searchedSamples = 4    // of each
	mostCandidates  = 12   // of each round
	mostRounds      = 8
	mostGlobalSets  = 200
	mostGlobalRows  = 1_000_000
	leastGain       = 0.01 // as a share of the measure, for a round
)

// What statements cost next to those of package plan, whose costs are in costOf.
const (
	gatheredCost  = 2.0
	everyCost     = 1.2
	allCost       = 1.05 // a table that stays on one shard is as good
	refusedCost   = 2.0
	mustNameOwner = 0.5 // the share of the cost of a statement on several shards that remains until the statement names a column that the proposal adds
)

// Options are the inputs of a proposal in addition to schema and workload.
type Options struct {
	Shards int
	// KeepColumns proposes no new columns.
	KeepColumns bool
	// ScatterWrites: the application's user may change rows on several shards.
	ScatterWrites bool
	// Cluster is the cluster that has run the statements, or nil. Its declared tables stay as they are.
	Cluster *Cluster
}

// run is one execution that the search plans.
type run struct {
	digest *Digest
	text   string
	weight float64
	tables []catalog.TableName
	cost   float64 // under the current assignment
	index  int
}

// assignment returns the proposed declaration of a table, or nil if the table stays on one shard.
type assignment func(catalog.TableName) *Table

// searching is one search.
type searching struct {
	schema  *Schema
	options Options
	planner *planner
	found   *evidence
	refs    map[catalog.TableName][]reference
	runs    []*run
	naming  map[catalog.TableName][]*run
	now     map[catalog.TableName]*Table // the current assignment
	tables  map[string]*catalog.Table    // resolved ones, by name and words
	shares  map[catalog.TableName]float64
	// declared are the tables of a cluster, which stay as they are.
	declared map[catalog.TableName]bool
}

// Propose returns the proposal for a workload.
func Propose(s *Schema, w *Workload, o Options) (*Proposal, error) {
	planner, err := newPlanner(s, o.Shards, o)
	if err != nil {
		return nil, err
	}
	x := &searching{
		schema: s, options: o, planner: planner, found: newEvidence(s), naming: map[catalog.TableName][]*run{},
		now: map[catalog.TableName]*Table{}, tables: map[string]*catalog.Table{}, shares: map[catalog.TableName]float64{},
	}
	x.read(w)
	x.refs = x.found.references()
	for i := range s.Tables {
		if t := &s.Tables[i]; s.rows > 0 {
			x.shares[t.TableName] = float64(t.Rows) / float64(s.rows)
		}
	}
	if o.Cluster != nil {
		x.begin(o.Cluster.Declared)
	}
	x.reassess(x.runs)
	x.joinedGlobals() // next to the tables that a cluster has declared
	x.shard()
	x.globals()
	x.withdraw()
	return x.proposal(), nil
}

// begin starts the search with declared tables.
func (x *searching) begin(p *Proposal) {
	x.declared = map[catalog.TableName]bool{}
	for _, name := range p.sorted() {
		if x.schema.byName[name] != nil {
			x.now[name], x.declared[name] = p.of(name), true
		}
	}
}

// weights returns the share of each digest: the mean of its shares of the executions and of the time.
func weights(digests []*Digest) map[*Digest]float64 {
	var count, seconds float64
	for _, d := range digests {
		count += float64(d.Count)
		seconds += d.Seconds
	}
	list := map[*Digest]float64{}
	for _, d := range digests {
		w := float64(d.Count) / max(count, 1)
		if seconds > 0 {
			w = (w + d.Seconds/seconds) / 2
		}
		list[d] = w
	}
	return list
}

// read collects the executions to plan, and the evidence in them.
func (x *searching) read(w *Workload) {
	digests := w.Digests()
	weight := weights(digests)
	slices.SortStableFunc(digests, func(a, b *Digest) int { return cmp.Compare(weight[b], weight[a]) })
	for _, d := range digests[:min(len(digests), searchedDigests)] {
		var equal []map[[2]place]string
		for i, text := range d.samples {
			l := d.lexed(x.schema, text)
			s, err := stmt.Parse(l)
			if err != nil || l.Err != nil {
				continue
			}
			var args stmt.Args
			args.Reset(l, nil)
			share := weight[d] / float64(len(d.samples))
			equal = append(equal, x.found.note(d.Database, s, &args, share))
			if i < searchedSamples {
				x.add(d, text, weight[d]/float64(min(len(d.samples), searchedSamples)), s)
			}
			l.Planned()
		}
		x.found.noteEqual(equal, weight[d])
	}
}

func (x *searching) add(d *Digest, text string, weight float64, s *stmt.Statement) {
	r := &run{digest: d, text: text, weight: weight}
	for _, name := range s.Named() {
		if t := x.schema.find(cmp.Or(name.Schema, d.Database), name.Name); t != nil && !slices.Contains(r.tables, t.TableName) {
			r.tables = append(r.tables, t.TableName)
			x.naming[t.TableName] = append(x.naming[t.TableName], r)
		}
	}
	if r.tables != nil {
		r.index = len(x.runs)
		x.runs = append(x.runs, r)
	}
}

// resolved returns a table under a proposed declaration, or nil if it can't be declared so.
func (x *searching) resolved(name catalog.TableName, t *Table) *catalog.Table {
	key := name.String() + " " + t.Declare
	if t.Add != nil {
		key += " " + t.Add.Column + " " + t.Add.From
	}
	if known, is := x.tables[key]; is {
		return known
	}
	table, err := resolve(x.schema.byName[name], t, x.schema)
	if err != nil {
		table = nil
	}
	x.tables[key] = table
	return table
}

// plan makes the planner plan executions under an assignment. The tables that they don't name have no effect.
func (x *searching) plan(runs []*run, assigned assignment) {
	var tables []*catalog.Table
	seen := map[catalog.TableName]bool{}
	for _, r := range runs {
		for _, name := range r.tables {
			if t := assigned(name); t != nil && !seen[name] {
				if made := x.resolved(name, t); made != nil {
					tables = append(tables, made)
				}
			}
			seen[name] = true
		}
	}
	x.planner.catalog = catalog.New(x.planner.shards, tables, nil)
}

// costOf returns the load of the busiest shard by one execution, if it costs 1 on a single server.
func (x *searching) costOf(r *run, assigned assignment) float64 {
	f, part := x.planner.fateOf(r.digest, r.text), 1/float64(x.options.Shards)
	cost := gatheredCost
	switch f.way {
	case plan.OnOwner, plan.OnAny, plan.OnProxy:
		return part
	case plan.OnSingle, Unread:
		return 1
	case plan.OnSome:
		cost = max(part, 0.5)
	case plan.OnAll, plan.ByKeys:
		cost = allCost
	case plan.OnEvery:
		cost = everyCost
	case plan.ByGathering:
	case Refused:
		cost = refusedCost
	}
	if slices.ContainsFunc(r.tables, func(n catalog.TableName) bool { return assigned(n) != nil && assigned(n).Add != nil }) {
		cost = part + (cost-part)*mustNameOwner
	}
	return cost
}

// reassess sets the costs of executions to those under the current assignment.
func (x *searching) reassess(runs []*run) {
	x.plan(runs, x.current)
	for _, r := range runs {
		r.cost = x.costOf(r, x.current)
	}
}

func (x *searching) current(name catalog.TableName) *Table { return x.now[name] }

// touched returns the executions that name one of the tables, in their order, since sums of floats depend on it.
func (x *searching) touched(change map[catalog.TableName]*Table) (runs []*run) {
	for name := range change {
		runs = append(runs, x.naming[name]...)
	}
	slices.SortFunc(runs, func(a, b *run) int { return a.index - b.index })
	return slices.Compact(runs)
}

// placement returns the share of a table's rows that the busiest shard has.
func (x *searching) placement(name catalog.TableName, t *Table) float64 {
	if t == nil || t.Declare == string(catalog.Global) {
		return x.shares[name]
	}
	return x.shares[name] / float64(x.options.Shards)
}

// gain returns by how much a change of the assignment improves the measure. A nil table stays on one shard.
func (x *searching) gain(change map[catalog.TableName]*Table) float64 {
	gain := 0.0
	for _, name := range slices.SortedFunc(maps.Keys(change), catalog.TableName.Compare) {
		gain += x.placement(name, x.now[name]) - x.placement(name, change[name])
	}
	next := func(name catalog.TableName) *Table {
		if t, changes := change[name]; changes {
			return t
		}
		return x.now[name]
	}
	runs := x.touched(change)
	x.plan(runs, next)
	for _, r := range runs {
		gain += r.weight * (r.cost - x.costOf(r, next))
	}
	return gain
}

// apply makes a change of the assignment.
func (x *searching) apply(change map[catalog.TableName]*Table) {
	for name, t := range change {
		if x.now[name] = t; t == nil {
			delete(x.now, name)
		}
	}
	x.reassess(x.touched(change))
}

// shard adds the best candidate until none is left that is worth it.
func (x *searching) shard() {
	candidates := x.found.classes(mostCandidates * mostRounds)
	for range mostRounds {
		best, most := map[catalog.TableName]*Table(nil), leastGain
		tried := 0
		for _, c := range candidates {
			change := x.shardedBy(c)
			if len(change) == 0 {
				continue
			}
			if tried++; tried > mostCandidates {
				break
			}
			if g := x.gain(change); g > most {
				best, most = change, g
			}
		}
		if best == nil {
			return
		}
		x.apply(best)
		x.joinedGlobals()
	}
}

// shardedBy returns the change that shards the tables that are still on one shard by the columns of a class. It leaves out a table that
// the statements don't compare by its column, unless its rows refer to the class by a key.
func (x *searching) shardedBy(c class) map[catalog.TableName]*Table {
	change := map[catalog.TableName]*Table{}
	for name, column := range x.found.best(c) {
		if x.now[name] != nil {
			continue
		}
		t := &Table{Declare: catalog.Declaration{Kind: catalog.Sharded, Owner: column}.Words()}
		if x.resolved(name, t) != nil {
			change[name] = t
		}
	}
	if !x.options.KeepColumns {
		x.addChildren(change)
	}
	return x.orGlobal(change)
}

// orGlobal replaces the change by one that makes its table global, if that is better. This requires that the change has one
// table, that the table is small and that other tables can refer to it, and that its statements run as well then. A global
// table can be joined with the rows of all owners.
func (x *searching) orGlobal(change map[catalog.TableName]*Table) map[catalog.TableName]*Table {
	for name, t := range change {
		d, err := t.declaration()
		if err != nil || len(change) > 1 || x.schema.byName[name].Rows > mostGlobalRows || !identifies(x.schema.byName[name], d.Owner) {
			return change
		}
		global := map[catalog.TableName]*Table{name: {Declare: string(catalog.Global)}}
		if rows := x.placement(name, nil) - x.placement(name, t); x.gain(global) >= x.gain(change)-rows-1e-9 {
			return global
		}
	}
	return change
}

// addChildren adds the tables whose rows belong to rows of changed tables, and that need a column for it.
func (x *searching) addChildren(change map[catalog.TableName]*Table) {
	for again := true; again; {
		again = false
		for _, name := range slices.SortedFunc(maps.Keys(x.refs), catalog.TableName.Compare) {
			if change[name] != nil || x.now[name] != nil {
				continue
			}
			for _, ref := range x.refs[name] {
				parent := change[ref.parent.table]
				if parent == nil {
					continue
				}
				if t := x.child(ref, parent); t != nil {
					change[name], again = t, true
					break
				}
			}
		}
	}
}

// child returns the declaration of a table whose rows belong to the rows of a sharded one. It returns nil if the table already has such a
// column, which no evidence shows to be the owner.
func (x *searching) child(ref reference, parent *Table) *Table {
	d, err := parent.declaration()
	if err != nil || d.Owner == "" {
		return nil
	}
	live := x.schema.byName[ref.child.table]
	owner := d.Owner
	if identifies(x.schema.byName[ref.parent.table], owner) || column(live, owner) != nil { // such as id
		owner = ref.parent.table.Name + "_" + d.Owner
	}
	if column(live, owner) != nil || parent.Add == nil && ref.parent.column == d.Owner {
		return nil
	}
	like := column(x.schema.byName[ref.parent.table], d.Owner)
	if parent.Add != nil {
		like = parent.Add.like
	}
	t := &Table{
		Declare: catalog.Declaration{Kind: catalog.Sharded, Owner: owner}.Words(),
		Add: &Added{
			Column: owner, From: ref.parent.table.String(), Value: d.Owner,
			By: x.found.columnOf(ref.child).Name, Key: x.found.columnOf(ref.parent).Name, like: like,
		},
	}
	if x.resolved(ref.child.table, t) == nil {
		return nil
	}
	return t
}

// joinedGlobals makes tables global that statements read next to sharded ones.
func (x *searching) joinedGlobals() {
	for _, r := range x.byCost() {
		if slices.ContainsFunc(r.tables, func(n catalog.TableName) bool { return x.now[n] != nil }) {
			x.tryGlobal(r.tables)
		}
	}
}

// globals makes the tables of single statements, and single tables, global where that is better.
func (x *searching) globals() {
	for _, r := range x.byCost() {
		x.tryGlobal(r.tables)
		for _, n := range r.tables {
			x.tryGlobal([]catalog.TableName{n})
		}
	}
}

// byCost returns the executions whose costs are not the least, the costliest first.
func (x *searching) byCost() []*run {
	least := 1 / float64(x.options.Shards)
	list := slices.DeleteFunc(slices.Clone(x.runs), func(r *run) bool { return r.cost <= least })
	slices.SortStableFunc(list, func(a, b *run) int { return cmp.Compare(b.weight*b.cost, a.weight*a.cost) })
	return list[:min(len(list), mostGlobalSets)]
}

// tryGlobal makes small tables that are on one shard global, if that is better.
func (x *searching) tryGlobal(names []catalog.TableName) {
	change := map[catalog.TableName]*Table{}
	for _, n := range names {
		if x.now[n] == nil && x.schema.byName[n].Rows <= mostGlobalRows {
			change[n] = &Table{Declare: string(catalog.Global)}
		}
	}
	if len(change) > 0 && x.gain(change) > 1e-6 {
		x.apply(change)
	}
}

// withdraw makes sharded tables stay on one shard where that is better.
func (x *searching) withdraw() {
	for _, name := range slices.SortedFunc(maps.Keys(x.now), catalog.TableName.Compare) {
		if len(x.naming[name]) == 0 || x.declared[name] {
			continue
		}
		if change := map[catalog.TableName]*Table{name: nil}; x.gain(change) > leastGain/10 {
			x.apply(change)
		}
	}
}

// proposal returns the assignment with its reasons.
func (x *searching) proposal() *Proposal {
	p := &Proposal{Shards: x.options.Shards, Tables: map[string]*Table{}}
	for name, t := range x.now {
		if t.Add != nil && x.now[x.schema.named(t.Add.From).TableName] == nil {
			continue // the table with the owner is not sharded any more
		}
		if !x.declared[name] {
			t.Why = x.why(name, t)
		}
		p.Tables[name.String()] = t
	}
	return p
}

// why returns the evidence for a declaration.
func (x *searching) why(name catalog.TableName, t *Table) string {
	d, err := t.declaration()
	switch {
	case err != nil:
		return ""
	case d.Kind == catalog.Global:
		return "read more often than changed"
	case t.Add != nil:
		return fmt.Sprintf("its rows belong to those of %s (%s = %s)", t.Add.From, t.Add.By, t.Add.Key)
	}
	reasons := ""
	for _, ref := range x.refs[name] {
		if ref.child.column == lowered(d.Owner) {
			how := "statements join it with"
			if x.found.keyed[pair(ref.child, ref.parent)] {
				how = "foreign key to"
			} else if x.found.joined[pair(ref.child, ref.parent)] == 0 {
				how = "named after"
			}
			return fmt.Sprintf("%s %s.%s", how, ref.parent.table.Name, ref.parent.column)
		}
	}
	referring := 0
	for _, refs := range x.refs {
		if slices.ContainsFunc(refs, func(r reference) bool { return r.parent == place{name, lowered(d.Owner)} }) {
			referring++
		}
	}
	switch {
	case referring == 1:
		reasons = "1 table refers to it"
	case referring > 1:
		reasons = fmt.Sprintf("%d tables refer to it", referring)
	default:
		reasons = "statements compare it with values"
	}
	return reasons
}
