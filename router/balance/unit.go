package balance

import (
	"locus/idgen/gene"
)

// Weight returns a gene's load: statements per second, or rows. Genes with the same first 16 bits have the same weight.
type Weight func(gene.Gene) float64

// unit is a run of genes with the same weight. It is never divided.
type unit struct {
	gene.Range
	weight float64
}

// unitsOf divides genes into units, in order.
func unitsOf(w gene.Width, genes gene.Set, weight Weight) []unit {
	step := gene.Gene(1) << max(0, int(w)-16)
	var units []unit
	for _, r := range genes.Ranges() {
		for first := r.First; first <= r.Last; {
			last := min(first/step*step+step-1, r.Last)
			units = append(units, unit{gene.Range{First: first, Last: last}, weight(first) * float64(last-first+1)})
			first = last + 1
		}
	}
	return units
}

func sum(units []unit) (total float64) {
	for _, u := range units {
		total += u.weight
	}
	return total
}

func setOf(units []unit) gene.Set {
	ranges := make([]gene.Range, len(units))
	for i, u := range units {
		ranges[i] = u.Range
	}
	return gene.NewSet(ranges...)
}
