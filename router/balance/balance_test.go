package balance_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/balance"
)

func all() gene.Set { return gene.NewSet(gene.All(gene.W16)) }

func of(set gene.Set, weight balance.Weight) (total float64) {
	for _, r := range set.Ranges() {
		for g := r.First; ; g++ {
			total += weight(g)
			if g == r.Last {
				break
			}
		}
	}
	return total
}

func parse(t *testing.T, text string) gene.Set {
	t.Helper()
	set, err := gene.ParseSet(text, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	return set
}

func TestHottestTakesTheHeavyGenes(t *testing.T) {
	weight := func(g gene.Gene) float64 {
		switch g {
		case 0x1234, 0x9999:
			return 30_000
		}
		return 1
	}
	for _, test := range []struct {
		share float64
		want  string
	}{{0.5, "0x1234,0x9999"}, {0.2, "0x1234"}, {0.01, "0x1234"}} {
		got, err := balance.Hottest(gene.W16, all(), weight, test.share)
		if err != nil || got.String() != test.want {
			t.Errorf("%v of the load: %s, %v, want %s", test.share, got, err, test.want)
		}
	}
}

// Whatever the load, the choice is of owned genes, some and not all, in few ranges;
// where no gene is heavy it has about the share.
func TestHottest(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		skew, share := 6*rng.Float64(), 0.05+0.85*rng.Float64()
		rates := make([]float64, 65536)
		for i := range rates {
			rates[i] = math.Pow(rng.Float64(), skew)
		}
		weight := func(g gene.Gene) float64 { return rates[g] }
		owned := gene.NewSet(gene.Range{First: 0x1000, Last: 0x5fff}, gene.Range{First: 0x8000, Last: 0x8fff})
		got, err := balance.Hottest(gene.W16, owned, weight, share)
		if err != nil {
			t.Fatal(err)
		}
		if !got.Subtract(owned).Empty() || got.Empty() || got.Equal(owned) || len(got.Ranges()) > 17 {
			t.Fatalf("%s", got)
		}
		if part := of(got, weight) / of(owned, weight); math.Abs(part-share) > 0.05 {
			t.Fatalf("%v of the load, want %v", part, share)
		}
	}
}

func TestHottestRefuses(t *testing.T) {
	none := func(gene.Gene) float64 { return 0 }
	if _, err := balance.Hottest(gene.W16, all(), none, 0.5); !errors.Is(err, balance.ErrNoWeight) {
		t.Errorf("%v", err)
	}
	if _, err := balance.Hottest(gene.W16, parse(t, "0x0001"), func(gene.Gene) float64 { return 1 }, 0.5); err == nil {
		t.Error("one gene was divided")
	}
}

// Genes of 23 bits are chosen as ranges with a common prefix, such as the prefix of the heavy genes here.
func TestWideGenes(t *testing.T) {
	weight := func(g gene.Gene) float64 {
		if g>>7 == 0x1234 {
			return 10
		}
		return 0.00001
	}
	got, err := balance.Hottest(gene.W23, gene.NewSet(gene.All(gene.W23)), weight, 0.5)
	if err != nil || got.String() != "0x091a00-0x091a7f" {
		t.Errorf("%s, %v", got, err)
	}
}

func layout(t testing.TB, entries ...router.Entry) *router.Map {
	t.Helper()
	m, err := router.New(gene.W16, 1, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestRebalanceOntoASpareShard(t *testing.T) {
	m := layout(t, router.Entry{Bound: 0x7fff, Shard: "s0"}, router.Entry{Bound: 0xffff, Shard: "s1"})
	moves, err := balance.Rebalance(m, []router.ShardName{"s0", "s1", "s2"}, func(gene.Gene) float64 { return 1 }, 0.05)
	if err != nil || len(moves) != 2 {
		t.Fatalf("%v, %v", moves, err)
	}
	for _, v := range moves {
		if v.To != "s2" || len(v.Genes.Ranges()) != 1 || math.Abs(v.Weight-65536.0/6) > 65536/6*0.06 {
			t.Errorf("%+v", v)
		}
	}
}

// A gene that alone has more load than a shard's share stays, and the other genes of its shard move.
func TestAGeneThatIsTooHeavy(t *testing.T) {
	m := layout(t, router.Entry{Bound: 0x7fff, Shard: "s0"}, router.Entry{Bound: 0xffff, Shard: "s1"})
	weight := func(g gene.Gene) float64 {
		if g == 0x1000 {
			return 1e6
		}
		return 1
	}
	moves, err := balance.Rebalance(m, []router.ShardName{"s0", "s1"}, weight, 0.05)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range moves {
		if v.Genes.Contains(0x1000) {
			t.Errorf("%+v", v)
		}
	}
}

// For any load: no move increases the highest load, moves don't overlap, and if there are many light genes no
// shard is left with much more than its share.
func TestRebalance(t *testing.T) {
	for seed := range uint64(5) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rates := make([]float64, 65536)
		slope := 10 * rng.Float64()
		for i := range rates {
			rates[i] = rng.Float64() * (1 + slope*float64(i)/65536)
		}
		weight := func(g gene.Gene) float64 { return rates[g] }
		shards := []router.ShardName{"s0", "s1", "s2", "s3"}
		m, err := router.New(gene.W16, 1, []router.Entry{
			{Bound: gene.Gene(1 + rng.IntN(0x7000)), Shard: "s0"},
			{Bound: gene.Gene(0x7001 + rng.IntN(0x8ffd)), Shard: "s1"},
			{Bound: 0xffff, Shard: "s2"},
		})
		if err != nil {
			t.Fatal(err)
		}
		moves, err := balance.Rebalance(m, shards, weight, 0.1)
		if err != nil {
			t.Fatal(err)
		}
		load, fair := map[router.ShardName]float64{}, 0.0
		for _, s := range shards {
			load[s] = of(m.GenesOf(s), weight)
			fair += load[s] / 4
		}
		var moved gene.Set
		for _, v := range moves {
			if !v.Genes.Subtract(m.GenesOf(v.From)).Empty() || !v.Genes.Intersect(moved).Empty() || v.From == v.To {
				t.Fatalf("%+v", v)
			}
			moved = moved.Union(v.Genes)
			load[v.From] -= v.Weight
			load[v.To] += v.Weight
			if math.Abs(of(v.Genes, weight)-v.Weight) > 1e-6*fair {
				t.Fatalf("%+v weighs %v", v, of(v.Genes, weight))
			}
		}
		for s, l := range load {
			if l > fair*1.2 {
				t.Fatalf("%s has %v, a part is %v: %v", s, l, fair, moves)
			}
		}
		if len(moves) > 6 {
			t.Fatalf("%d moves", len(moves))
		}
	}
}

func TestWhatIsEvenStays(t *testing.T) {
	m := layout(t, router.Entry{Bound: 0x7fff, Shard: "s0"}, router.Entry{Bound: 0xffff, Shard: "s1"})
	moves, err := balance.Rebalance(m, m.Shards(), func(gene.Gene) float64 { return 1 }, 0.05)
	if err != nil || moves != nil {
		t.Errorf("%v, %v", moves, err)
	}
}
