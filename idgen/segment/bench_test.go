package segment

import (
	"context"
	"math/rand/v2"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"locus/idgen"
	"locus/idgen/gene"
)

func BenchmarkTake(b *testing.B) {
	s := open(b, &granting{}, Options{Groups: 256})
	ctx := context.Background()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := s.Take(ctx, 7, 1); err != nil {
			b.Fatal(err)
		}
	}
}

// Each goroutine takes numbers for genes of its own counter. It measures how the throughput scales.
func BenchmarkTakeParallel(b *testing.B) {
	s := open(b, &granting{}, Options{Groups: 256})
	var goroutine atomic.Uint32
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		g := gene.Gene(goroutine.Add(1) << 8)
		for pb.Next() {
			if _, err := s.Take(ctx, g, 1); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// All goroutines share one counter: the worst case.
func BenchmarkTakeContended(b *testing.B) {
	s := open(b, &granting{}, Options{Groups: 1})
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		for pb.Next() {
			if _, err := s.Take(ctx, 7, 1); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// Complete order IDs of random genes, as a proxy issues them.
func BenchmarkIssue(b *testing.B) {
	s := open(b, &granting{}, Options{Groups: 256})
	issuer, err := idgen.NewIssuer(layoutNamed(b, "int64"), 1, s)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	b.RunParallel(func(pb *testing.PB) {
		ctx := context.Background()
		random := rand.New(rand.NewPCG(1, 2))
		for pb.Next() {
			if _, err := issuer.Issue(ctx, gene.Gene(random.Uint32()>>16), 1); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

// The slowest calls while segments are switched constantly: the store takes 1 ms and the segments last for 50
// ms.
func BenchmarkSwitch(b *testing.B) {
	store := &granting{before: func(context.Context, uint64) error { time.Sleep(time.Millisecond); return nil }} //nolint:forbidigo // how long a store takes
	s := open(b, store, Options{Groups: 1, Buffer: 50 * time.Millisecond})
	ctx := context.Background()
	for range 2_000_000 { // find the pace
		take(b, s, 1)
	}
	store.mu.Lock()
	before := store.calls
	store.mu.Unlock()
	lasted := make([]time.Duration, 0, b.N)
	for range b.N {
		began := time.Now()
		if _, err := s.Take(ctx, 7, 1); err != nil {
			b.Fatal(err)
		}
		lasted = append(lasted, time.Since(began))
	}
	slices.Sort(lasted)
	b.ReportMetric(float64(lasted[len(lasted)*9999/10000].Nanoseconds()), "p99.99-ns")
	b.ReportMetric(float64(store.count()-before), "switches")
}
