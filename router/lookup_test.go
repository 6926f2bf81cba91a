package router_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
)

func shard(i int) router.ShardName { return router.ShardName("s" + strconv.Itoa(i)) }

// slowLookup follows the definition: the owner is the shard of the entry with the smallest bound that is at least the gene.
func slowLookup(m *router.Map, g gene.Gene) router.ShardName {
	for _, e := range m.Entries() {
		if e.Bound >= g {
			return e.Shard
		}
	}
	panic("no shard")
}

func TestLookupIsTheCeilingEntry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		genes := rapid.SliceOfN(rapid.Uint32Range(0, uint32(m.Width().Last())), 1, 50).Draw(t, "genes")
		for _, e := range m.Entries() { // where it would go wrong
			genes = append(genes, uint32(e.Bound), uint32(max(e.Bound, 1)-1), uint32(min(e.Bound+1, m.Width().Last())))
		}
		for _, g := range genes {
			if got, want := m.Shard(m.Lookup(gene.Gene(g))), slowLookup(m, gene.Gene(g)); got != want {
				t.Fatalf("gene %#x: %s, want %s", g, got, want)
			}
		}
	})
}

func TestLookupOfEveryGene(t *testing.T) {
	m := mustNew(t, gene.W14, 1, "0x0000 s0", "0x0001 s1", "0x1fff s0", "0x2000 s2", "0x3ffe s3", "0x3fff s4")
	for g := range m.Width().Last() + 1 {
		if got, want := m.Shard(m.Lookup(g)), slowLookup(m, g); got != want {
			t.Fatalf("gene %s: %s, want %s", g, got, want)
		}
	}
}

func TestLookupBeyondTheWidthPanics(t *testing.T) {
	m := mustNew(t, gene.W14, 1, "0x1fff s0", "0x3fff s1")
	defer func() {
		if recover() == nil {
			t.Error("gene 0x4000 of 14 bits found a shard")
		}
	}()
	m.Lookup(0x4000)
}

func TestShardsOf(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		last := uint32(m.Width().Last())
		from := rapid.Uint32Range(0, last).Draw(t, "from")
		to := rapid.OneOf(rapid.Uint32Range(0, last), rapid.Uint32Range(from, min(last, from+500))).Draw(t, "to")
		got := m.ShardsOf(gene.Gene(from), gene.Gene(to), []int{-1})
		want := []int{-1}
		if from <= to {
			for i, name := range m.Shards() {
				asked := gene.NewSet(gene.Range{First: gene.Gene(from), Last: gene.Gene(to)})
				if !m.GenesOf(name).Intersect(asked).Empty() {
					want = append(want, i)
				}
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%#x to %#x: %v, want %v", from, to, got, want)
		}
	})
}

func TestShardsOfManyShards(t *testing.T) {
	m := spreadMap(t, gene.W16, 5000, 5000)
	got := m.ShardsOf(0, gene.W16.Last(), nil)
	if len(got) != 5000 || got[0] != 0 || got[4999] != 4999 || !slices.IsSorted(got) {
		t.Errorf("%d shards, sorted %v", len(got), slices.IsSorted(got))
	}
}

func TestLookupsDoNotAllocate(t *testing.T) {
	m := spreadMap(t, gene.W16, 4096, 16)
	buffer := make([]int, 0, 16)
	g := gene.Gene(0)
	allocs := testing.AllocsPerRun(1000, func() {
		g = (g + 7919) & gene.W16.Last()
		buffer = m.ShardsOf(g, min(g+100, gene.W16.Last()), buffer[:0])
		buffer[0] = m.Lookup(g)
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

// spreadMap returns a map with random bounds.
func spreadMap(t testing.TB, w gene.Width, entries, shards int) *router.Map {
	t.Helper()
	random := rand.New(rand.NewPCG(1, 2))
	bounds := map[gene.Gene]bool{w.Last(): true}
	for len(bounds) < entries {
		bounds[gene.Gene(random.Uint32())&w.Last()] = true
	}
	var list []router.Entry
	for bound := range bounds {
		list = append(list, router.Entry{Bound: bound})
	}
	slices.SortFunc(list, func(a, b router.Entry) int { return int(a.Bound) - int(b.Bound) })
	for i := range list {
		list[i].Shard = shard(i % shards)
	}
	m, err := router.New(w, 1, list)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func BenchmarkLookup(b *testing.B) {
	for _, width := range []gene.Width{gene.W16, gene.W23} {
		for _, entries := range []int{4, 4096, 65536} {
			m := spreadMap(b, width, entries, 16)
			genes := make([]gene.Gene, 1<<16)
			random := rand.New(rand.NewPCG(3, 4))
			for i := range genes {
				genes[i] = gene.Gene(random.Uint32()) & width.Last()
			}
			b.Run(fmt.Sprintf("bits=%d/entries=%d", width, entries), func(b *testing.B) {
				b.ReportAllocs()
				sum := 0
				for i := range b.N {
					sum += m.Lookup(genes[i&0xffff])
				}
				sink = sum
			})
		}
	}
}

// BenchmarkLookupCrowded measures the worst case for the index: all bounds are in the last bucket that can
// contain them.
func BenchmarkLookupCrowded(b *testing.B) {
	w := gene.W23
	var entries []router.Entry
	for i := range 4096 {
		entries = append(entries, router.Entry{Bound: w.Last() - gene.Gene(4095-i), Shard: shard(i % 16)})
	}
	m, err := router.New(w, 1, entries)
	if err != nil {
		b.Fatal(err)
	}
	random := rand.New(rand.NewPCG(5, 6))
	genes := make([]gene.Gene, 1<<16)
	for i := range genes {
		genes[i] = w.Last() - gene.Gene(random.Uint32N(4096))
	}
	b.ReportAllocs()
	sum := 0
	for i := range b.N {
		sum += m.Lookup(genes[i&0xffff])
	}
	sink = sum
}

func BenchmarkShardsOfEverything(b *testing.B) {
	m := spreadMap(b, gene.W16, 4096, 16)
	buffer := make([]int, 0, 16)
	b.ReportAllocs()
	for range b.N {
		buffer = m.ShardsOf(0, gene.W16.Last(), buffer[:0])
	}
}

var sink int
