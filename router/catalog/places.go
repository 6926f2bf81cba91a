package catalog

import (
	"encoding/binary"
	"slices"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// A place is the position of a value among the spans of a key. In a column of integers it is the gene, as wide as in the layout. In a column
// of bytes it is the top of the first eight bytes. No layout's gene extends below that.
const placeShift = 37

// PlaceOfInteger returns the place of a value in a column of integers.
func (k *Key) PlaceOfInteger(v uint64) uint64 {
	if k.Role == Gene {
		return v
	}
	return uint64(k.Layout.GeneUint(v))
}

// PlaceOfBytes returns the place of a value in a column of bytes. ok is false if the value is too short.
func (k *Key) PlaceOfBytes(v []byte) (place uint64, ok bool) {
	if len(v) < 8 {
		return 0, false
	}
	return binary.BigEndian.Uint64(v) >> placeShift, true
}

func (k *Key) place(l orderid.Layout, id orderid.ID) uint64 {
	switch {
	case k.Column.IsInteger():
		return uint64(l.Gene(id))
	case l.Bytes() == 16:
		return id.Hi >> placeShift
	}
	return id.Lo >> placeShift
}

// run contains the places from first up to end, which is not included.
type run struct{ first, end uint64 }

// mixedSpans is Spans for a column of two lengths. Where the genes of both lengths are in the same places, one span contains both. In other
// places, the length distinguishes them.
func (k *Key) mixedSpans(genes gene.Set) []Span {
	narrow, wide := k.runs(k.Layout, genes), k.runs(k.Wide, genes)
	var cuts []uint64
	for _, r := range slices.Concat(narrow, wide) {
		cuts = append(cuts, r.first, r.end)
	}
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var spans []Span
	for i := 1; i < len(cuts); i++ {
		narrow, wide = endingAfter(narrow, cuts[i-1]), endingAfter(wide, cuts[i-1])
		in8, in16 := startedBy(narrow, cuts[i-1]), startedBy(wide, cuts[i-1])
		switch {
		case in8 && in16:
			spans = append(spans, k.mixedSpan(cuts[i-1], cuts[i], 0))
		case in8:
			spans = append(spans, k.mixedSpan(cuts[i-1], cuts[i], 8))
		case in16:
			spans = append(spans, k.mixedSpan(cuts[i-1], cuts[i], 16))
		}
	}
	return spans
}

// runs returns the places of a layout's IDs that have the genes, sorted and joined.
func (k *Key) runs(l orderid.Layout, genes gene.Set) []run {
	var runs []run
	for _, r := range genes.Ranges() {
		for _, w := range widen(r, k.width, l.GeneWidth()) {
			low, high := l.GeneRange(w.First, w.Last)
			runs = append(runs, run{k.place(l, low), k.place(l, high) + 1})
		}
	}
	slices.SortFunc(runs, func(a, b run) int {
		if a.first < b.first {
			return -1
		}
		return 1
	})
	joined := runs[:0]
	for _, r := range runs {
		if last := len(joined) - 1; last >= 0 && joined[last].end == r.first {
			joined[last].end = r.end
			continue
		}
		joined = append(joined, r)
	}
	return joined
}

// endingAfter returns the runs without those that end at or before a place.
func endingAfter(runs []run, place uint64) []run {
	for len(runs) > 0 && runs[0].end <= place {
		runs = runs[1:]
	}
	return runs
}

func startedBy(runs []run, place uint64) bool { return len(runs) > 0 && runs[0].first <= place }

// mixedSpan returns the span of the places from first up to end, which is not included. Bytes is the length of its values, or 0 if values of
// both lengths have the genes.
func (k *Key) mixedSpan(first, end uint64, bytes int) Span {
	low, high := orderid.ID{Lo: first << placeShift}, orderid.ID{Hi: end<<placeShift - 1, Lo: ^uint64(0)}
	return Span{
		Low: string(k.Layout.AppendHexSQL(nil, low)), High: string(k.Wide.AppendHexSQL(nil, high)), Bytes: bytes,
		order: first, First: first, Last: end - 1,
	}
}
