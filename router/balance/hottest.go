package balance

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"locus/idgen/gene"
)

// mostRuns bounds the number of ranges in a choice.
const mostRuns = 16

// near is the tolerated deviation from the wanted share, for the sake of fewer genes.
const near = 0.05

// ErrNoWeight means that no gene has any weight to choose by.
var ErrNoWeight = errors.New("these genes have no load")

// Hottest chooses the heaviest of the genes that one shard owns, as few as have together about the given share, between
// 0 and 1, of the total weight. The choice has few ranges: if there would be too many, the genes between some of them
// are included. It contains at least one gene and omits at least one.
func Hottest(w gene.Width, owned gene.Set, weight Weight, share float64) (gene.Set, error) {
	units := unitsOf(w, owned, weight)
	total := sum(units)
	switch {
	case total <= 0:
		return gene.Set{}, ErrNoWeight
	case len(units) < 2:
		return gene.Set{}, errors.New("a single gene can't be divided")
	}
	byWeight := make([]int, len(units))
	for i := range byWeight {
		byWeight[i] = i
	}
	slices.SortStableFunc(byWeight, func(a, b int) int { return cmp.Compare(units[b].weight, units[a].weight) })
	// Find the smallest sufficient number, or one less if that is closer.
	low, high := 1, len(units)-1
	for low < high {
		middle := (low + high) / 2
		if sum(together(units, byWeight[:middle])) >= share*total*(1-near) {
			high = middle
		} else {
			low = middle + 1
		}
	}
	var best []unit
	off := math.Inf(1)
	for _, n := range []int{low, low - 1} {
		chosen := together(units, byWeight[:n])
		if o := math.Abs(sum(chosen) - share*total); len(chosen) > 0 && len(chosen) < len(units) && o < off {
			best, off = chosen, o
		}
	}
	if best == nil { // all of them are needed to close the gaps
		best = units[byWeight[0] : byWeight[0]+1]
	}
	return setOf(best), nil
}

// together returns the units at these places, and as few others as reduce the ranges to mostRuns.
func together(units []unit, places []int) []unit {
	places = slices.Sorted(slices.Values(places))
	var gaps []int // places followed by a gap
	for i := range len(places) - 1 {
		if places[i+1] > places[i]+1 {
			gaps = append(gaps, i)
		}
	}
	wide := func(i int) int { return places[i+1] - places[i] }
	slices.SortStableFunc(gaps, func(a, b int) int { return cmp.Compare(wide(b), wide(a)) })
	open := map[int]bool{}
	for _, i := range gaps[:min(len(gaps), mostRuns-1)] {
		open[i] = true
	}
	var chosen []unit
	for i, place := range places {
		chosen = append(chosen, units[place])
		if i+1 < len(places) && !open[i] {
			chosen = append(chosen, units[place+1:places[i+1]]...)
		}
	}
	return chosen
}
