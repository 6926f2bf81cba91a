package router_test

import (
	"errors"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
)

// A shard has gained a gene if it owns rows of the gene that it did not own before.
func TestGained(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		old := drawMap(t)
		next, moved := old, drawSet(t, old.Width())
		if !moved.Empty() {
			changed, err := old.With(router.Change{Genes: moved, To: shard(rapid.IntRange(0, 4).Draw(t, "to"))})
			switch {
			case err == nil:
				next = changed
			case !errors.Is(err, router.ErrNoChange):
				t.Fatal(err)
			}
		}
		old, next = drawDivided(t, old), drawDivided(t, next)
		genes := rapid.SliceOfN(rapid.Uint32Range(0, uint32(old.Width().Last())), 10, 10).Draw(t, "genes")
		for _, r := range append(moved.Ranges(), old.Divided().Union(next.Divided()).Ranges()...) {
			genes = append(genes, uint32(r.First), uint32(r.Last))
		}
		for _, name := range next.Shards() {
			gained := next.Gained(old, name)
			for _, g := range genes {
				wantGained(t, old, next, gene.Gene(g), name, gained)
			}
		}
	})
}

// drawDivided divides a gene of the map, or none.
func drawDivided(t *rapid.T, m *router.Map) *router.Map {
	if !rapid.Bool().Draw(t, "divided") {
		return m
	}
	g := gene.Gene(rapid.SampledFrom([]uint32{7, 0x1234}).Draw(t, "hot"))
	v := router.Move{
		Job: "1", Genes: gene.NewSet(gene.Range{First: g, Last: g}), From: m.Shard(m.Lookup(g)), To: shard(rapid.IntRange(30, 31).Draw(t, "target")),
		BySequence: true, Share: orderid.Residue(rapid.IntRange(1, 99).Draw(t, "share")),
	}
	next, err := m.Step([]router.Move{v})
	if err != nil {
		t.Fatal(err)
	}
	return next
}

func wantGained(t *rapid.T, old, next *router.Map, g gene.Gene, name router.ShardName, gained gene.Set) {
	want := false
	for r := range orderid.Residue(orderid.Modulus) {
		want = want || next.Shard(next.LookupRow(g, r)) == name && old.Shard(old.LookupRow(g, r)) != name
	}
	if got := gained.Contains(g); got != want {
		t.Fatalf("%s has gained %s: %t, want %t\nof %s\nby %s", name, g, got, want, old, next)
	}
}
