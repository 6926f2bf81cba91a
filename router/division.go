package router

import (
	"fmt"
	"slices"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// division is a set of genes whose rows two shards own. Shard to owns the rows with residues below share. Shard from,
// which has the genes in the map's entries, owns the others.
type division struct {
	genes    gene.Set
	share    orderid.Residue
	from, to int // indexes of shards
}

// Divides reports whether both shards own some rows of the move's genes.
func (v Move) Divides() bool { return v.BySequence && v.Share > 0 && v.Share < orderid.Modulus }

// checkShare refuses a share that contradicts the entries. The shard that has the genes in the entries answers for
// everything that can't be divided.
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

// leavesNoneDivided refuses to drop a division that is in force, because the rows on one side would have no owner.
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

// naming returns a copy of the map that has indexes also for shards that own only parts of divided genes.
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

// divide prepares the divisions for look-ups.
func (m *Map) divide() {
	for _, v := range m.moving.moves {
		if v.Divides() {
			m.moving.divisions = append(m.moving.divisions, division{v.Genes, v.Share, slices.Index(m.shards, v.From), slices.Index(m.shards, v.To)})
			m.moving.divided = m.moving.divided.Union(v.Genes)
		}
	}
}

// Divided returns the genes whose rows two shards own, by residue.
func (m *Map) Divided() gene.Set { return m.moving.divided }

// division returns the division of a gene, or nil if it isn't divided.
func (m *Map) division(g gene.Gene) *division {
	for i := range m.moving.divisions {
		if d := &m.moving.divisions[i]; d.genes.Contains(g) {
			return d
		}
	}
	return nil
}

// Sides returns the indexes of the two shards that own rows of a divided gene, in ascending order. divided is false for
// a gene with one owner; see [Map.Lookup]. It doesn't allocate.
func (m *Map) Sides(g gene.Gene) (low, high int, divided bool) {
	d := m.division(g)
	if d == nil {
		return 0, 0, false
	}
	return min(d.from, d.to), max(d.from, d.to), true
}

// LookupRow returns the index of the shard that owns a gene's rows with a residue. It takes no lock and doesn't
// allocate.
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

// OwnersOf returns a gene's owners as text, such as "s0" or "s0 | s2 35 % by sequence".
func (m *Map) OwnersOf(g gene.Gene) string {
	if d := m.division(g); d != nil {
		return Stretch{Shard: m.shards[d.from], Target: m.shards[d.to], Share: d.share}.Owners()
	}
	return string(m.Shard(m.Lookup(g)))
}

// Stretch is a range of genes with the same owner. If Share isn't 0 it has two owners: Target owns the rows with
// residues below Share.
type Stretch struct {
	gene.Range
	Shard, Target ShardName
	Share         orderid.Residue
}

// Stretches returns the map's entries, with divided genes as stretches of their own.
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

// Owners returns the owners as text, such as "s0" or "s0 | s2 35 % by sequence".
func (s Stretch) Owners() string {
	if s.Share == 0 {
		return string(s.Shard)
	}
	return fmt.Sprintf("%s | %s %d %% by sequence", s.Shard, s.Target, s.Share)
}
