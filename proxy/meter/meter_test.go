package meter

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/router"
)

// TestRatesOfASteadyLoad: the rates of a steady load are correct from its beginning on.
func TestRatesOfASteadyLoad(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(Genes)
		g.Turn(time.Now())
		for second := range 300 {
			time.Sleep(time.Second) // virtual
			for range 50 {
				g.Add(gene.W16, 0x1234)
			}
			g.Add(gene.W16, 7)
			g.AddScattered()
			if second%10 != 0 && second > 2 {
				continue
			}
			l := Sum(gene.W16, g.Load(time.Now()))
			if at := l.At(0x1234); math.Abs(at-50) > 0.5 || math.Abs(l.At(7)-1) > 0.01 || math.Abs(l.Scattered-1) > 0.01 || l.At(8) != 0 {
				t.Fatalf("after %d s: %v, %v, %v per second", second, at, l.At(7), l.Scattered)
			}
		}
	})
}

// TestOldCountsFade: the rate of a load that has ended decreases.
func TestOldCountsFade(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := new(Genes)
		g.Turn(time.Now())
		for range 6000 {
			g.Add(gene.W16, 1)
		}
		last := math.Inf(1)
		for range 10 {
			time.Sleep(Fading / 2) // virtual
			now := Sum(gene.W16, g.Load(time.Now())).At(1)
			if now >= last {
				t.Fatalf("%v per second, before that %v", now, last)
			}
			last = now
		}
		if last > 1 {
			t.Errorf("%v per second are left after %v", last, 5*Fading)
		}
	})
}

// TestReportsKeepTheSum: for any load, a report keeps the sum of every stripe, contains the genes with the highest rates, and is
// short.
func TestReportsKeepTheSum(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := rapid.SampledFrom([]gene.Width{gene.W14, gene.W16, gene.W23}).Draw(t, "width")
		skew := rapid.Float64Range(0, 3).Draw(t, "skew")
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		g := new(Genes)
		began := time.Unix(1000, 0)
		g.Turn(began)
		const n = 20_000
		for range n {
			g.Add(w, gene.Gene(math.Pow(rng.Float64(), 1+skew)*float64(w.Last())))
		}
		report := g.Load(began.Add(10 * time.Second))
		text, err := json.Marshal(report)
		if err != nil || len(text) > 20_000 {
			t.Fatalf("%d bytes, %v", len(text), err)
		}
		l := Sum(w, report)
		if sum := l.Of(gene.NewSet(gene.All(w))); math.Abs(sum-n/10) > n/10*0.002 {
			t.Fatalf("%v per second of %v", sum, n/10)
		}
		half := l.Of(gene.NewSet(gene.Range{First: 0, Last: w.Last() / 2})) + l.Of(gene.NewSet(gene.Range{First: w.Last()/2 + 1, Last: w.Last()}))
		if math.Abs(half-l.Of(gene.NewSet(gene.All(w)))) > 1e-6*n {
			t.Fatalf("the halves have %v together", half)
		}
	})
}

func TestAGeneIsFoundAmongMany(t *testing.T) {
	g := new(Genes)
	began := time.Unix(1000, 0)
	g.Turn(began)
	for x := range gene.Gene(65536) {
		g.Add(gene.W16, x)
	}
	for range 500 {
		g.Add(gene.W16, 0x8000)
	}
	l := Sum(gene.W16, g.Load(began.Add(time.Second)), g.Load(began.Add(time.Second)))
	if at := l.At(0x8000); math.Abs(at-1002) > 1 {
		t.Errorf("%v per second on the heavy gene", at)
	}
	if at := l.At(0x8001); math.Abs(at-2) > 0.1 {
		t.Errorf("%v per second on its neighbour", at)
	}
}

func TestMovesAreFollowed(t *testing.T) {
	var m Moves
	m.Add("split-1", Source, time.Millisecond, false) // the job is not followed yet
	m.Follow([]router.Move{{Job: "split-1"}, {Job: "split-2"}})
	for i := range 100 {
		m.Add("split-1", Source, time.Millisecond, i%10 == 0)
	}
	m.Add("split-1", Target, time.Hour, true)
	m.Follow([]router.Move{{Job: "split-1"}})
	o := m.Outcomes()
	if len(o) != 1 {
		t.Fatalf("%v", o)
	}
	source, target := o["split-1"].Source, o["split-1"].Target
	if source.Failed != 10 || len(source.Times) != 1 || source.Times[0].Count != 100 {
		t.Errorf("source: %+v", source)
	}
	if up := time.Duration(source.Times[0].UpToNs); up < time.Millisecond || up > 1130*time.Microsecond {
		t.Errorf("a millisecond is counted as up to %v", up)
	}
	if target.Failed != 1 || len(target.Times) != 1 || time.Duration(target.Times[0].UpToNs) < time.Minute {
		t.Errorf("target: %+v", target)
	}
}

// TestBuckets: every time is in a bucket whose upper bound exceeds it by an eighth at most.
func TestBuckets(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		took := time.Duration(rapid.Int64Range(1<<lowest, int64(time.Minute)).Draw(t, "ns"))
		end := upTo(bucketOf(took))
		if end <= took || float64(end) > 1.126*float64(took) {
			t.Fatalf("%v is counted as up to %v", took, end)
		}
	})
}

func TestCountingAllocatesNothing(t *testing.T) {
	m := new(Meter)
	m.Moves.Follow([]router.Move{{Job: "split-1"}})
	if n := testing.AllocsPerRun(100, func() {
		m.Genes.Add(gene.W16, 5)
		m.Moves.Add("split-1", Target, time.Millisecond, false)
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkAdd(b *testing.B) {
	m := new(Meter)
	b.RunParallel(func(pb *testing.PB) {
		g := gene.Gene(rand.Uint32()) & gene.W16.Last()
		for pb.Next() {
			m.Genes.Add(gene.W16, g)
			g = (g*1664525 + 1013904223) & gene.W16.Last()
		}
	})
}
