package router

import (
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Move is a job's claim on genes while it moves them from one shard to another. Rows of Genes may exist on both From and
// To, and only the owner's copy counts. Each row is owned by one of the two, according to its gene, or for a divided
// gene according to its residue.
type Move struct {
	Job      string
	Genes    gene.Set
	From, To ShardName
	// Held is the fence of a step: a subset of Genes. Statements on them wait until a later version of the map no longer
	// holds them.
	Held gene.Set
	// Tables are the tables of an import, as schema.table, and empty for other moves, which move the rows of all sharded
	// tables. To already owns the genes, and From has the tables' rows, both before and after the tables become sharded. Tables that
	// become global have no genes.
	Tables []string
	// HoldsTables marks the fence of an import. Statements that may concern the import's tables wait.
	HoldsTables bool
	// BySequence marks a move whose genes have so many rows that they are divided. To owns the rows with residues below
	// Share, From the others. The genes themselves become To's only when Share includes all residues.
	BySequence bool
	Share      orderid.Residue // at most orderid.Modulus
	// Mirror is the percentage of From's reads of these genes that proxies also send to To, in order to compare the
	// answers. It never affects what a client gets. 0 means none.
	Mirror int
}

// Unsharded represents, in sets of genes, the rows of tables without genes, while an import is about to shard some of these
// tables. It is above the genes of every width.
const Unsharded gene.Gene = 1 << 24

var unsharded = gene.NewSet(gene.Range{First: Unsharded, Last: Unsharded})

// String returns a text such as "0x4000-0x7fff s0 -> s2 job 7, holding 0x4000-0x40ff".
func (v Move) String() string {
	text := fmt.Sprintf("%s  %s -> %s  job %s", v.Genes, v.From, v.To, v.Job)
	if v.BySequence {
		text += fmt.Sprintf(", %d %% by sequence", v.Share)
	}
	if v.Tables != nil {
		text += ", of " + strings.Join(v.Tables, ", ")
	}
	if v.Mirror > 0 {
		text += fmt.Sprintf(", %d %% of the reads mirrored", v.Mirror)
	}
	if !v.Held.Empty() {
		text += fmt.Sprintf(", holding %s", v.Held)
	}
	if v.HoldsTables {
		text += ", holding these tables"
	}
	return text
}

// ID returns the job's ID. An import has one move per shard that receives rows, named after both.
func (v Move) ID() string {
	id, _, _ := strings.Cut(v.Job, "/")
	return id
}

// Holds reports whether statements wait for the move.
func (v Move) Holds() bool { return v.HoldsTables || !v.Held.Empty() }

// Released returns the move without its fence.
func (v Move) Released() Move {
	v.Held, v.HoldsTables = gene.Set{}, false
	return v
}

// moving is a map's moves, prepared for look-ups.
type moving struct {
	moves   []Move // sorted by job
	genes   gene.Set
	held    gene.Set
	holds   bool      // some genes are held, not only tables
	foreign []Foreign // by shard index; nil if no shard has foreign rows

	divisions []division
	divided   gene.Set // genes of all divisions
}

// Moves returns the active moves, sorted by job. The slice belongs to the caller.
func (m *Map) Moves() []Move { return slices.Clone(m.moving.moves) }

// MoveOf returns the move of a job.
func (m *Map) MoveOf(job string) (Move, bool) {
	i := slices.IndexFunc(m.moving.moves, func(v Move) bool { return v.Job == job })
	if i < 0 {
		return Move{}, false
	}
	return m.moving.moves[i], true
}

// MoveWith returns the move that includes a gene. It doesn't allocate.
func (m *Map) MoveWith(g gene.Gene) (Move, bool) {
	for i := range m.moving.moves {
		if m.moving.moves[i].Genes.Contains(g) {
			return m.moving.moves[i], true
		}
	}
	return Move{}, false
}

// Importing returns the tables of the active import, as schema.table, or nil if there is none.
func (m *Map) Importing() []string {
	if len(m.moving.moves) == 0 {
		return nil
	}
	return m.moving.moves[0].Tables
}

// Moving returns the genes of all moves, and [Unsharded] during an import.
func (m *Map) Moving() gene.Set { return m.moving.genes }

// Held returns the genes whose statements wait for a later map, and [Unsharded] if an import holds its tables.
func (m *Map) Held() gene.Set { return m.moving.held }

// HoldsGenes reports whether statements on some genes wait, as opposed to only those on an import's tables.
func (m *Map) HoldsGenes() bool { return m.moving.holds }

// HeldOf returns the genes of a shard, and of the tables being imported from it, on which statements are paused.
func (m *Map) HeldOf(name ShardName) gene.Set {
	of := m.GenesOf(name).Intersect(m.moving.held)
	for _, v := range m.moving.moves {
		if v.To == name && v.Divides() {
			of = of.Union(v.Held)
		}
		if v.From == name && v.HoldsTables {
			of = of.Union(unsharded)
		}
	}
	return of
}

// Step returns the next version of the map with moves in place of the current ones, and with the changes of owners, all
// at once. A job uses it to announce, hold, hand over and withdraw genes. Changes may only concern genes of current or
// new moves, and must assign them to a shard of that move.
func (m *Map) Step(moves []Move, changes ...Change) (*Map, error) {
	next, err := m.step(moves, changes)
	if err != nil {
		return nil, fmt.Errorf("change route map version %d: %w", m.version, err)
	}
	return next, nil
}

func (m *Map) step(moves []Move, changes []Change) (*Map, error) {
	for _, c := range changes {
		free := c.Genes
		for _, v := range slices.Concat(m.moving.moves, moves) {
			if c.To == v.From || c.To == v.To {
				free = free.Subtract(v.Genes)
			}
		}
		if !free.Empty() {
			return nil, fmt.Errorf("genes %s are in no move that may give them to %s", free, c.To)
		}
	}
	if err := m.leavesNoneDivided(moves); err != nil {
		return nil, err
	}
	strips, err := stripsOf(m.width, changes)
	if err != nil {
		return nil, err
	}
	next, err := New(m.width, m.version+1, m.painted(strips))
	if err != nil {
		return nil, err
	}
	return next.carrying(moves)
}

// carrying returns the map with moves in place of its own.
func (m *Map) carrying(moves []Move) (*Map, error) {
	moves = slices.Clone(moves)
	slices.SortFunc(moves, func(a, b Move) int { return strings.Compare(a.Job, b.Job) })
	made := moving{moves: moves}
	for i, v := range moves {
		if i > 0 && moves[i-1].Job == v.Job {
			return nil, fmt.Errorf("job %s moves twice", v.Job)
		}
		if err := m.checkMove(v); err != nil {
			return nil, fmt.Errorf("move of job %s: %w", v.Job, err)
		}
		if both := made.genes.Intersect(v.Genes); !both.Empty() {
			return nil, fmt.Errorf("move of job %s: another job moves genes %s", v.Job, both)
		}
		if !slices.Equal(v.Tables, moves[0].Tables) {
			return nil, fmt.Errorf("jobs %s and %s: no other job may run during an import", moves[0].Job, v.Job)
		}
		made.genes, made.held = made.genes.Union(v.Genes), made.held.Union(v.Held)
		if v.Tables != nil {
			made.genes = made.genes.Union(unsharded)
		}
		made.holds = made.holds || !v.Held.Empty()
		if v.HoldsTables {
			made.held = made.held.Union(unsharded)
		}
	}
	with := m.naming(moves)
	with.moving = made
	if len(moves) > 0 {
		with.divide()
		with.moving.foreign = with.foreignBy(moves)
	}
	return with, nil
}

func (m *Map) checkMove(v Move) error {
	if v.Job == "" {
		return fmt.Errorf("it has no name")
	}
	for _, name := range []ShardName{v.From, v.To} {
		if err := name.Validate(); err != nil {
			return err
		}
	}
	ranges := v.Genes.Ranges()
	switch {
	case v.From == v.To:
		return fmt.Errorf("from %s to itself", v.From)
	case len(ranges) == 0 && v.Tables == nil:
		return fmt.Errorf("no genes")
	case len(ranges) > 0 && ranges[len(ranges)-1].Last > m.width.Last():
		return fmt.Errorf("genes %s: %s is the last gene of %d bits", v.Genes, m.width.Last().Format(m.width), m.width)
	}
	if others := v.Genes.Subtract(m.GenesOf(v.From)).Subtract(m.GenesOf(v.To)); !others.Empty() {
		return fmt.Errorf("neither %s nor %s owns genes %s", v.From, v.To, others)
	}
	if stray := v.Held.Subtract(v.Genes); !stray.Empty() {
		return fmt.Errorf("it holds genes %s, which it doesn't move", stray)
	}
	if err := m.checkShare(v); err != nil {
		return err
	}
	if err := v.checkMirror(); err != nil {
		return err
	}
	if len(v.Tables) == 0 {
		if v.Tables != nil || v.HoldsTables {
			return fmt.Errorf("it holds tables, and imports none")
		}
		return nil
	}
	if others := v.Genes.Subtract(m.GenesOf(v.To)); !others.Empty() {
		return fmt.Errorf("it imports, and %s does not own genes %s", v.To, others)
	}
	return nil
}

// checkMirror refuses mirroring for moves that aren't by gene.
func (v Move) checkMirror() error {
	switch {
	case v.Mirror < 0 || v.Mirror > 100:
		return fmt.Errorf("it mirrors %d %% of the reads: from 0 to 100", v.Mirror)
	case v.Mirror > 0 && (v.Tables != nil || v.BySequence):
		return fmt.Errorf("it mirrors reads, and is not by gene")
	}
	return nil
}
