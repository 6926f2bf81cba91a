package router

import (
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Move is a job's claim on genes while it takes them from one shard to another:
// rows of Genes may be on From and on To at once, and only those of their
// owner count. Each of the rows is owned by one of the two: with its gene, or,
// of a gene that is divided, by its residue.
type Move struct {
	Job      string
	Genes    gene.Set
	From, To ShardName
	// Held is the fence of a step: statements on these genes, which are some of
	// Genes, wait until a later version of the map no longer holds them.
	Held gene.Set
	// Tables are those of an import, as schema.table: To owns the genes already, and
	// From has the tables' rows of them, until they are sharded and afterwards. Of
	// any other move there are none: it moves the rows of all sharded tables.
	Tables []string
	// HoldsTables is the fence of an import: statements that may concern its tables
	// wait.
	HoldsTables bool
	// BySequence is a move whose genes have so many rows that they are divided: To owns
	// the rows whose residues are below Share, and From the others. Only with all of them
	// are the genes themselves To's.
	BySequence bool
	Share      orderid.Residue // up to orderid.Modulus
	// Mirror is the share of the reads of these genes that From answers and that proxies send To as well, in percent, to
	// compare the two. What a client is told never depends on it. 0: none.
	Mirror int
}

// Unsharded stands in sets of genes for the rows of tables that have none, as long as
// an import is about to shard some of them. It is beyond the genes of every width.
const Unsharded gene.Gene = 1 << 24

var unsharded = gene.NewSet(gene.Range{First: Unsharded, Last: Unsharded})

// String is such as "0x4000-0x7fff  s0 -> s2  job 7, holding 0x4000-0x40ff".
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

// ID is that of the job: an import has a move for each shard that rows go to, named after both.
func (v Move) ID() string {
	id, _, _ := strings.Cut(v.Job, "/")
	return id
}

// Holds tells whether statements wait for the move.
func (v Move) Holds() bool { return v.HoldsTables || !v.Held.Empty() }

// Released is the move without its fence.
func (v Move) Released() Move {
	v.Held, v.HoldsTables = gene.Set{}, false
	return v
}

// moving is what a map says of its moves, made ready for look-ups.
type moving struct {
	moves   []Move // by job
	genes   gene.Set
	held    gene.Set
	holds   bool      // some genes, and not only tables
	foreign []Foreign // by index of the shard; nil: no shard has foreign rows

	divisions []division
	divided   gene.Set // of all divisions
}

// Moves is the moves under way, by job; the slice belongs to the caller.
func (m *Map) Moves() []Move { return slices.Clone(m.moving.moves) }

// MoveOf is the move of a job.
func (m *Map) MoveOf(job string) (Move, bool) {
	i := slices.IndexFunc(m.moving.moves, func(v Move) bool { return v.Job == job })
	if i < 0 {
		return Move{}, false
	}
	return m.moving.moves[i], true
}

// MoveWith is the move that a gene is in. It does not allocate.
func (m *Map) MoveWith(g gene.Gene) (Move, bool) {
	for i := range m.moving.moves {
		if m.moving.moves[i].Genes.Contains(g) {
			return m.moving.moves[i], true
		}
	}
	return Move{}, false
}

// Importing is the tables of the import under way, as schema.table; nil: there is none.
func (m *Map) Importing() []string {
	if len(m.moving.moves) == 0 {
		return nil
	}
	return m.moving.moves[0].Tables
}

// Moving is the genes of all moves, with [Unsharded] during an import.
func (m *Map) Moving() gene.Set { return m.moving.genes }

// Held is the genes on which statements wait for a later map, and [Unsharded] if an
// import holds its tables.
func (m *Map) Held() gene.Set { return m.moving.held }

// HoldsGenes tells whether statements on some genes wait: not only those on an import's tables.
func (m *Map) HoldsGenes() bool { return m.moving.holds }

// HeldOf is what is held of what a shard has: of its genes, and of the tables that are imported
// from it.
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

// Step is the next version of the map with these moves in place of those under
// way, and with the changes of owners, all at once: what a job announces, holds,
// hands over and withdraws. Changes may only concern genes that moves had before
// or have now, and give them to a shard of that move.
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

// carrying is the map with moves, in place of those that it has.
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
			return nil, fmt.Errorf("jobs %s and %s: an import goes on alone", moves[0].Job, v.Job)
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
	case len(ranges) == 0:
		return fmt.Errorf("no genes")
	case ranges[len(ranges)-1].Last > m.width.Last():
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

// checkMirror refuses to mirror what is no read of one gene on one shard.
func (v Move) checkMirror() error {
	switch {
	case v.Mirror < 0 || v.Mirror > 100:
		return fmt.Errorf("it mirrors %d %% of the reads: from 0 to 100", v.Mirror)
	case v.Mirror > 0 && (v.Tables != nil || v.BySequence):
		return fmt.Errorf("it mirrors reads, and is not by gene")
	}
	return nil
}
