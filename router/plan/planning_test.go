package plan

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locus/router/stmt"
)

// manyValues are texts with so many values each.
var manyValues = []int{10_000, 40_000, 500_000}

// BenchmarkPlanning tells how what planning takes grows with the text: the largest
// time for a byte among the texts, by the smallest.
func BenchmarkPlanning(b *testing.B) {
	under := Context{Catalog: shopCatalog(b), Schema: "shop"}
	for b.Loop() {
		var each []float64
		for _, n := range manyValues {
			text := []byte("SELECT COUNT(*) FROM orders WHERE id IN (1000000" + strings.Repeat(", 1000000", n-1) + ")")
			each = append(each, planningTime(b, text, under, 1_000_000/n)/float64(len(text)))
		}
		b.ReportMetric(slices.Max(each)/slices.Min(each), "ratio")
		b.ReportMetric(each[len(each)-1], "ns/byte")
	}
}

// planningTime is the median of some rounds, in nanoseconds of the process's cores:
// what else the machine does doesn't count.
func planningTime(b *testing.B, text []byte, under Context, rounds int) float64 {
	var l stmt.Lexed
	var took []time.Duration
	for range rounds + 9 {
		began := used(b)
		l.Lex(text, 0)
		if _, err := Make(&l, under); err != nil {
			b.Fatal(err)
		}
		took = append(took, used(b)-began)
	}
	slices.Sort(took)
	return float64(took[len(took)/2])
}

// used is what the process has used of its cores.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
