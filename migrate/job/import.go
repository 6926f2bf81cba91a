package job

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"locus/idgen/gene"
	"locus/migrate/phase"
	"locus/router"
	"locus/router/catalog"
)

// Import is what an import shards, beside the record's From, which has the tables.
type Import struct {
	// Outside is the server outside of the cluster that has the tables; nil: a shard has. Then the
	// record's From is a word that stands for it.
	Outside *Outside
	// Tables are what they are declared to be once they are sharded.
	Tables map[catalog.TableName]catalog.Declaration
	// Shares are the genes of the shards that rows go to. Together they are the record's;
	// the others are the source's own.
	Shares []Share
	// Shards are all but the source: each must have the tables, those too that own no genes.
	Shards []router.ShardName
	// Declared are the tables that were declared to be the source's alone before the job. The
	// others nobody had declared.
	Declared []catalog.TableName
	// Made are tables that the job made, by shard: if it is given up they are dropped.
	Made map[router.ShardName][]catalog.TableName
	// Widened are tables, by shard, to which the job added the column for the gene: if it is
	// given up, the column is dropped.
	Widened map[router.ShardName][]catalog.TableName
}

// Share is the genes of which rows go to a shard.
type Share struct {
	To    router.ShardName
	Genes gene.Set
}

// NewImport is the record of an import from a shard that has done nothing yet, with all registered shards.
func NewImport(id string, from router.ShardName, m *router.Map, shards []router.ShardName, tables map[catalog.TableName]catalog.Declaration, by, why string, now time.Time) (*Job, error) {
	of := &Import{Tables: tables, Shards: slices.DeleteFunc(slices.Clone(shards), func(s router.ShardName) bool { return s == from })}
	return importTo(id, from, m, of, by, why, now)
}

func importTo(id string, from router.ShardName, m *router.Map, of *Import, by, why string, now time.Time) (*Job, error) {
	var all gene.Set
	for _, shard := range of.Shards {
		if of.Global() {
			of.Shares, all = append(of.Shares, Share{shard, everyRow}), everyRow
		} else if genes := m.GenesOf(shard); !genes.Empty() {
			of.Shares, all = append(of.Shares, Share{shard, genes}), all.Union(genes)
		}
	}
	if all.Empty() && of.Global() {
		return nil, fmt.Errorf("shard %s is the only one: locus table add TABLE global declares its tables as they are", from)
	}
	if all.Empty() {
		return nil, fmt.Errorf("shard %s owns all genes: its tables are sharded as they are, by locus table add, and locus split moves some of their rows then", from)
	}
	state, err := phase.New(all.Len())
	if err != nil {
		return nil, err
	}
	j := &Job{
		ID: id, Kind: Importing, From: from, Width: m.Width(), Genes: all, Import: of, State: state, OnBreach: PauseThen,
		Parts: DefaultParts, Created: created(now), By: by, Why: why,
	}
	for _, s := range of.Shares {
		j.Parts = min(j.Parts, s.Genes.Len())
	}
	kind := ""
	if of.Global() {
		kind = ", to become global"
	}
	j.note(now, by, fmt.Sprintf("import of %s from %s to %s%s", strings.Join(of.Names(), ", "), of.source(from), strings.Join(of.to(), ", "), kind))
	return j, j.Check()
}

// everyRow is the gene of the rows of tables that become global, which all shards get.
var everyRow = gene.NewSet(gene.Range{})

// Global reports whether a table becomes global, and so, in a valid import, all of them. Then every shard gets all rows, and no
// shard's genes matter.
func (i *Import) Global() bool {
	if i == nil {
		return false
	}
	for _, d := range i.Tables {
		if d.Kind == catalog.Global {
			return true
		}
	}
	return false
}

// Streams returns which streams must run. Once tables are global clients write them on every shard, and nothing may be carried: forward
// begins anew when the tables are the source's alone again.
func (j *Job) Streams() (forward, reverse bool) {
	forward, reverse = j.State.Streams()
	if j.Import.Global() {
		return forward && j.State.Cut == 0, false
	}
	return forward, reverse
}

func created(now time.Time) time.Time { return now.UTC().Round(time.Millisecond) }

// Names are the tables', as schema.table, in order.
func (i *Import) Names() []string {
	var names []string
	for name := range i.Tables {
		names = append(names, name.String())
	}
	slices.Sort(names)
	return names
}

func (i *Import) to() []string {
	var names []string
	for _, s := range i.Shares {
		names = append(names, string(s.To))
	}
	return names
}

// Single is what the tables of an import are declared to be as long as they are not sharded: the source's alone, be that a shard or
// outside of the cluster. Copies of them on other shards count for nothing then.
func (j *Job) Single() map[catalog.TableName]catalog.Declaration {
	tables := map[catalog.TableName]catalog.Declaration{}
	for name := range j.Import.Tables {
		tables[name] = catalog.Declaration{Kind: catalog.Single, Shard: j.From}
		if j.Import.Outside != nil {
			tables[name] = catalog.Declaration{Kind: catalog.Outside}
		}
	}
	return tables
}

// Former is what they were declared to be before the import; nothing has no kind.
func (j *Job) Former() map[catalog.TableName]catalog.Declaration {
	tables := j.Single()
	for name := range tables {
		if !slices.Contains(j.Import.Declared, name) {
			tables[name] = catalog.Declaration{}
		}
	}
	return tables
}

// Leg is the way of rows to one shard: a move has one, an import as many as shards own genes
// beside the source.
type Leg struct {
	ID    string // of the leg: the job's own, of a move
	To    router.ShardName
	Genes gene.Set
}

// Legs are all of them.
func (j *Job) Legs() []Leg {
	if j.Import == nil {
		return []Leg{{j.ID, j.To, j.Genes}}
	}
	var legs []Leg
	for _, s := range j.Import.Shares {
		legs = append(legs, Leg{j.ID + "/" + string(s.To), s.To, s.Genes})
	}
	return legs
}

// Moves is the job in the route map, without a fence.
func (j *Job) Moves() []router.Move {
	var moves []router.Move
	for _, l := range j.Legs() {
		v := router.Move{Job: l.ID, Genes: l.Genes, From: j.From, To: l.To, BySequence: j.BySequence, Share: j.share(), Mirror: j.mirrored()}
		if j.Import != nil {
			v.Tables = j.Import.Names()
		}
		if j.Import.Global() {
			v.Genes = gene.Set{}
		}
		moves = append(moves, v)
	}
	return moves
}

// Held is the job in the route map while a step hands genes over, forward or back. An import
// holds its tables whole: forward, since nobody knows the genes of their rows before that; back, since the
// source's own rows are numbered by the source then, and by the cluster before.
func (j *Job) Held(genes gene.Set, forward bool) []router.Move {
	moves := j.Moves()
	for i := range moves {
		moves[i].HoldsTables = j.Import != nil
		if j.Import == nil || !forward && !j.Import.Global() {
			moves[i].Held = genes.Intersect(moves[i].Genes)
		}
	}
	return moves
}

// Announced tells whether the route map has the job.
func (j *Job) Announced(m *router.Map) bool {
	_, there := m.MoveOf(j.Legs()[0].ID)
	return there
}

func (j *Job) checkImport() error {
	switch {
	case (j.Import != nil) != (j.Kind == Importing):
		return fmt.Errorf("kind %s, and what is imported is %v", j.Kind, j.Import != nil)
	case j.Import == nil:
		return nil
	case (j.Import.Outside != nil) != (j.From == OutsideName):
		return fmt.Errorf("its rows are from %s, and its server outside of the cluster is %v", j.From, j.Import.Outside != nil)
	case j.Import.Outside != nil && j.Import.Outside.Check() != nil:
		return j.Import.Outside.Check()
	case len(j.Import.Tables) == 0 || len(j.Import.Shares) == 0:
		return errors.New("nothing is imported")
	case j.State.Cut != 0 && j.State.Cut != j.State.Total:
		return fmt.Errorf("an import is at the shards whole or not at all, and %d of %d genes are", j.State.Cut, j.State.Total)
	}
	for name, d := range j.Import.Tables {
		if (d.Kind == catalog.Global) != j.Import.Global() {
			return fmt.Errorf("table %s is to be %s, and others aren't: import them one after the other", name, d.Kind)
		}
	}
	if j.Import.Global() && j.Import.Outside != nil {
		return errors.New("tables of a server outside of the cluster can't become global: bring them to the default shard first, then make them global by another import")
	}
	var all gene.Set
	for _, s := range j.Import.Shares {
		all = all.Union(s.Genes)
	}
	if !all.Equal(j.Genes) {
		return fmt.Errorf("its shards' genes are %s, and the job's %s", all, j.Genes)
	}
	return nil
}

// whole refuses orders for a part of an import: it hands its tables over at once.
func (j *Job) whole(e phase.Event) error {
	if j.Import == nil || e.Kind != phase.CutTo && e.Kind != phase.RollBack {
		return nil
	}
	if (e.Kind == phase.CutTo) != (e.Genes == j.State.Total) || e.Kind == phase.RollBack && e.Genes != 0 || e.Step < j.State.Total {
		return fmt.Errorf("job %s: an import hands its tables over at once: cut over to 100%% in one step, or roll back to 0%%", j.ID)
	}
	return nil
}

// Making is the record that says which tables the job makes on shards, and to which it adds the column for the gene; and
// whether it says more than before.
func (j *Job) Making(made, widened map[router.ShardName][]catalog.TableName, by string, now time.Time) (next *Job, more bool) {
	of := *j.Import
	var tables, columns bool
	of.Made, tables = withMore(j.Import.Made, made)
	of.Widened, columns = withMore(j.Import.Widened, widened)
	next = j.Noted(by, "tables, or columns for the gene, are made on the shards that lack them", now)
	next.Import = &of
	return next, tables || columns
}

// withMore is both together, and whether that is more than the first.
func withMore(before, with map[router.ShardName][]catalog.TableName) (all map[router.ShardName][]catalog.TableName, more bool) {
	all = map[router.ShardName][]catalog.TableName{}
	for shard, names := range before {
		all[shard] = slices.Clone(names)
	}
	for _, shard := range slices.Sorted(maps.Keys(with)) {
		for _, name := range with[shard] {
			if !slices.Contains(all[shard], name) {
				all[shard] = append(all[shard], name)
				more = true
			}
		}
	}
	return all, more
}

// MadeBy are the tables that the job made on a shard, in order.
func (j *Job) MadeBy(shard router.ShardName) []catalog.TableName {
	if j.Import == nil {
		return nil
	}
	return slices.SortedFunc(slices.Values(j.Import.Made[shard]), catalog.TableName.Compare)
}

// Target is where rows go to, in a word.
func (j *Job) Target() string {
	if j.Import == nil {
		return string(j.To)
	}
	return strings.Join(j.Import.to(), ",")
}
