package router_test

import (
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
)

func set(t testing.TB, text string) gene.Set {
	t.Helper()
	s, err := gene.ParseSet(text, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func foreign(m *router.Map) string {
	var b strings.Builder
	for i, name := range m.Shards() {
		if f := m.Foreign(i); !f.Empty() {
			b.WriteString(string(name) + " " + f.String() + ";")
		}
	}
	return b.String()
}

// TestAMove checks the map after each step of a move.
func TestAMove(t *testing.T) {
	m := mustNew(t, gene.W16, 4, "0x7fff s0", "0xffff s1")
	move := router.Move{Job: "7", Genes: set(t, "0x4000-0x7fff"), From: "s0", To: "s2"}
	step := func(what string, move []router.Move, changes []router.Change, owners, held, foreignRows string) {
		t.Helper()
		next, err := m.Step(move, changes...)
		if err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		m, _, err = router.Decode(router.Encode(next, router.Stamp{By: "a", Why: what, At: time.Unix(1, 0)}))
		if err != nil {
			t.Fatalf("%s: read again: %v", what, err)
		}
		if got := m.String(); got != owners || m.Held().String() != held || foreign(m) != foreignRows {
			t.Errorf("%s:\n%sholds %s, foreign %s", what, got, m.Held(), foreign(m))
		}
	}
	const before, moving = "0x0000..0x7fff  s0\n0x8000..0xffff  s1\n", "0x4000-0x7fff  s0 -> s2  job 7"
	step("announce", []router.Move{move}, nil, before+moving+"\n", "", "")
	move.Held = set(t, "0x4000-0x4fff")
	step("fence", []router.Move{move}, nil, before+moving+", holding 0x4000-0x4fff\n", "0x4000-0x4fff", "")
	cut := router.Change{Genes: move.Held, To: "s2"}
	move.Held = gene.Set{}
	const quarter = "0x0000..0x3fff  s0\n0x4000..0x4fff  s2\n0x5000..0x7fff  s0\n0x8000..0xffff  s1\n"
	step("commit", []router.Move{move}, []router.Change{cut}, quarter+moving+"\n", "", "s0 0x4000-0x4fff;s2 0x5000-0x7fff;")
	if _, err := m.With(router.Change{Genes: set(t, "0x7fff"), To: "s1"}); err == nil || !strings.Contains(err.Error(), "job 7 moves them") {
		t.Errorf("moving genes are handed over: %v", err)
	}
	if next, err := m.With(router.Change{Genes: set(t, "0x8000-0x8fff"), To: "s0"}); err != nil || len(next.Moves()) != 1 {
		t.Errorf("other genes: %v", err)
	}
	step("withdraw", nil, nil, quarter, "", "")
}

func TestStepRefuses(t *testing.T) {
	m := mustNew(t, gene.W16, 1, "0x7fff s0", "0xffff s1")
	good := router.Move{Job: "7", Genes: set(t, "0x4000-0x7fff"), From: "s0", To: "s2"}
	with := func(change func(*router.Move)) []router.Move {
		v := good
		change(&v)
		return []router.Move{v}
	}
	for _, test := range []struct {
		moves   []router.Move
		changes []router.Change
		want    string
	}{
		{with(func(v *router.Move) { v.Job = "" }), nil, "has no name"},
		{with(func(v *router.Move) { v.To = "s0" }), nil, "from s0 to itself"},
		{with(func(v *router.Move) { v.Genes = gene.Set{} }), nil, "no genes"},
		{with(func(v *router.Move) { v.Genes = set(t, "0x7000-0x8000") }), nil, "neither s0 nor s2 owns genes 0x8000"},
		{with(func(v *router.Move) { v.Held = set(t, "0x3fff-0x4000") }), nil, "it holds genes 0x3fff, which it doesn't move"},
		{[]router.Move{good, good}, nil, "job 7 moves twice"},
		{append(with(func(v *router.Move) { v.Job = "8" }), good), nil, "another job moves genes 0x4000-0x7fff"},
		{[]router.Move{good}, []router.Change{{Genes: set(t, "0x4000"), To: "s1"}}, "genes 0x4000 are in no move that may give them to s1"},
		{nil, []router.Change{{Genes: set(t, "0x4000"), To: "s2"}}, "genes 0x4000 are in no move that may give them to s2"},
	} {
		if next, err := m.Step(test.moves, test.changes...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, %v\nwant %s", next, err, test.want)
		}
	}
}

// TestOneOwnerThroughoutAMove checks, for any steps of a job: the foreign genes of a shard are those that move
// from it or to it and that it doesn't own.
func TestOneOwnerThroughoutAMove(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		shards := m.Shards()
		from := rapid.SampledFrom(shards).Draw(t, "from")
		owned := m.GenesOf(from)
		move := router.Move{Job: "1", Genes: owned.First(rapid.IntRange(1, owned.Len()).Draw(t, "genes")), From: from, To: "target"}
		moved, err := m.Step([]router.Move{move}, router.Change{
			Genes: move.Genes.First(rapid.IntRange(1, move.Genes.Len()).Draw(t, "cut")), To: move.To,
		})
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := router.Decode(router.Encode(moved, router.Stamp{}))
		if err != nil || again.String() != moved.String() {
			t.Fatalf("read again: %v\n%v", err, again)
		}
		for range 50 {
			g := gene.Gene(rapid.Uint32Range(0, uint32(m.Width().Last())).Draw(t, "gene"))
			for i, name := range moved.Shards() {
				owns := moved.Lookup(g) == i
				want := move.Genes.Contains(g) && (name == from || name == move.To) && !owns
				if moved.Foreign(i).Has(g, 0) != want {
					t.Fatalf("gene %s on %s: foreign %v, want %v", g, name, !want, want)
				}
			}
		}
	})
}

// TestAnImport checks the map during an import: the genes have their owners from the beginning, and the source
// has foreign rows.
func TestAnImport(t *testing.T) {
	m := mustNew(t, gene.W16, 4, "0x3fff s0", "0x7fff s1", "0xffff s2")
	legs := func(holds bool) []router.Move {
		return []router.Move{
			{Job: "7/s1", Genes: set(t, "0x4000-0x7fff"), From: "s0", To: "s1", Tables: []string{"shop.a", "shop.b"}, HoldsTables: holds},
			{Job: "7/s2", Genes: set(t, "0x8000-0xffff"), From: "s0", To: "s2", Tables: []string{"shop.a", "shop.b"}, HoldsTables: holds},
		}
	}
	for _, holds := range []bool{false, true} {
		next, err := m.Step(legs(holds))
		if err != nil {
			t.Fatal(err)
		}
		if next, _, err = router.Decode(router.Encode(next, router.Stamp{})); err != nil {
			t.Fatal(err)
		}
		if got := foreign(next); got != "s0 0x4000-0xffff;" {
			t.Errorf("foreign are %s", got)
		}
		if got := strings.Join(next.Importing(), " "); got != "shop.a shop.b" {
			t.Errorf("imported are %s", got)
		}
		if !next.Moving().Contains(router.Unsharded) || next.Held().Contains(router.Unsharded) != holds || next.HoldsGenes() {
			t.Errorf("moving %s, held %s, genes are held: %v", next.Moving(), next.Held(), next.HoldsGenes())
		}
		if next.HeldOf("s0").Empty() == holds || !next.HeldOf("s1").Empty() {
			t.Errorf("held of s0 %s, of s1 %s", next.HeldOf("s0"), next.HeldOf("s1"))
		}
		if released, err := next.Step([]router.Move{legs(holds)[0].Released(), legs(holds)[1].Released()}); err != nil || !released.Held().Empty() {
			t.Errorf("released: %v, held %s", err, released.Held())
		}
	}
	split := router.Move{Job: "8", Genes: set(t, "0x0000-0x0fff"), From: "s0", To: "s1"}
	none := legs(true)[0]
	none.Tables = nil
	elsewhere := legs(false)[0]
	elsewhere.Genes = set(t, "0x3fff-0x4000")
	for want, moves := range map[string][]router.Move{
		"no other job may run during an import":        append(legs(false), split),
		"holds tables, and imports none":               {none},
		"it imports, and s1 does not own genes 0x3fff": {elsewhere},
	} {
		if _, err := m.Step(moves); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}
