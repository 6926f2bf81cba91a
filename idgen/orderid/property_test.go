package orderid

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
)

type parts struct {
	g gene.Gene
	v uint32
	s Sequence
}

func drawLayout(t *rapid.T) Layout { return rapid.SampledFrom(Layouts()).Draw(t, "layout") }

func drawParts(t *rapid.T, l Layout) parts {
	limit := l.MaxSequence()
	return parts{
		gene.Gene(rapid.Uint32Range(0, uint32(l.GeneWidth().Last())).Draw(t, "gene")),
		rapid.Uint32Range(0, l.MaxVersion()).Draw(t, "version"),
		Sequence{
			rapid.Uint64Range(0, limit.Hi).Draw(t, "sequence hi"),
			rapid.Uint64Range(0, limit.Lo).Draw(t, "sequence lo"),
		},
	}
}

func compose(t *rapid.T, l Layout, p parts) ID {
	id, err := l.Compose(p.g, p.v, p.s)
	if err != nil {
		t.Fatal(err)
	}
	return id
}

func TestRoundTrips(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		p := drawParts(t, l)
		id := compose(t, l, p)
		if got := (parts{l.Gene(id), l.Version(id), l.Sequence(id)}); got != p {
			t.Fatalf("%v became %v", p, got)
		}
		if l.WithSequence(l.WithSequence(id, Sequence{}), p.s) != id {
			t.Fatal("WithSequence touches other bits")
		}
		forms := map[string]func() (ID, error){
			"bytes":      func() (ID, error) { return l.FromBytes(l.AppendBytes(nil, id)) },
			"SQL":        func() (ID, error) { return l.Parse(string(l.AppendSQL(nil, id))) },
			"signed SQL": func() (ID, error) { return l.Parse(string(l.AppendSignedSQL(nil, id))) },
		}
		if l.Bytes() == 8 {
			forms["int"] = func() (ID, error) { return l.FromInt(int64(id.Lo)) }
			forms["uint"] = func() (ID, error) { return l.FromUint(id.Lo) }
			if l.GeneUint(id.Lo) != p.g {
				t.Fatalf("GeneUint: %s, want %s", l.GeneUint(id.Lo), p.g)
			}
		}
		for name, read := range forms {
			if got, err := read(); err != nil || got != id {
				t.Fatalf("%s of %s is read as %s, %v", name, id, got, err)
			}
		}
	})
}

// Order of IDs = order of (gene, version, sequence) = order of their bytes.
func TestOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		a, b := drawParts(t, l), drawParts(t, l)
		switch rapid.IntRange(0, 2).Draw(t, "same") {
		case 1:
			b.g = a.g
		case 2:
			b.g, b.v = a.g, a.v
		}
		ida, idb := compose(t, l, a), compose(t, l, b)
		want := ID{uint64(a.g), uint64(a.v)}.Compare(ID{uint64(b.g), uint64(b.v)})
		if want == 0 {
			want = ID(a.s).Compare(ID(b.s))
		}
		if got := ida.Compare(idb); got != want {
			t.Fatalf("%v and %v compare as %d", a, b, got)
		}
		if got := bytes.Compare(l.AppendBytes(nil, ida), l.AppendBytes(nil, idb)); got != want {
			t.Fatalf("bytes of %v and %v compare as %d", a, b, got)
		}
	})
}

// An ID is between the ends of a gene range if and only if its gene is in it.
func TestGeneRangeIsContiguous(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		a, b, c := drawParts(t, l), drawParts(t, l), drawParts(t, l)
		if rapid.Bool().Draw(t, "at the edge") {
			c.g = rapid.SampledFrom([]gene.Gene{a.g, b.g}).Draw(t, "edge")
		}
		first, last := min(a.g, b.g), max(a.g, b.g)
		lo, hi := l.GeneRange(first, last)
		id := compose(t, l, c)
		between := lo.Compare(id) <= 0 && id.Compare(hi) <= 0
		if in := first <= c.g && c.g <= last; in != between {
			t.Fatalf("gene %s of %s..%s: between is %v", c.g, first, last, between)
		}
		if compose(t, l, parts{g: first}) != lo || compose(t, l, parts{last, l.MaxVersion(), l.MaxSequence()}) != hi {
			t.Fatalf("the ends %s..%s are not the smallest and largest IDs", lo, hi)
		}
	})
}

func TestPlus(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := drawLayout(t)
		p := drawParts(t, l)
		n := rapid.Uint64Range(0, l.MaxSequence().Lo).Draw(t, "n")
		id := compose(t, l, p)
		if p.s.Lo += n; p.s.Lo < n { // only bytes16 has a sequence above 64 bits
			p.s.Hi++
		}
		if want, err := l.Compose(p.g, p.v, p.s); err == nil && want != id.Plus(n) {
			t.Fatalf("%s plus %d is %s, want %s", id, n, id.Plus(n), want)
		}
	})
}
