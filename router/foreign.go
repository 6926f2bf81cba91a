package router

import (
	"fmt"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Foreign is the set of rows that a shard may hold without owning them: all rows of some genes, and of divided genes
// those with some residues. No gene is in both, or in two parts.
type Foreign struct {
	Genes gene.Set
	Parts []Part
}

// Part is the rows of some genes with residues in [First, End).
type Part struct {
	Genes      gene.Set
	First, End orderid.Residue
}

// Whole returns all rows of the genes.
func Whole(genes gene.Set) Part { return Part{Genes: genes, End: orderid.Modulus} }

// IsWhole reports whether the part includes all residues.
func (p Part) IsWhole() bool { return p.First == 0 && p.End == orderid.Modulus }

// Empty reports whether no row can be in the part.
func (p Part) Empty() bool { return p.Genes.Empty() || p.First >= p.End }

// Has reports whether the part includes rows with a gene and residue. It doesn't allocate.
func (p Part) Has(g gene.Gene, r orderid.Residue) bool {
	return p.First <= r && r < p.End && p.Genes.Contains(g)
}

// Of returns the part restricted to some genes.
func (p Part) Of(genes gene.Set) Part { return Part{p.Genes.Intersect(genes), p.First, p.End} }

// String returns a text such as "0x4000-0x4fff" or "0x3eab mod 100 in 0..34".
func (p Part) String() string {
	if p.IsWhole() {
		return p.Genes.String()
	}
	return fmt.Sprintf("%s mod %d in %d..%d", p.Genes, orderid.Modulus, p.First, int(p.End)-1)
}

// Empty reports whether there are no foreign rows.
func (f Foreign) Empty() bool { return f.Genes.Empty() && len(f.Parts) == 0 }

// Meets returns the genes with some foreign rows.
func (f Foreign) Meets() gene.Set {
	genes := f.Genes
	for _, p := range f.Parts {
		genes = genes.Union(p.Genes)
	}
	return genes
}

// Has reports whether rows with a gene and residue are foreign. It doesn't allocate.
func (f Foreign) Has(g gene.Gene, r orderid.Residue) bool {
	return f.Genes.Contains(g) || slices.ContainsFunc(f.Parts, func(p Part) bool { return p.Has(g, r) })
}

// String returns a text such as "0x4000-0x4fff, 0x3eab mod 100 in 0..34".
func (f Foreign) String() string {
	var texts []string
	if !f.Genes.Empty() {
		texts = append(texts, f.Genes.String())
	}
	for _, p := range f.Parts {
		texts = append(texts, p.String())
	}
	return strings.Join(texts, ", ")
}

// Foreign returns the rows that a shard may hold without owning them. shard is the index in [Map.Shards]. Statements on
// that shard must exclude these rows, unless they already select other rows only.
func (m *Map) Foreign(shard int) Foreign {
	if m.moving.foreign == nil {
		return Foreign{}
	}
	return m.moving.foreign[shard]
}

func (m *Map) foreignBy(moves []Move) []Foreign {
	foreign := make([]Foreign, len(m.shards))
	for i, name := range m.shards {
		f := &foreign[i]
		for _, v := range moves {
			switch {
			case name != v.From && name != v.To:
			case v.Divides() && name == v.From:
				f.Parts = append(f.Parts, Part{v.Genes, 0, v.Share})
			case v.Divides():
				f.Parts = append(f.Parts, Part{v.Genes, v.Share, orderid.Modulus})
			default:
				f.Genes = f.Genes.Union(v.Genes.Subtract(m.GenesOf(name)))
			}
		}
	}
	return foreign
}
