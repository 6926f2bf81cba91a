package main

import (
	"context"
	"fmt"
	"io"
	"math"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

const (
	microPatience = 5 * time.Minute
	microRuns     = "3"
)

// micro is a figure from a Go benchmark of a package.
type micro struct {
	figure    string
	pkg       string // from the module's root
	benchmark string // its name, sub-benchmark included, without the number of processors
	bound     bound  // bound of the ns per operation; no operation may allocate
}

// microFigures lists the benchmarks of packages that the report includes. A new one needs a line here and a
// benchmark there.
func microFigures() []micro {
	return []micro{
		{"plan look-up on a hit: lexing, key, gene, route", "./router/plan", "BenchmarkLookupHit", bound{atMost, 2000, 500}},
		{"stamping an INSERT of one row", "./proxy/stamp", "BenchmarkStampInsert/text", bound{atMost, 2000, 1000}},
		{"map look-up, 4,096 entries", "./router", "BenchmarkLookup/bits=16/entries=4096", bound{atMost, 20, 20}},
		{"order ID, one core", "./idgen/segment", "BenchmarkIssue", bound{atMost, 1000, 50}},
		{"order number by ff1, encode and decode", "./idgen/cipher", "BenchmarkPair/aes128/int64", bound{atMost, 1000, 1000}},
	}
}

// microResult is the result of a benchmark, or why there is none.
type microResult struct {
	micro
	ns      spread // per operation
	allocs  float64
	missing string
}

// measureMicro runs the benchmarks that -rows selects. A benchmark that doesn't exist is reported as missing.
func measureMicro(ctx context.Context, o options, r *report, out io.Writer) error {
	for _, m := range microFigures() {
		if !o.rows.MatchString(m.figure) {
			continue
		}
		fmt.Fprintf(out, "go test -bench %s %s\n", m.benchmark, m.pkg)
		r.micro = append(r.micro, m.run(ctx))
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
	}
	return nil
}

func (m micro) run(ctx context.Context) microResult {
	result := microResult{micro: m, ns: single(math.NaN())}
	ctx, cancel := context.WithTimeout(ctx, microPatience)
	defer cancel()
	root, err := moduleRoot(ctx)
	if err != nil {
		result.missing = err.Error()
		return result
	}
	// go test matches each level of the name with its own pattern
	pattern := "^" + strings.ReplaceAll(m.benchmark, "/", "$/^") + "$"
	test := exec.CommandContext(ctx, "go", "test", "-run", "^$", "-bench", pattern, "-benchmem", "-cpu", "1", "-count", microRuns, m.pkg)
	test.Dir = root
	said, err := test.Output()
	result.ns, result.allocs = parseBenchmark(string(said), m.benchmark)
	switch {
	case !math.IsNaN(result.ns.median):
	case err != nil:
		result.missing = "missing: no such package, or it fails"
	default:
		result.missing = "missing: no such benchmark"
	}
	return result
}

// parseBenchmark reads the lines of one benchmark:
//
//	BenchmarkHit-2   5061234   231.4 ns/op   0 B/op   0 allocs/op
func parseBenchmark(said, name string) (ns spread, allocs float64) {
	var times []float64
	for line := range strings.Lines(said) {
		words := strings.Fields(line)
		if len(words) < 4 || words[0] != name && withoutProcs(words[0]) != name {
			continue
		}
		for i := 3; i < len(words); i++ {
			v, err := strconv.ParseFloat(words[i-1], 64)
			switch {
			case err != nil:
			case words[i] == "ns/op":
				times = append(times, v)
			case words[i] == "allocs/op":
				allocs = max(allocs, v)
			}
		}
	}
	return spreadOf(times), allocs
}

// withoutProcs cuts the suffix that `go test` appends on more than one processor.
func withoutProcs(name string) string {
	i := strings.LastIndexByte(name, '-')
	if i < 0 {
		return name
	}
	if _, err := strconv.Atoi(name[i+1:]); err != nil {
		return name
	}
	return name[:i]
}

func (r *report) microTable() table {
	t := table{head: []string{"inside", "ns per operation", "must", "aim", "met", "allocations (must 0)", "met"}}
	for _, m := range r.micro {
		t.rows = append(t.rows, m.cells())
	}
	return t
}

func (m microResult) cells() []string {
	must, aim := m.bound.spell(m.bound.must), m.bound.spell(m.bound.aim)
	if m.missing != "" {
		return []string{m.figure, m.missing, must, aim, "–", "–", "–"}
	}
	return []string{
		m.figure, m.ns.format(1), must, aim, m.bound.verdict(m.ns.median),
		fmt.Sprintf("%.0f", m.allocs), bound{atMost, 0, 0}.verdict(m.allocs),
	}
}
