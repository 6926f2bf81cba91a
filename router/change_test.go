package router_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
)

func TestWith(t *testing.T) {
	m := mustNew(t, gene.W16, 7, "0x3fff s0", "0x7fff s1", "0xffff s0")
	for _, test := range []struct{ name, genes, to, want string }{
		{"a hole in an entry", "0x1000-0x1fff", "s2", "0x0000..0x0fff s0, 0x1000..0x1fff s2, 0x2000..0x3fff s0, 0x4000..0x7fff s1, 0x8000..0xffff s0"},
		{"over a bound", "0x3000-0x4fff", "s2", "0x0000..0x2fff s0, 0x3000..0x4fff s2, 0x5000..0x7fff s1, 0x8000..0xffff s0"},
		{"a whole entry, merged on both sides", "0x4000-0x7fff", "s0", "0x0000..0xffff s0"},
		{"all", "0x0000-0xffff", "s9", "0x0000..0xffff s9"},
		{"the first and the last gene", "0x0000,0xffff", "s1", "0x0000..0x0000 s1, 0x0001..0x3fff s0, 0x4000..0x7fff s1, 0x8000..0xfffe s0, 0xffff..0xffff s1"},
		{"partly its own", "0x0000-0x4fff", "s0", "0x0000..0x4fff s0, 0x5000..0x7fff s1, 0x8000..0xffff s0"},
	} {
		t.Run(test.name, func(t *testing.T) {
			next, err := m.With(change(t, test.genes, test.to))
			if err != nil {
				t.Fatal(err)
			}
			got := strings.ReplaceAll(strings.TrimSuffix(next.String(), "\n"), "\n", ", ")
			if got = strings.ReplaceAll(got, "  ", " "); got != test.want || next.Version() != 8 {
				t.Errorf("version %d\ngot  %s\nwant %s", next.Version(), got, test.want)
			}
		})
	}
	if got := m.String(); got != "0x0000..0x3fff  s0\n0x4000..0x7fff  s1\n0x8000..0xffff  s0\n" {
		t.Errorf("the old map changed:\n%s", got)
	}
}

func TestWithRefuses(t *testing.T) {
	m := mustNew(t, gene.W14, 7, "0x1fff s0", "0x3fff s1")
	for _, test := range []struct {
		name    string
		changes []router.Change
		want    string
	}{
		{"none", nil, "nothing changes: the shards own these genes already"},
		{"its own", []router.Change{change(t, "0x0000-0x0fff", "s0")}, "nothing changes: the shards own these genes already"},
		{"no genes", []router.Change{{To: "s2"}}, "no genes for s2: name some"},
		{"bad name", []router.Change{change(t, "0x0000", "s/2")}, `shard name "s/2": use 1 to 63 letters, digits, '_', '.' and '-', beginning with a letter or digit`},
		{"beyond the width", []router.Change{change(t, "0x3000-0x4000", "s2")}, "genes 0x3000-0x4000 for s2: 0x3fff is the last gene of 14 bits"},
		{
			"contradiction",
			[]router.Change{change(t, "0x0100-0x01ff", "s2"), change(t, "0x0000-0x0100", "s3")},
			"genes 0x0000-0x0100 for s3 and 0x0100-0x01ff for s2 overlap: give each gene to one shard",
		},
	} {
		t.Run(test.name, func(t *testing.T) {
			_, err := m.With(test.changes...)
			if want := "change route map version 7: " + test.want; err == nil || err.Error() != want {
				t.Errorf("got  %v\nwant %s", err, want)
			}
		})
	}
	if _, err := m.With(); !errors.Is(err, router.ErrNoChange) {
		t.Errorf("%v isn't ErrNoChange", err)
	}
}

// In the new map each gene has the owner from the change that contains it, or else from the old map.
func TestWithAgainstEveryGene(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		var changes []router.Change
		free := gene.NewSet(gene.All(m.Width()))
		for i := range rapid.IntRange(1, 4).Draw(t, "changes") {
			genes := drawSet(t, m.Width()).Intersect(free)
			if genes.Empty() {
				continue
			}
			free = free.Subtract(genes)
			changes = append(changes, router.Change{Genes: genes, To: shard(i * 5)})
		}
		next, err := m.With(changes...)
		if errors.Is(err, router.ErrNoChange) {
			for _, c := range changes {
				if !c.Genes.Subtract(m.GenesOf(c.To)).Empty() {
					t.Fatalf("%s for %s is a change", c.Genes, c.To)
				}
			}
			return
		}
		if err != nil {
			t.Fatal(err)
		}
		for _, name := range next.Shards() {
			want := m.GenesOf(name)
			for _, c := range changes {
				if c.To == name {
					want = want.Union(c.Genes)
				} else {
					want = want.Subtract(c.Genes)
				}
			}
			if got := next.GenesOf(name); !got.Equal(want) {
				t.Fatalf("%s has %s, want %s", name, got, want)
			}
		}
		entries := next.Entries()
		for i := 1; i < len(entries); i++ {
			if entries[i-1].Shard == entries[i].Shard {
				t.Fatalf("neighbours %v and %v aren't merged", entries[i-1], entries[i])
			}
		}
	})
}

func TestDiff(t *testing.T) {
	old := mustNew(t, gene.W16, 1, "0x3fff s0", "0x7fff s1", "0xbfff s10", "0xffff s2")
	next := mustNew(t, gene.W16, 2, "0x0fff s2", "0x7fff s0", "0xbfff s10", "0xefff s2", "0xffff s0")
	handovers, err := router.Diff(old, next)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, h := range handovers {
		got = append(got, h.String())
	}
	want := []string{
		"0x0000-0x0fff  s0 -> s2",
		"0x4000-0x7fff  s1 -> s0",
		"0xf000-0xffff  s2 -> s0",
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q", got)
	}
	if same, err := router.Diff(old, old); err != nil || same != nil {
		t.Errorf("a map differs from itself: %v, %v", same, err)
	}
	narrow := mustNew(t, gene.W14, 3, "0x3fff s0")
	want1 := "compare route maps: version 1 has genes of 16 bits and version 3 of 14"
	if _, err := router.Diff(old, narrow); err == nil || err.Error() != want1 {
		t.Errorf("got %v", err)
	}
}

// The handovers, laid over the old map, are the new map.
func TestDiffLeadsFromOldToNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := drawMap(t)
		next, err := old.With(router.Change{Genes: gene.NewSet(gene.All(old.Width())), To: "x"})
		if err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			if genes := drawSet(t, old.Width()); !genes.Empty() {
				next, err = next.With(router.Change{Genes: genes, To: shard(i)})
				if err != nil && !errors.Is(err, router.ErrNoChange) {
					t.Fatal(err)
				}
				if err != nil {
					return
				}
			}
		}
		handovers, err := router.Diff(old, next)
		if err != nil {
			t.Fatal(err)
		}
		var changes []router.Change
		for _, h := range handovers {
			if !h.Genes.Subtract(old.GenesOf(h.From)).Empty() {
				t.Fatalf("%s: not all of them were %s's", h, h.From)
			}
			changes = append(changes, router.Change{Genes: h.Genes, To: h.To})
		}
		led, err := old.With(changes...)
		if err != nil {
			t.Fatal(err)
		}
		if led.String() != next.String() {
			t.Fatalf("got\n%swant\n%s", led, next)
		}
	})
}

func change(t testing.TB, genes, to string) router.Change {
	t.Helper()
	set, err := gene.ParseSet(genes, gene.W23)
	if err != nil {
		t.Fatal(err)
	}
	return router.Change{Genes: set, To: router.ShardName(to)}
}

func drawSet(t *rapid.T, w gene.Width) gene.Set {
	last := uint32(w.Last())
	var ranges []gene.Range
	for range rapid.IntRange(0, 4).Draw(t, "ranges") {
		first := rapid.Uint32Range(0, last).Draw(t, "first")
		ranges = append(ranges, gene.Range{
			First: gene.Gene(first),
			Last:  gene.Gene(rapid.Uint32Range(first, min(last, first+9999)).Draw(t, "last")),
		})
	}
	return gene.NewSet(ranges...)
}
