package table

import (
	"slices"
	"strconv"

	"locus/migrate/link"
	"locus/router/catalog"
	"locus/router/gene"
)

// span is a range of the telling column, with its ends as literals.
type span struct {
	low, high string
	// order sorts spans as the column sorts their values.
	order uint64
	wide  gene.Range // of the layout's own genes
}

// spans is the genes as ranges of the telling column, in its order. A layout
// with more bits of gene than the cluster routes by has the cluster's as its low
// ones: each range is there once for every value of the others.
func (t *Table) spans(genes gene.Set) []span {
	k := t.telling
	var spans []span
	for _, r := range genes.Ranges() {
		if k.Role == catalog.Gene {
			spans = append(spans, span{
				low: strconv.FormatUint(uint64(r.First), 10), high: strconv.FormatUint(uint64(r.Last), 10),
				order: uint64(r.First), wide: r,
			})
			continue
		}
		for _, w := range widen(r, k.width, k.Layout.GeneWidth()) {
			spans = append(spans, k.span(w))
		}
	}
	slices.SortFunc(spans, func(a, b span) int {
		if a.order < b.order {
			return -1
		}
		return 1
	})
	return spans
}

func (k *tellingKey) span(w gene.Range) span {
	low, high := k.Layout.GeneRange(w.First, w.Last)
	spell := k.Layout.AppendSQL
	s := span{order: uint64(w.First), wide: w}
	if !k.Column.Unsigned && k.Layout.Bytes() == 8 {
		spell = k.Layout.AppendSignedSQL
		// In a signed column the IDs with the top bit set stand first.
		if int64(low.Lo) >= 0 {
			s.order |= 1 << 32
		}
	}
	s.low, s.high = string(spell(nil, low)), string(spell(nil, high))
	return s
}

// widen gives the ranges of wider genes whose low bits are in r, cut in the
// middle, where a signed column's order begins anew.
func widen(r gene.Range, from, to gene.Width) []gene.Range {
	var ranges []gene.Range
	middle := gene.Gene(1) << (to - 1)
	for high := gene.Gene(0); high <= to.Last()>>from; high++ {
		first, last := high<<from|r.First, high<<from|r.Last
		if first < middle && last >= middle {
			ranges = append(ranges, gene.Range{First: first, Last: middle - 1})
			first = middle
		}
		ranges = append(ranges, gene.Range{First: first, Last: last})
	}
	return ranges
}

// appendSpans appends that the telling column is in one of the spans.
func (t *Table) appendSpans(b []byte, spans []span) []byte {
	name := link.Name(t.telling.Column.Name)
	b = append(b, '(')
	for i, s := range spans {
		if i > 0 {
			b = append(b, " OR "...)
		}
		b = append(b, name+" BETWEEN "+s.low+" AND "+s.high...)
	}
	return append(b, ')')
}

// Condition is that a row is of the genes, in parentheses.
func (t *Table) Condition(genes gene.Set) string {
	spans := t.spans(genes)
	if len(spans) == 0 {
		return "(FALSE)"
	}
	return string(t.appendSpans(nil, spans))
}

// Conditions is Condition in pieces of some ranges each.
func (t *Table) Conditions(genes gene.Set, ranges int) []string {
	var all []string
	for some := range slices.Chunk(t.spans(genes), ranges) {
		all = append(all, string(t.appendSpans(nil, some)))
	}
	return all
}
