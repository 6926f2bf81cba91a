package router_test

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
)

func TestNewRefuses(t *testing.T) {
	type entries = []router.Entry
	for _, test := range []struct {
		name    string
		width   gene.Width
		version int64
		entries entries
		want    string
	}{
		{"width", 12, 1, entries{{0xfff, "s0"}}, "route map version 1: genes of 12 bits: use 14, 15, 16 or 23"},
		{"version", 16, 0, entries{{0xffff, "s0"}}, "route map version 0: versions begin at 1"},
		{"empty", 16, 3, nil, "route map version 3: no entries: no gene would have a shard"},
		{"too many", 23, 1, make(entries, router.MaxEntries+1), "route map version 1: 65537 entries; at most 65536 fit"},
		{
			"missing last bound", 16, 7,
			entries{{0x3fff, "s0"}, {0x7fff, "s1"}},
			"route map version 7: the last bound is 0x7fff and not 0xffff: genes 0x8000..0xffff would have no shard",
		},
		{
			"order", 16, 1,
			entries{{0x7fff, "s0"}, {0x3fff, "s1"}, {0xffff, "s2"}},
			"route map version 1: entry 2: bound 0x3fff of s1 is below the bound before, 0x7fff; bounds must rise",
		},
		{
			"duplicate bound", 16, 1,
			entries{{0x3fff, "s0"}, {0x3fff, "s1"}, {0xffff, "s2"}},
			"route map version 1: entry 2: bound 0x3fff of s1 is the bound of the entry before, too, which has s0",
		},
		{
			"beyond the width", 14, 1,
			entries{{0x3fff, "s0"}, {0x7fff, "s1"}},
			"route map version 1: entry 2: bound 0x7fff of s1 is beyond 0x3fff, the last gene of 14 bits",
		},
		{
			"name", 16, 1,
			entries{{0x3fff, "s0"}, {0xffff, "s 1"}},
			`route map version 1: entry 2: shard name "s 1": use 1 to 63 letters, digits, '_', '.' and '-', beginning with a letter or digit`,
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			m, err := router.New(test.width, test.version, test.entries)
			if err == nil || err.Error() != test.want || m != nil {
				t.Errorf("got  %v\nwant %s", err, test.want)
			}
		})
	}
}

func TestString(t *testing.T) {
	m := mustNew(t, gene.W16, 1, "0x3fff s0", "0x7fff s1", "0xffff s10")
	want := "0x0000..0x3fff  s0\n0x4000..0x7fff  s1\n0x8000..0xffff  s10\n"
	if m.String() != want {
		t.Errorf("got\n%s", m)
	}
	wide := mustNew(t, gene.W23, 1, "0x0000ff s0", "0x7fffff s1")
	if want := "0x000000..0x0000ff  s0\n0x000100..0x7fffff  s1\n"; wide.String() != want {
		t.Errorf("got\n%s", wide)
	}
}

func TestShardsAreInNaturalOrder(t *testing.T) {
	m := mustNew(t, gene.W14, 1, "0x0010 s10", "0x0020 s2", "0x0030 s01", "0x0040 s1", "0x0050 s2", "0x3fff a99999999999999999999")
	want := []router.ShardName{"a99999999999999999999", "s01", "s1", "s2", "s10"}
	if got := m.Shards(); !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	for i, name := range want {
		if m.Shard(i) != name {
			t.Errorf("shard %d is %s", i, m.Shard(i))
		}
	}
	m.Shards()[0] = "changed"
	if m.Shard(0) != want[0] {
		t.Error("the caller's slice is the map's own")
	}
}

func TestCompareIsAnOrder(t *testing.T) {
	name := rapid.StringMatching(`[ab]?[0-9]{0,3}[ab-]?[0-9]{0,3}`)
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := router.ShardName(name.Draw(t, "a")), router.ShardName(name.Draw(t, "b")), router.ShardName(name.Draw(t, "c"))
		if (a.Compare(b) == 0) != (a == b) {
			t.Fatalf("%q and %q compare as %d", a, b, a.Compare(b))
		}
		if a.Compare(b) != -b.Compare(a) {
			t.Fatalf("%q and %q compare as %d and %d", a, b, a.Compare(b), b.Compare(a))
		}
		if a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0 {
			t.Fatalf("%q <= %q <= %q, but not the first and the last", a, b, c)
		}
	})
}

func TestGenesOfPartitionTheGenes(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		all := gene.Set{}
		for _, name := range m.Shards() {
			genes := m.GenesOf(name)
			if genes.Empty() || !all.Intersect(genes).Empty() {
				t.Fatalf("%s has %s, others %s", name, genes, all)
			}
			all = all.Union(genes)
		}
		if !all.Equal(gene.NewSet(gene.All(m.Width()))) {
			t.Fatalf("together they have %s", all)
		}
		if !m.GenesOf("nobody").Empty() {
			t.Fatal("an unknown shard has genes")
		}
	})
}

func TestEqual(t *testing.T) {
	m, err := router.Equal(gene.W14, []router.ShardName{"b", "a", "c"})
	if err != nil {
		t.Fatal(err)
	}
	if want := "0x0000..0x1554  b\n0x1555..0x2aa9  a\n0x2aaa..0x3fff  c\n"; m.String() != want || m.Version() != 1 {
		t.Errorf("version %d\n%s", m.Version(), m)
	}
	for name, shards := range map[string][]router.ShardName{
		"none": nil, "twice": {"a", "b", "a"}, "bad name": {""},
	} {
		if m, err := router.Equal(gene.W16, shards); err == nil {
			t.Errorf("%s: accepted\n%s", name, m)
		}
	}
}

func TestEqualDiffersByOneAtMost(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := drawWidth(t)
		names := make([]router.ShardName, rapid.IntRange(1, 300).Draw(t, "shards"))
		for i := range names {
			names[i] = shard(i)
		}
		m, err := router.Equal(w, names)
		if err != nil {
			t.Fatal(err)
		}
		least, most := 1<<24, 0
		for _, name := range names {
			n := m.GenesOf(name).Len()
			least, most = min(least, n), max(most, n)
		}
		if most-least > 1 {
			t.Fatalf("from %d to %d genes", least, most)
		}
	})
}

// mustNew makes a map of lines such as "0x3fff s0".
func mustNew(t testing.TB, w gene.Width, version int64, lines ...string) *router.Map {
	t.Helper()
	var entries []router.Entry
	for _, line := range lines {
		bound, shard, _ := strings.Cut(line, " ")
		r, err := gene.ParseRange(bound, gene.W23)
		if err != nil {
			t.Fatal(err)
		}
		entries = append(entries, router.Entry{Bound: r.Last, Shard: router.ShardName(shard)})
	}
	m, err := router.New(w, version, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func drawWidth(t *rapid.T) gene.Width {
	return rapid.SampledFrom([]gene.Width{gene.W14, gene.W15, gene.W16, gene.W23}).Draw(t, "width")
}

// drawMap makes maps whose bounds are spread, crowded at one place, or both.
func drawMap(t *rapid.T) *router.Map {
	w := drawWidth(t)
	last := uint32(w.Last())
	crowd := rapid.Uint32Range(0, last).Draw(t, "crowd")
	bounds := rapid.SliceOfN(rapid.OneOf(
		rapid.Uint32Range(0, last),
		rapid.Uint32Range(crowd, min(crowd+300, last)),
	), 0, 400).Draw(t, "bounds")
	bounds = append(bounds, last)
	slices.SortFunc(bounds, cmp.Compare[uint32])
	var entries []router.Entry
	shards := rapid.IntRange(1, 20).Draw(t, "shards")
	for i, bound := range slices.Compact(bounds) {
		entries = append(entries, router.Entry{Bound: gene.Gene(bound), Shard: shard(i * i % shards)})
	}
	m, err := router.New(w, rapid.Int64Range(1, 1<<40).Draw(t, "version"), entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}
