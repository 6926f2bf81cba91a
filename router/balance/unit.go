package balance

import (
	"locus/idgen/gene"
)

// Weight is what a gene has to bear: statements per second, or rows. Genes whose
// first 16 bits are the same weigh the same.
type Weight func(gene.Gene) float64

// unit is a run of genes that weigh the same, and is not divided.
type unit struct {
	gene.Range
	weight float64
}

// unitsOf cuts genes into units, in their order.
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
