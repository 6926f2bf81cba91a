package router

import (
	"fmt"
	"slices"

	"locus/idgen/gene"
)

// Equal returns version 1 of a map that assigns equal ranges of genes to the shards in the given order. If the genes
// don't divide evenly, ranges differ by at most one gene.
func Equal(w gene.Width, shards []ShardName) (*Map, error) {
	for i, name := range shards {
		if slices.Contains(shards[:i], name) {
			return nil, fmt.Errorf("equal ranges: shard %s is named twice", name)
		}
	}
	genes := uint64(w.Last()) + 1
	if uint64(len(shards)) > genes {
		return nil, fmt.Errorf("equal ranges: %d shards for %d genes", len(shards), genes)
	}
	entries := make([]Entry, len(shards))
	for i, name := range shards {
		entries[i] = Entry{gene.Gene(genes*uint64(i+1)/uint64(len(shards)) - 1), name}
	}
	return New(w, 1, entries)
}
