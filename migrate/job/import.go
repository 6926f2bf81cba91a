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

// Import describes which tables an import makes sharded or global. They are on the shard From of the record.
type Import struct {
	// Outside is the server outside of the cluster that has the tables; nil if a shard has them. If it is set,
	// the record's From is OutsideName.
	Outside *Outside
	// Tables holds the declarations that the tables get when they are sharded.
	Tables map[catalog.TableName]catalog.Declaration
	// Shares holds the genes by target shard. Together they are the record's genes. The remaining genes belong
	// to the source.
	Shares []Share
	// Shards lists all shards except the source, including those without genes. Each must have the tables.
	Shards []router.ShardName
	// Declared lists the tables that were declared as the source's own before the job. The other tables were
	// not declared.
	Declared []catalog.TableName
	// Made lists, by shard, the tables that the job created. Aborting the job drops them.
	Made map[router.ShardName][]catalog.TableName
	// Widened lists, by shard, the tables to which the job added the gene column. Aborting the job drops the
	// column.
	Widened map[router.ShardName][]catalog.TableName
}

// Share is the set of genes whose rows go to one shard.
type Share struct {
	To    router.ShardName
	Genes gene.Set
}

// NewImport returns the record of a new import from a shard. shards lists all registered shards.
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

// everyRow represents all rows of tables that become global. Every shard gets all of them.
var everyRow = gene.NewSet(gene.Range{})

// Global reports whether a table becomes global. In a valid import, all of its tables are then global. Every
// shard gets all rows, and the genes of the shards don't matter.
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

// Streams returns which streams must run. Once tables are global, clients write them on every shard, and no
// stream may carry changes. The forward stream starts at a new position when the tables are the source's own
// again.
func (j *Job) Streams() (forward, reverse bool) {
	forward, reverse = j.State.Streams()
	if j.Import.Global() {
		return forward && j.State.Cut == 0, false
	}
	return forward, reverse
}

func created(now time.Time) time.Time { return now.UTC().Round(time.Millisecond) }

// Names returns the names of the tables as schema.table, sorted.
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

// Single returns the declarations of an import's tables while they are not sharded: they belong to the source
// only, a shard or a server outside of the cluster. Copies on other shards are ignored.
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

// Former returns the declarations of the tables before the import. A declaration without a kind means that the
// table was not declared.
func (j *Job) Former() map[catalog.TableName]catalog.Declaration {
	tables := j.Single()
	for name := range tables {
		if !slices.Contains(j.Import.Declared, name) {
			tables[name] = catalog.Declaration{}
		}
	}
	return tables
}

// Leg is the part of a job that moves rows to one shard. A move has one leg. An import has one for each shard
// that owns genes, except the source.
type Leg struct {
	ID    string // name of the leg; for a move, the ID of the job
	To    router.ShardName
	Genes gene.Set
}

// Legs returns all legs of the job.
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

// Shards returns the shards of the cluster that the job reads or writes, each once.
func (j *Job) Shards() (list []router.ShardName) {
	add := func(name router.ShardName) {
		if !slices.Contains(list, name) {
			list = append(list, name)
		}
	}
	if j.Outside() == nil {
		add(j.From)
	}
	for _, l := range j.Legs() {
		add(l.To)
	}
	return list
}

// Moves returns the job's entries in the route map, without a fence.
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

// Held returns the job's entries in the route map during the fence of a step, forward or back. An import pauses
// all statements on its tables. Forward, the genes of rows are not known before the tables are sharded. Back,
// the source numbers its own rows after the step and the cluster before it.
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

// Announced reports whether the route map contains the job.
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

// whole refuses requests for a part of an import, because an import hands its tables over at once.
func (j *Job) whole(e phase.Event) error {
	if j.Import == nil || e.Kind != phase.CutTo && e.Kind != phase.RollBack {
		return nil
	}
	if (e.Kind == phase.CutTo) != (e.Genes == j.State.Total) || e.Kind == phase.RollBack && e.Genes != 0 || e.Step < j.State.Total {
		return fmt.Errorf("job %s: an import hands its tables over at once: cut over to 100%% in one step, or roll back to 0%%", j.ID)
	}
	return nil
}

// Making returns the record with the tables that the job is about to create on shards, and the tables to which
// it is about to add the gene column. more reports whether the record lists more than before.
func (j *Job) Making(made, widened map[router.ShardName][]catalog.TableName, by string, now time.Time) (next *Job, more bool) {
	of := *j.Import
	var tables, columns bool
	of.Made, tables = withMore(j.Import.Made, made)
	of.Widened, columns = withMore(j.Import.Widened, widened)
	next = j.Noted(by, "tables, or columns for the gene, are made on the shards that lack them", now)
	next.Import = &of
	return next, tables || columns
}

// withMore returns the union of both lists, and reports whether it is greater than the first.
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

// MadeBy returns the tables that the job created on a shard, sorted.
func (j *Job) MadeBy(shard router.ShardName) []catalog.TableName {
	if j.Import == nil {
		return nil
	}
	return slices.SortedFunc(slices.Values(j.Import.Made[shard]), catalog.TableName.Compare)
}

// Target returns the target shards as one text.
func (j *Job) Target() string {
	if j.Import == nil {
		return string(j.To)
	}
	return strings.Join(j.Import.to(), ",")
}
