package catalog

import (
	"bytes"
	"encoding/hex"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// A wider gene is in one of the ranges exactly if its low bits are in the narrow range. No range contains the middle.
func TestWidenAgainstTheLowBits(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		from := rapid.SampledFrom([]gene.Width{14, 15, 16, 23}).Draw(t, "from")
		to := rapid.SampledFrom([]gene.Width{14, 15, 16, 23}).Filter(func(w gene.Width) bool { return w >= from }).Draw(t, "to")
		first := gene.Gene(rapid.Uint32Range(0, uint32(from.Last())).Draw(t, "first"))
		last := gene.Gene(rapid.Uint32Range(uint32(first), uint32(from.Last())).Draw(t, "last"))
		ranges := widen(gene.Range{First: first, Last: last}, from, to)
		g := gene.Gene(rapid.Uint32Range(0, uint32(to.Last())).Draw(t, "gene"))
		in := false
		for _, r := range ranges {
			in = in || r.Contains(g)
			if middle := gene.Gene(1) << (to - 1); r.First < middle && r.Last >= middle {
				t.Fatalf("range %s spans the middle", r)
			}
		}
		if low := g & from.Last(); in != (first <= low && low <= last) {
			t.Fatalf("gene %s of %d bits in %v: %v", g, to, ranges, in)
		}
	})
}

// In a column of both lengths, an ID is in exactly one span if it has one of the genes, and in none otherwise. The spans are in the column's
// order.
func TestSpansOfBothLengths(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		narrow := layoutNamed(rapid.SampledFrom([]string{"int64", "int64-15", "int64-14", "plain64", "js53"}).Draw(t, "layout"))
		width := gene.W14
		if narrow.GeneWidth() >= gene.W16 {
			width = gene.W16
		}
		k := Key{Role: ID, Column: &Column{Name: "id", DataType: "varbinary", Length: 16}, Layout: narrow, Wide: layoutNamed("bytes16"), width: width}
		var ranges []gene.Range
		for range rapid.IntRange(1, 4).Draw(t, "ranges") {
			first := gene.Gene(rapid.Uint32Range(0, uint32(width.Last())).Draw(t, "first"))
			ranges = append(ranges, gene.Range{First: first, Last: min(width.Last(), first+gene.Gene(rapid.Uint32Range(0, 3000).Draw(t, "more")))})
		}
		genes := gene.NewSet(ranges...)
		spans := k.Spans(genes)
		for i := range spans[1:] {
			if low, high := stored(t, spans[i+1].Low), stored(t, spans[i].High); bytes.Compare(high, low) >= 0 {
				t.Fatalf("span %d ends at %x, and the next begins at %x", i, high, low)
			}
		}
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		for n := range 60 {
			l := []orderid.Layout{k.Layout, k.Wide}[n%2]
			g := gene.Gene(random.Uint32()) & l.GeneWidth().Last()
			if n%4 < 2 { // near an end
				r := ranges[n%len(ranges)]
				g = g&^width.Last() | []gene.Gene{r.First, r.Last, r.First - 1, r.Last + 1}[random.IntN(4)]&width.Last()
			}
			sequence := l.MaxSequence()
			if n%3 > 0 {
				sequence = orderid.Seq(uint64(n) - 1)
			}
			id, err := l.Compose(g, 0, sequence)
			if err != nil {
				t.Fatal(err)
			}
			v := l.AppendBytes(nil, id)
			in := 0
			for _, s := range spans {
				if bytes.Compare(stored(t, s.Low), v) > 0 || bytes.Compare(v, stored(t, s.High)) > 0 {
					continue
				}
				if place, ok := k.PlaceOfBytes(v); !ok || !s.Holds(place) {
					t.Fatalf("%x is within %+v, and its place %x is not", v, s, place)
				}
				if s.Bytes == 0 || s.Bytes == len(v) {
					in++
				}
			}
			if want := genes.Contains(g & width.Last()); want && in != 1 || !want && in != 0 {
				t.Fatalf("%x of gene %s is in %d spans of %s: %+v", v, g, in, genes, spans)
			}
		}
	})
}

func stored(t *rapid.T, literal string) []byte {
	raw, err := hex.DecodeString(strings.TrimSuffix(strings.TrimPrefix(literal, "X'"), "'"))
	if err != nil {
		t.Fatal(err)
	}
	return raw
}
