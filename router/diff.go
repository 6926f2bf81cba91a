package router

import (
	"cmp"
	"fmt"
	"slices"

	"locus/idgen/gene"
)

// Handover is a set of genes that change hands between two maps.
type Handover struct {
	Genes    gene.Set
	From, To ShardName
}

func (h Handover) String() string { return fmt.Sprintf("%s  %s -> %s", h.Genes, h.From, h.To) }

// Diff returns the genes that change hands from old to next, one Handover per pair of shards, in natural order. Maps of
// different widths can't be compared.
func Diff(old, next *Map) ([]Handover, error) {
	if old.width != next.width {
		return nil, fmt.Errorf("compare route maps: version %d has genes of %d bits and version %d of %d",
			old.version, old.width, next.version, next.width)
	}
	type pair struct{ from, to ShardName }
	moved := make(map[pair][]gene.Range)
	for i, j := 0, 0; i < len(old.owners) && j < len(next.owners); {
		a, b := old.rangeOf(i), next.rangeOf(j)
		p := pair{old.shards[old.owners[i].shard], next.shards[next.owners[j].shard]}
		if p.from != p.to {
			moved[p] = append(moved[p], gene.Range{First: max(a.First, b.First), Last: min(a.Last, b.Last)})
		}
		if a.Last <= b.Last {
			i++
		}
		if b.Last <= a.Last {
			j++
		}
	}
	var handovers []Handover
	for p, ranges := range moved {
		handovers = append(handovers, Handover{gene.NewSet(ranges...), p.from, p.to})
	}
	slices.SortFunc(handovers, func(a, b Handover) int {
		return cmp.Or(a.From.Compare(b.From), a.To.Compare(b.To))
	})
	return handovers, nil
}
