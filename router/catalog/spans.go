package catalog

import (
	"slices"
	"strconv"
	"strings"

	"locus/idgen/gene"
)

// Span is a range of a key column whose values have certain genes. Its ends are SQL literals, and both are included.
type Span struct {
	Low, High string
	// Bytes is the length of the values with the genes, in a column of two lengths, if the range also contains values of other genes. Otherwise
	// it is 0.
	Bytes int
	// First and Last are the range as places; see [Key.PlaceOfInteger].
	First, Last uint64

	order uint64 // sorts spans as the column sorts their values
}

// Holds reports whether the range contains a place.
func (s Span) Holds(place uint64) bool { return s.First <= place && place <= s.Last }

// Spans returns genes as ranges of the key's column, in the column's order. The key is an ID, a parent's ID or a gene column. If a layout has
// more bits of gene than the cluster routes by, the low ones are the cluster's. Then each range occurs once for every value of the other bits.
// No two ranges overlap, even if IDs of two lengths, which are sorted by their bytes, are interleaved.
func (k *Key) Spans(genes gene.Set) []Span {
	if !k.Wide.IsZero() {
		return k.mixedSpans(genes)
	}
	var spans []Span
	for _, r := range genes.Ranges() {
		if k.Role == Gene {
			spans = append(spans, Span{
				Low: strconv.FormatUint(uint64(r.First), 10), High: strconv.FormatUint(uint64(r.Last), 10),
				order: uint64(r.First), First: uint64(r.First), Last: uint64(r.Last),
			})
			continue
		}
		for _, w := range widen(r, k.width, k.Layout.GeneWidth()) {
			spans = append(spans, k.span(w))
		}
	}
	slices.SortFunc(spans, func(a, b Span) int {
		if a.order < b.order {
			return -1
		}
		return 1
	})
	return spans
}

func (k *Key) span(w gene.Range) Span {
	low, high := k.Layout.GeneRange(w.First, w.Last)
	s := Span{
		Low: string(k.Column.AppendID(nil, k.Layout, low)), High: string(k.Column.AppendID(nil, k.Layout, high)),
		order: uint64(w.First), First: k.place(k.Layout, low), Last: k.place(k.Layout, high),
	}
	// In a signed column the IDs with the top bit set are sorted first.
	if !k.Column.Unsigned && k.Layout.Bytes() == 8 && int64(low.Lo) >= 0 {
		s.order |= 1 << 32
	}
	return s
}

// widen returns the ranges of wider genes whose low bits are in r. They are cut in the middle, where the order of a signed column restarts.
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

// AppendSpans appends, in parentheses, the condition that a column is in one of the spans. column is the SQL text of the column's name.
func AppendSpans(b []byte, column string, spans []Span) []byte {
	b = append(b, '(')
	for i, s := range spans {
		if i > 0 {
			b = append(b, " OR "...)
		}
		b = append(b, s.Condition(column)...)
	}
	return append(b, ')')
}

// Condition returns the SQL condition that a column is in the span.
func (s Span) Condition(column string) string {
	between := column + " BETWEEN " + s.Low + " AND " + s.High
	if s.Bytes == 0 {
		return between
	}
	return "(" + between + " AND LENGTH(" + column + ") = " + strconv.Itoa(s.Bytes) + ")"
}

// ComputableKey returns a key by which SQL alone can compute a row's gene: an ID, a parent's ID, or a gene column. The owner is none of them, since
// its gene is a hash. It returns nil if the table has no such key.
func (t *Table) ComputableKey() *Key {
	var found *Key
	for i := range t.Keys {
		k := &t.Keys[i]
		if k.Role != Owner && k.Role != OrderNumber && k.Role != Text && (found == nil || k.Role == ID) {
			found = k
		}
	}
	return found
}

func quoted(name string) string { return "`" + strings.ReplaceAll(name, "`", "``") + "`" }
