package router_test

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
)

// TestADivision checks the map after each step of a division by sequence: to a shard without genes, a part of
// the rows, back, forward, and all rows.
func TestADivision(t *testing.T) {
	m := mustNew(t, gene.W16, 4, "0x7fff s0", "0xffff s3")
	move := router.Move{Job: "7", Genes: set(t, "0x3eab"), From: "s0", To: "s2", BySequence: true}
	const whole, hot = "0x0000..0x7fff  s0\n0x8000..0xffff  s3\n", "0x3eab  s0 -> s2  job 7, "
	divided := func(share string) string {
		return "0x0000..0x3eaa  s0\n0x3eab..0x3eab  s0 | s2 " + share + " by sequence\n0x3eac..0x7fff  s0\n0x8000..0xffff  s3\n"
	}
	const through = "0x0000..0x3eaa  s0\n0x3eab..0x3eab  s2\n0x3eac..0x7fff  s0\n0x8000..0xffff  s3\n"
	for _, step := range []struct {
		what    string
		share   orderid.Residue
		held    bool
		change  router.ShardName
		owners  string
		foreign string
		shards  string
		atS2    int // the number of residues whose rows s2 owns
	}{
		{"announce", 0, false, "", whole + hot + "0 % by sequence\n", "", "s0 s3", 0},
		{"fence", 0, true, "", whole + hot + "0 % by sequence, holding 0x3eab\n", "", "s0 s3", 0},
		{"35 %", 35, false, "", divided("35 %") + hot + "35 % by sequence\n", "s0 0x3eab mod 100 in 0..34;s2 0x3eab mod 100 in 35..99;", "s0 s2 s3", 35},
		{"fence of the next", 35, true, "", divided("35 %") + hot + "35 % by sequence, holding 0x3eab\n", "s0 0x3eab mod 100 in 0..34;s2 0x3eab mod 100 in 35..99;", "s0 s2 s3", 35},
		{"all", 100, false, "s2", through + hot + "100 % by sequence\n", "s0 0x3eab;", "s0 s2 s3", 100},
		{"back to 99", 99, false, "s0", divided("99 %") + hot + "99 % by sequence\n", "s0 0x3eab mod 100 in 0..98;s2 0x3eab mod 100 in 99..99;", "s0 s2 s3", 99},
		{"back", 0, false, "", whole + hot + "0 % by sequence\n", "", "s0 s3", 0},
		{"all at once", 100, false, "s2", through + hot + "100 % by sequence\n", "s0 0x3eab;", "s0 s2 s3", 100},
	} {
		next := move
		if next.Share = step.share; step.held {
			next.Held = move.Genes
		}
		var changes []router.Change
		if step.change != "" {
			changes = []router.Change{{Genes: move.Genes, To: step.change}}
		}
		stepped, err := m.Step([]router.Move{next}, changes...)
		if err != nil {
			t.Fatalf("%s: %v", step.what, err)
		}
		written := string(router.Encode(stepped, router.Stamp{}))
		if !strings.HasPrefix(written, "schema: 4\n") {
			t.Errorf("%s: older builds would read\n%s", step.what, written)
		}
		if m, _, err = router.Decode([]byte(written)); err != nil {
			t.Fatalf("%s: read again: %v", step.what, err)
		}
		var shards []string
		for _, name := range m.Shards() {
			shards = append(shards, string(name))
		}
		if got := m.String(); got != step.owners || foreign(m) != step.foreign || strings.Join(shards, " ") != step.shards {
			t.Errorf("%s:\n%sforeign %s, shards %s", step.what, got, foreign(m), shards)
		}
		atS2 := 0
		for r := range orderid.Residue(orderid.Modulus) {
			if m.Shard(m.LookupRow(0x3eab, r)) == "s2" {
				atS2++
			}
		}
		if _, _, is := m.Sides(0x3eab); atS2 != step.atS2 || is != (atS2 > 0 && atS2 < orderid.Modulus) {
			t.Errorf("%s: s2 owns the rows of %d residues, divided: %v", step.what, atS2, is)
		}
		if held := m.HeldOf("s2"); step.held && held.Empty() == (atS2 > 0) {
			t.Errorf("%s: of s2 is held %s", step.what, held)
		}
	}
	if after, err := m.Step(nil); err != nil || after.String() != through || foreign(after) != "" {
		t.Errorf("finished: %v\n%s", err, after)
	}
}

func TestDivisionsRefused(t *testing.T) {
	m := mustNew(t, gene.W16, 1, "0x7fff s0", "0xffff s1")
	good := router.Move{Job: "7", Genes: set(t, "0x4000"), From: "s0", To: "s2", BySequence: true, Share: 35}
	with := func(change func(*router.Move)) []router.Move {
		v := good
		change(&v)
		return []router.Move{v}
	}
	halfway, err := m.Step([]router.Move{good})
	if err != nil {
		t.Fatal(err)
	}
	toS2 := router.Change{Genes: good.Genes, To: "s2"}
	for _, test := range []struct {
		from    *router.Map
		moves   []router.Move
		changes []router.Change
		want    string
	}{
		{m, with(func(v *router.Move) { v.Share = 101 }), nil, "101 % of the rows"},
		{m, with(func(v *router.Move) { v.BySequence = false }), nil, "35 % of the rows, and it is not by sequence"},
		{m, with(func(v *router.Move) { v.Share = 100 }), nil, "100 % by sequence, and s2 does not own genes 0x4000"},
		{m, []router.Move{good}, []router.Change{toS2}, "35 % by sequence, and s0 does not own genes 0x4000"},
		{m, with(func(v *router.Move) { v.Tables = []string{"shop.a"} }), nil, "an import by sequence"},
		{m, append(with(func(v *router.Move) { v.Job = "8" }), good), nil, "another job moves genes 0x4000"},
		{halfway, nil, nil, "job 7: s2 has 35 % of the rows of genes 0x4000: bring them to one shard first"},
		{halfway, nil, []router.Change{toS2}, "bring them to one shard first"},
		{halfway, with(func(v *router.Move) { v.BySequence, v.Share = false, 0 }), nil, "its rows are divided by"},
		{halfway, with(func(v *router.Move) { v.To = "s1" }), nil, "its rows are divided by"},
		{halfway, with(func(v *router.Move) { v.Genes = set(t, "0x4000-0x4001") }), nil, "its rows are divided by"},
	} {
		if next, err := test.from.Step(test.moves, test.changes...); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, %v\nwant %s", next, err, test.want)
		}
	}
	if _, err := halfway.With(router.Change{Genes: set(t, "0x4000"), To: "s1"}); err == nil || !strings.Contains(err.Error(), "job 7 moves them") {
		t.Errorf("divided genes are handed over: %v", err)
	}
	if other, err := halfway.With(router.Change{Genes: set(t, "0x8000"), To: "s0"}); err != nil || other.Divided().String() != "0x4000" {
		t.Errorf("other genes: %v", err)
	}
}

// TestOneOwnerOfEachRow divides random genes. It checks three properties. Each row has one owner. The foreign rows of a shard
// are the rows of the current move that it doesn't own. The shards of a range of genes are all owners of its rows.
func TestOneOwnerOfEachRow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := drawMap(t)
		var moves []router.Move
		taken := gene.Set{}
		for range rapid.IntRange(1, 3).Draw(t, "moves") {
			from := rapid.SampledFrom(m.Shards()).Draw(t, "from")
			owned := m.GenesOf(from).Subtract(taken)
			to := router.ShardName(rapid.SampledFrom([]string{"a", "t", shardNames(m)[0]}).Draw(t, "to"))
			if owned.Empty() || to == from {
				continue
			}
			skip := owned.First(rapid.IntRange(0, owned.Len()-1).Draw(t, "skipped"))
			v := router.Move{Genes: owned.Subtract(skip).First(rapid.IntRange(1, 3).Draw(t, "genes")), From: from, To: to, BySequence: true}
			v.Job, v.Share = string(rune('a'+len(moves))), orderid.Residue(rapid.IntRange(0, orderid.Modulus-1).Draw(t, "share"))
			taken, moves = taken.Union(v.Genes), append(moves, v)
		}
		next, err := m.Step(moves)
		if err != nil {
			t.Fatal(err)
		}
		again, _, err := router.Decode(router.Encode(next, router.Stamp{}))
		if err != nil || again.String() != next.String() {
			t.Fatalf("read again: %v\n%v", err, again)
		}
		var lines []router.Stretch
		for _, s := range next.Stretches() {
			if len(lines) > 0 && lines[len(lines)-1].Last+1 != s.First {
				t.Fatalf("stretches %v", next.Stretches())
			}
			lines = append(lines, s)
		}
		genes := []gene.Gene{0, m.Width().Last()}
		for _, v := range moves {
			for _, r := range v.Genes.Ranges() {
				genes = append(genes, r.First, r.Last, r.First-min(r.First, 1), min(r.Last+1, m.Width().Last()))
			}
		}
		for _, g := range genes {
			at := slices.IndexFunc(lines, func(s router.Stretch) bool { return s.Contains(g) })
			for r := range orderid.Residue(orderid.Modulus) {
				want := m.Shard(m.Lookup(g))
				pair := []router.ShardName{}
				for _, v := range moves {
					if v.Genes.Contains(g) {
						pair = []router.ShardName{v.From, v.To}
						if r < v.Share {
							want = v.To
						}
					}
				}
				owner := next.LookupRow(g, r)
				if got := next.Shard(owner); got != want || lines[at].Share > r && lines[at].Target != want || lines[at].Share <= r && lines[at].Shard != want {
					t.Fatalf("residue %d of gene %s is on %s, and not %s: %+v", r, g, got, want, lines[at])
				}
				if !slices.Contains(next.ShardsOf(g, g, nil), owner) || !slices.Contains(next.ShardsOf(0, g, nil), owner) {
					t.Fatalf("a range to gene %s is on %v, and residue %d on %d", g, next.ShardsOf(g, g, nil), r, owner)
				}
				for i, name := range next.Shards() {
					if is := next.Foreign(i).Has(g, r); is != (slices.Contains(pair, name) && name != want) {
						t.Fatalf("residue %d of gene %s on %s: foreign %v", r, g, name, is)
					}
				}
			}
		}
	})
}

func shardNames(m *router.Map) []string {
	var names []string
	for _, n := range m.Shards() {
		names = append(names, string(n))
	}
	return names
}

// Lookups that every statement makes must not allocate.
func TestLookupsOfRowsDoNotAllocate(t *testing.T) {
	m, err := mustNew(t, gene.W16, 1, "0x7fff s0", "0xffff s1").Step([]router.Move{
		{Job: "7", Genes: set(t, "0x4000"), From: "s0", To: "s2", BySequence: true, Share: 35},
	})
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() { m.Sides(0x4000); m.LookupRow(0x4000, 5); m.Sides(0x9000) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}
