package router

import (
	"fmt"
	"slices"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// division is genes whose rows two shards own: to those of residues below share, and
// from, which has the genes in the map's entries, the others.
type division struct {
	genes    gene.Set
	share    orderid.Residue
	from, to int // indexes of shards
}

// Divides tells whether each of both shards owns some rows of the move's genes.
func (v Move) Divides() bool { return v.BySequence && v.Share > 0 && v.Share < orderid.Modulus }

// checkShare refuses a share that the entries don't agree with: who has the genes there
// is who answers for what can't be divided.
func (m *Map) checkShare(v Move) error {
	owner := v.From
	switch {
	case !v.BySequence && v.Share != 0:
		return fmt.Errorf("%d %% of the rows, and it is not by sequence", v.Share)
	case !v.BySequence:
		return nil
	case v.Tables != nil:
		return fmt.Errorf("an import by sequence: its genes have their owners already")
	case v.Share > orderid.Modulus:
		return fmt.Errorf("%d %% of the rows", v.Share)
	case v.Share == orderid.Modulus:
		owner = v.To
	}
	if others := v.Genes.Subtract(m.GenesOf(owner)); !others.Empty() {
		return fmt.Errorf("%d %% by sequence, and %s does not own genes %s", v.Share, owner, others)
	}
	return nil
}

// leavesNoneDivided refuses to forget a division while it lasts: the rows on the one side
// would be nobody's.
func (m *Map) leavesNoneDivided(moves []Move) error {
	for _, old := range m.moving.moves {
		if !old.Divides() {
			continue
		}
		at := slices.IndexFunc(moves, func(v Move) bool { return v.Job == old.Job })
		if at < 0 {
			return fmt.Errorf("job %s: %s has %d %% of the rows of genes %s: bring them to one shard first", old.Job, old.To, old.Share, old.Genes)
		}
		if v := moves[at]; !v.BySequence || v.From != old.From || v.To != old.To || !v.Genes.Equal(old.Genes) {
			return fmt.Errorf("job %s: %s, and its rows are divided by %s", old.Job, v, old)
		}
	}
	return nil
}

// naming is a copy of the map that has a number for each shard which gets a part of
// divided genes, too: it may have no other.
func (m *Map) naming(moves []Move) *Map {
	next := *m
	for _, v := range moves {
		if v.Divides() && !slices.Contains(next.shards, v.To) {
			next.shards = append(slices.Clone(next.shards), v.To)
		}
	}
	if len(next.shards) == len(m.shards) {
		return &next
	}
	slices.SortFunc(next.shards, ShardName.Compare)
	next.owners = slices.Clone(m.owners)
	for i, o := range m.owners {
		next.owners[i].shard = int32(slices.Index(next.shards, m.shards[o.shard]))
	}
	return &next
}

// divide makes the divisions ready for look-ups.
func (m *Map) divide() {
	for _, v := range m.moving.moves {
		if v.Divides() {
			m.moving.divisions = append(m.moving.divisions, division{v.Genes, v.Share, slices.Index(m.shards, v.From), slices.Index(m.shards, v.To)})
			m.moving.divided = m.moving.divided.Union(v.Genes)
		}
	}
}

// Divided is the genes whose rows two shards own, each those of some residues.
func (m *Map) Divided() gene.Set { return m.moving.divided }

// division of a gene; nil: it is not divided.
func (m *Map) division(g gene.Gene) *division {
	for i := range m.moving.divisions {
		if d := &m.moving.divisions[i]; d.genes.Contains(g) {
			return d
		}
	}
	return nil
}

// Sides gives the indexes of the two shards that own rows of a gene, ascending; divided
// is false for a gene whose rows one shard owns: [Map.Lookup] names it. It does not
// allocate.
func (m *Map) Sides(g gene.Gene) (low, high int, divided bool) {
	d := m.division(g)
	if d == nil {
		return 0, 0, false
	}
	return min(d.from, d.to), max(d.from, d.to), true
}

// LookupRow is the index of the shard that owns a gene's rows of a residue. It takes no
// lock and allocates nothing.
func (m *Map) LookupRow(g gene.Gene, r orderid.Residue) int {
	switch d := m.division(g); {
	case d == nil:
		return m.Lookup(g)
	case r < d.share:
		return d.to
	default:
		return d.from
	}
}

// OwnersOf is such as "s0", or "s0 | s2 35 % by sequence", of a gene.
func (m *Map) OwnersOf(g gene.Gene) string {
	if d := m.division(g); d != nil {
		return Stretch{Shard: m.shards[d.from], Target: m.shards[d.to], Share: d.share}.Owners()
	}
	return string(m.Shard(m.Lookup(g)))
}

// Stretch is neighbouring genes of one shard; or, where Share isn't 0, of two: Target
// owns the rows whose residues are below Share.
type Stretch struct {
	gene.Range
	Shard, Target ShardName
	Share         orderid.Residue
}

// Stretches are the map's entries, with divided genes apart.
func (m *Map) Stretches() []Stretch {
	var out []Stretch
	for i, o := range m.owners {
		rest := m.rangeOf(i)
		for _, r := range m.moving.divided.Intersect(gene.NewSet(rest)).Ranges() {
			for r.Len() > 0 {
				d := m.division(r.First)
				here := d.genes.Intersect(gene.NewSet(r)).Ranges()[0]
				if rest.First < here.First {
					out = append(out, Stretch{Range: gene.Range{First: rest.First, Last: here.First - 1}, Shard: m.shards[o.shard]})
				}
				out = append(out, Stretch{here, m.shards[d.from], m.shards[d.to], d.share})
				rest.First, r.First = here.Last+1, here.Last+1
			}
		}
		if rest.Len() > 0 {
			out = append(out, Stretch{Range: rest, Shard: m.shards[o.shard]})
		}
	}
	return out
}

// Owners is such as "s0", or "s0 | s2 35 % by sequence".
func (s Stretch) Owners() string {
	if s.Share == 0 {
		return string(s.Shard)
	}
	return fmt.Sprintf("%s | %s %d %% by sequence", s.Shard, s.Target, s.Share)
}
