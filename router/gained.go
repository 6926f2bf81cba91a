package router

import (
	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Gained returns the genes with rows that the shard owns now but did not own in an older map of the same cluster.
func (m *Map) Gained(old *Map, shard ShardName) gene.Set {
	divided := m.moving.divided.Union(old.moving.divided)
	gained := m.GenesOf(shard).Subtract(old.GenesOf(shard)).Subtract(divided)
	for _, r := range divided.Ranges() {
		for g := int64(r.First); g <= int64(r.Last); g++ { // few genes are divided, usually one
			first, end := m.residuesOf(gene.Gene(g), shard)
			oldFirst, oldEnd := old.residuesOf(gene.Gene(g), shard)
			if first < end && (first < oldFirst || end > oldEnd) {
				gained = gained.Union(gene.NewSet(gene.Range{First: gene.Gene(g), Last: gene.Gene(g)}))
			}
		}
	}
	return gained
}

// residuesOf returns the residues [first, end) of a gene's rows that a shard owns.
func (m *Map) residuesOf(g gene.Gene, shard ShardName) (first, end orderid.Residue) {
	d := m.division(g)
	switch {
	case d == nil && m.Shard(m.Lookup(g)) == shard:
		return 0, orderid.Modulus
	case d == nil:
		return 0, 0
	case m.Shard(d.to) == shard:
		return 0, d.share
	case m.Shard(d.from) == shard:
		return d.share, orderid.Modulus
	}
	return 0, 0
}
