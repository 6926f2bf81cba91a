package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
)

// idFigure is a figure of the generators: a metric that a benchmark of test/ids
// or of the package itself reports.
type idFigure struct {
	figure    string
	pkg       string
	benchmark string
	metric    string
	bound     bound
}

// idFigures returns the table with the targets of the generators.
func idFigures() []idFigure {
	const here = "./test/ids"
	return []idFigure{
		{"IDs: order IDs from the library, one core, database store, millions/s", here, "BenchmarkLibrary", "millions/s", bound{atLeast, 1, 20}},
		{"IDs: allocations per ID", here, "BenchmarkLibrary", "allocs/ID", bound{atMost, 0, 0}},
		{"IDs: 2 goroutines on 2 cores ÷ one", here, "BenchmarkScaling", "ratio", bound{atLeast, 1.7, 1.7}},
		{"IDs: p99.99 while segments are switched, µs", here, "BenchmarkSwitch", "µs", bound{atMost, 50, 50}},
		{"IDs: ff1, ns per encode and decode", "./idgen/cipher", "BenchmarkPair/aes128/int64", "ns/op", bound{atMost, 1000, 1000}},
		{"IDs: buckets, 200 goroutines ÷ bare INCR", here, "BenchmarkBuckets", "ratio", bound{atLeast, 0.96, 0.96}},
		{"IDs: buckets, 200 goroutines, numbers/s", here, "BenchmarkBuckets", "numbers/s", bound{atLeast, 20_000, 55_000}},
		{"IDs: buckets, one goroutine, numbers/s", here, "BenchmarkBuckets", "alone/s", bound{atLeast, 1000, 5000}},
		{"IDs: redis ÷ bare INCR", here, "BenchmarkRedis", "ratio", bound{atLeast, 0.9, 0.9}},
		{"IDs: redis, 16 goroutines, numbers/s", here, "BenchmarkRedis", "numbers/s", bound{atLeast, 20_000, 60_000}},
		{"IDs: redis with segments ÷ bare INCR", here, "BenchmarkRedisSegments", "ratio", bound{atLeast, 100, 100}},
		{"IDs: redis with segments, 16 goroutines, numbers/s", here, "BenchmarkRedisSegments", "numbers/s", bound{atLeast, 1e6, 10e6}},
		{"IDs: row ÷ its bare statement", here, "BenchmarkRow", "ratio", bound{atLeast, 0.9, 0.9}},
		{"IDs: row, 4 goroutines, numbers/s", here, "BenchmarkRow", "numbers/s", bound{atLeast, 1000, 4000}},
		{"IDs: row with segments ÷ its bare statement", here, "BenchmarkRowSegments", "ratio", bound{atLeast, 100, 100}},
		{"IDs: row with segments, 4 goroutines, numbers/s", here, "BenchmarkRowSegments", "numbers/s", bound{atLeast, 1e6, 10e6}},
		{"IDs: auto_increment ÷ its bare statement", here, "BenchmarkAutoIncrement", "ratio", bound{atLeast, 0.9, 0.9}},
		{"IDs: auto_increment, 4 goroutines, numbers/s", here, "BenchmarkAutoIncrement", "numbers/s", bound{atLeast, 1000, 4000}},
		{"IDs: ha over two tables ÷ its best member", here, "BenchmarkHA", "ratio", bound{atLeast, 0.9, 0.9}},
		{"IDs: longest wait next to a healthy member, ms; the limit is 1000", here, "BenchmarkLongestWait", "ms", bound{atMost, 1100, 1100}},
		{"IDs: queue over ha, millions/s", here, "BenchmarkQueueOverHA", "millions/s", bound{atLeast, 1, 6}},
		{"IDs: format over a queue over ha, millions/s", here, "BenchmarkFormat", "millions/s", bound{atLeast, 0.5, 0.5}},
		{"IDs: format over a queue by SQL ÷ NEXTVAL(segment), 16 clients", here, "BenchmarkFormatSQL", "ratio", bound{atLeast, 0.8, 0.8}},
		{"IDs: INSERT stamped by a format ÷ unstamped, 16 clients", here, "BenchmarkFormatStamped", "ratio", bound{atLeast, 0.8, 0.8}},
		{"IDs: one ID per HTTP request ÷ an empty handler", here, "BenchmarkHTTP", "ratio", bound{atLeast, 0.8, 0.8}},
		{"IDs: one ID per HTTP request, 4 clients, numbers/s", here, "BenchmarkHTTP", "numbers/s", bound{atLeast, 2000, 10_000}},
		{"IDs: one ID per SQL statement ÷ SELECT 1 through the proxy", here, "BenchmarkSQL", "ratio", bound{atLeast, 0.8, 0.8}},
		{"IDs: one ID per SQL statement, 4 clients, numbers/s", here, "BenchmarkSQL", "numbers/s", bound{atLeast, 2000, 10_000}},
		{"IDs: snowflake, millions/s", here, "BenchmarkSnowflake", "millions/s", bound{atLeast, 1, 4}},
		{"IDs: INSERTs by a text key of 27 bytes ÷ by a rising BIGINT", here, "BenchmarkTextKeys", "÷rising", bound{atLeast, 0.5, 0.9}},
		{"IDs: INSERTs by a text key of 27 bytes ÷ by a BIGINT with a gene", here, "BenchmarkTextKeys", "÷gene", bound{atLeast, 0.5, 0.9}},
		{"IDs: rows/s by a text key of 27 bytes", here, "BenchmarkTextKeys", "text_keys/s", bound{atLeast, 5000, 20_000}},
		{"IDs: rows/s by a rising BIGINT", here, "BenchmarkTextKeys", "number_keys/s", bound{atLeast, 5000, 20_000}},
		{"IDs: rows/s by a BIGINT with a gene", here, "BenchmarkTextKeys", "gene_keys/s", bound{atLeast, 5000, 20_000}},
		{"IDs: bytes of a row by a text key of 27 bytes", here, "BenchmarkTextKeys", "text_keys-bytes", bound{atMost, 250, 200}},
		{"IDs: bytes of a row by a rising BIGINT", here, "BenchmarkTextKeys", "number_keys-bytes", bound{atMost, 200, 150}},
		{"IDs: bytes of a row by a BIGINT with a gene", here, "BenchmarkTextKeys", "gene_keys-bytes", bound{atMost, 250, 200}},
		{"IDs: store round trips per buffer-second and counter", here, "BenchmarkRoundTrips", "per-s", bound{atMost, 1, 1}},
	}
}

// idResult is the result of a benchmark, or why there is none.
type idResult struct {
	idFigure
	value   float64
	missing string
}

// measureIDs runs the benchmarks that -rows selects, each once.
func measureIDs(ctx context.Context, o options, r *report, out io.Writer) error {
	said := map[string]string{} // by package and benchmark
	for _, f := range idFigures() {
		if !o.rows.MatchString(f.figure) {
			continue
		}
		key := f.pkg + " " + f.benchmark
		if _, ran := said[key]; !ran {
			fmt.Fprintf(out, "go test -bench %s %s\n", f.benchmark, f.pkg)
			said[key] = f.run(ctx)
		}
		result := idResult{idFigure: f, value: metricOf(said[key], f.metric)}
		if math.IsNaN(result.value) {
			result.missing = "missing: the benchmark fails, or reports no " + f.metric
		}
		r.ids = append(r.ids, result)
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (f idFigure) run(ctx context.Context) string {
	ctx, cancel := context.WithTimeout(ctx, microPatience)
	defer cancel()
	root, err := moduleRoot(ctx)
	if err != nil {
		return ""
	}
	pattern := "^" + strings.ReplaceAll(f.benchmark, "/", "$/^") + "$"
	args := []string{"test", "-run", "^$", "-bench", pattern}
	if f.metric != "ns/op" { // they measure for themselves
		args = append(args, "-benchtime", "1x")
	}
	test := exec.CommandContext(ctx, "go", append(args, f.pkg)...)
	test.Dir = root
	said, _ := test.Output() // the output of a failed test contains no report
	return string(said)
}

// metricOf finds the number before a unit in a benchmark's line.
func metricOf(said, unit string) float64 {
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		if len(words) == 0 || !strings.HasPrefix(words[0], "Benchmark") {
			continue
		}
		for i := 2; i < len(words); i++ {
			if words[i] != unit {
				continue
			}
			if v, err := strconv.ParseFloat(words[i-1], 64); err == nil {
				return v
			}
		}
	}
	return math.NaN()
}

func (r *report) idTable() table {
	t := table{head: []string{"generators", "reached", "must", "figure", "met"}}
	for _, f := range r.ids {
		t.rows = append(t.rows, f.cells())
	}
	return t
}

func (f idResult) cells() []string {
	reached := f.missing
	if reached == "" {
		reached = strconv.FormatFloat(f.value, 'f', 2, 64)
	}
	return []string{strings.TrimPrefix(f.figure, "IDs: "), reached, f.bound.spell(f.bound.must), f.bound.spell(f.bound.aim), f.bound.verdict(f.value)}
}
