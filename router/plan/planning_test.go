package plan

import (
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"locus/router/stmt"
)

// manyValues returns texts with that many values each.
var manyValues = []int{10_000, 40_000, 500_000}

// BenchmarkPlanning measures how the time of planning grows with the text. It reports the ratio of the largest time for a byte to
// the smallest.
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

// planningTime returns the median of some rounds, in nanoseconds of CPU time of the process. Other load on the machine isn't
// counted.
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

// used returns the CPU time of the process.
func used(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
