package gene

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// model is a set of genes so plain that it can't be wrong.
type model [1 << 8]bool

func (m *model) add(r Range) {
	for g := range m {
		if r.Contains(Gene(g)) {
			m[g] = true
		}
	}
}

// drawSet draws ranges of small genes, so that they overlap and touch often.
func drawSet(t *rapid.T, name string) (Set, model) {
	n := rapid.IntRange(0, 12).Draw(t, name+" ranges")
	var (
		ranges []Range
		m      model
	)
	for range n {
		r := Range{Gene(rapid.IntRange(0, 255).Draw(t, "first")), 0}
		r.Last = r.First + Gene(rapid.IntRange(0, 40).Draw(t, "more"))
		r.Last = min(r.Last, 255)
		if rapid.IntRange(0, 9).Draw(t, "reversed") == 0 {
			r.First, r.Last = r.Last, r.First // an empty range, unless of one gene
		}
		ranges = append(ranges, r)
		m.add(r)
	}
	return NewSet(ranges...), m
}

func checkModel(t *rapid.T, what string, s Set, in func(g int) bool) {
	t.Helper()
	count := 0
	for g := range 256 {
		if s.Contains(Gene(g)) != in(g) {
			t.Fatalf("%s: gene %d: Contains is %v; set %s", what, g, s.Contains(Gene(g)), s)
		}
		if in(g) {
			count++
		}
	}
	if s.Len() != count || s.Empty() != (count == 0) {
		t.Fatalf("%s: Len %d, Empty %v, want %d genes", what, s.Len(), s.Empty(), count)
	}
	ranges := s.Ranges()
	for i := 1; i < len(ranges); i++ {
		if uint64(ranges[i-1].Last)+1 >= uint64(ranges[i].First) {
			t.Fatalf("%s: ranges out of order or touching: %s", what, s)
		}
	}
}

func TestSetAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, ma := drawSet(t, "a")
		b, mb := drawSet(t, "b")
		checkModel(t, "a", a, func(g int) bool { return ma[g] })
		checkModel(t, "union", a.Union(b), func(g int) bool { return ma[g] || mb[g] })
		checkModel(t, "intersect", a.Intersect(b), func(g int) bool { return ma[g] && mb[g] })
		checkModel(t, "subtract", a.Subtract(b), func(g int) bool { return ma[g] && !mb[g] })
		first, last := rapid.IntRange(0, 255).Draw(t, "from"), rapid.IntRange(0, 255).Draw(t, "to")
		if want := first <= last && slices.Contains(ma[first:max(first, last+1)], true); a.Meets(Gene(first), Gene(last)) != want {
			t.Fatalf("%s meets %d to %d: %v", a, first, last, !want)
		}
		if a.Equal(b) != (ma == mb) {
			t.Fatalf("Equal is %v: %s, %s", a.Equal(b), a, b)
		}
		again, err := ParseSet(a.String(), W16)
		if err != nil || !again.Equal(a) {
			t.Fatalf("%s is read as %s, %v", a, again, err)
		}
	})
}

func TestSetAtTheEdges(t *testing.T) {
	const top = ^Gene(0)
	whole := NewSet(Range{0, top})
	if left := whole.Subtract(whole); !left.Empty() {
		t.Errorf("all without all: %s", left)
	}
	if got := whole.Subtract(NewSet(Range{top, top})).Ranges(); got[0] != (Range{0, top - 1}) {
		t.Errorf("all without the top: %v", got)
	}
	all := NewSet(All(W16))
	if got := all.Subtract(NewSet(Range{0x4000, 0x7fff})).String(); got != "0x0000-0x3fff,0x8000-0xffff" {
		t.Error(got)
	}
	if got := NewSet(Range{0x8000, 0x8000}, Range{0, 0x3fff}).String(); got != "0x0000-0x3fff,0x8000" {
		t.Error(got)
	}
	if all.Len() != 65536 {
		t.Error(all.Len())
	}
}

func TestRangesIsACopy(t *testing.T) {
	s := NewSet(Range{1, 2})
	s.Ranges()[0].Last = 9
	if s.Contains(9) {
		t.Error("the set changed")
	}
}

func TestSetContainsDoesNotAllocate(t *testing.T) {
	s := NewSet(Range{1, 2}, Range{5, 9})
	if n := testing.AllocsPerRun(100, func() { s.Contains(7) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestParseRange(t *testing.T) {
	good := map[string]Range{
		"0x0000-0x3fff":   {0, 0x3fff},
		"0x0000..0x3fff":  {0, 0x3fff},
		" 0x10 - 0x20 ":   {0x10, 0x20},
		"0x8000":          {0x8000, 0x8000},
		"0xFFFF":          {0xffff, 0xffff},
		"0x000000-0x3fff": {0, 0x3fff},
	}
	for text, want := range good {
		if got, err := ParseRange(text, W16); err != nil || got != want {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	for text, want := range map[string]string{
		"8000":            `gene range "8000": "8000" is not a gene: write it in hex, like 0x3eab`,
		"0x10000":         `gene range "0x10000": gene 0x10000 is beyond 0xffff, the last one of 16 bits`,
		"0x20-0x10":       `gene range "0x20-0x10" ends before it begins: write it as 0x0010-0x0020`,
		"0x1-0x2-0x3":     `gene range "0x1-0x2-0x3": "0x2-0x3" is not a gene: write it in hex, like 0x3eab`,
		"0x":              `gene range "0x": "0x" is not a gene: write it in hex, like 0x3eab`,
		"":                `gene range "": "" is not a gene: write it in hex, like 0x3eab`,
		"0x1ffffffff-0x2": `gene range "0x1ffffffff-0x2": "0x1ffffffff" is not a gene: write it in hex, like 0x3eab`,
	} {
		if r, err := ParseRange(text, W16); err == nil || err.Error() != want {
			t.Errorf("%q: %v, %v", text, r, err)
		}
	}
	if _, err := ParseSet("0x0001,", W16); err == nil {
		t.Error("a set that ends in a comma was read")
	}
}

func TestSpelling(t *testing.T) {
	for got, want := range map[string]string{
		Gene(0x3eab).String():        "0x3eab",
		Gene(0x3eab).Format(W23):     "0x003eab",
		Gene(0x33eab).String():       "0x033eab",
		Range{1, 0x33eab}.String():   "0x000001-0x033eab",
		Range{1, 2}.String():         "0x0001-0x0002",
		NewSet(Range{7, 6}).String(): "",
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
