package main

import (
	"math"
	"strings"
	"testing"
	"time"
)

func TestSpread(t *testing.T) {
	if got := spreadOf([]float64{3, 1, math.NaN(), 2, math.Inf(1)}); got != (spread{2, 1, 3}) {
		t.Errorf("%+v", got)
	}
	if got := spreadOf([]float64{4, 2}); got != (spread{3, 2, 4}) {
		t.Errorf("%+v", got)
	}
	if got := spreadOf(nil).format(2); got != "–" {
		t.Error(got)
	}
}

// The metrics of all shards and reasons are added up.
func TestLending(t *testing.T) {
	got, err := readLending(strings.NewReader(`# TYPE locus_backend_resets_total counter
locus_backend_resets_total{reason="settings",shard="s0"} 2
locus_backend_resets_total{reason="state",shard="s1"} 1
locus_statements_total 2000
locus_statements_slow_total 7
`))
	if err != nil || got != (lending{2000, 3}) {
		t.Errorf("%+v (%v)", got, err)
	}
	r := report{lent: got}
	if f := r.lentFigure(); len(f) != 1 || f[0].judged != 1.5 || f[0].cells()[4] != "**missed**" {
		t.Errorf("%+v", f)
	}
	if f := new(report).lentFigure(); f != nil {
		t.Errorf("a figure of what wasn't measured: %+v", f)
	}
}

// A machine that is slow in the second round is slow on both sides.
func TestRatiosAreRoundByRound(t *testing.T) {
	a := series{viaLocus, []sample{{statements: 100, cpu: 20 * time.Microsecond}, {statements: 10, cpu: 40 * time.Microsecond}}}
	b := series{viaHaproxy, []sample{{statements: 200, cpu: 10 * time.Microsecond}, {statements: 20, cpu: 20 * time.Microsecond}}}
	if got := a.over(b, statements); got != (spread{0.5, 0.5, 0.5}) {
		t.Errorf("%+v", got)
	}
	if got := a.above(b, hopCPU); got != (spread{15, 10, 20}) {
		t.Errorf("%+v", got)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		bound bound
		value float64
		want  string
	}{
		{cpuBound, 1.0, "aim"},
		{cpuBound, 1.7, "must"},
		{cpuBound, 1.71, "**missed**"},
		{throughputBound, 1.0, "aim"},
		{throughputBound, 0.8, "must"},
		{throughputBound, 0.79, "**missed**"},
		{cpuBound, math.NaN(), "–"},
	} {
		if got := c.bound.verdict(c.value); got != c.want {
			t.Errorf("%g is %s, not %s", c.value, got, c.want)
		}
	}
}

func TestReport(t *testing.T) {
	var r report
	r.command = "go run ./test/bench"
	r.facts = []string{"2 cores"}
	lane := func(name string, rate float64, cpu time.Duration) series {
		return series{name, []sample{{statements: rate, cpu: cpu, p50: time.Millisecond, p99: 2 * time.Millisecond}}}
	}
	r.comparisons = []comparison{{"SELECT, text", []series{
		lane(viaDirect, 1000, 0), lane(viaHaproxy, 800, 20*time.Microsecond), lane(viaLocus, 700, 40*time.Microsecond),
	}}}
	r.fail("INSERT", errorString("a|b\nc"))
	got := r.markdown()
	for _, want := range []string{
		"Made by `go run ./test/bench`:", "- 2 cores\n",
		"| SELECT, text | 1000, 800, 700", "| 0.70 ", "| 0.88 ", "| must |", "| 20.0, 40.0 ", "| 2.00 ", "**missed**",
		`| INSERT | a\|b c `,
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no %q in\n%s", want, got)
		}
	}
}

type errorString string

func (e errorString) Error() string { return string(e) }

func TestSectionIsReplacedAndTheRestKept(t *testing.T) {
	once := hopSection.within("# Speed\n\nBy hand.\n", "first\n")
	twice := hopSection.within(once+"\nMore by hand.\n", "second\n")
	if strings.Contains(twice, "first") || !strings.Contains(twice, "second\n") || strings.Count(twice, hopSection.begin) != 1 {
		t.Errorf("not replaced:\n%s", twice)
	}
	for _, kept := range []string{"# Speed\n\nBy hand.\n\n" + hopSection.begin, hopSection.end + "\nMore by hand.\n"} {
		if !strings.Contains(twice, kept) {
			t.Errorf("no %q in\n%s", kept, twice)
		}
	}
	if got := hopSection.within("", "first\n"); !strings.HasPrefix(got, hopSection.begin) {
		t.Errorf("a new file begins with\n%s", got)
	}
}

// Generators, moves, imports, outages, definitions, few rows, system calls and everything else have sections of their own.
// Measuring one of them leaves the other sections unchanged.
func TestWhatIsMeasuredByItself(t *testing.T) {
	r := report{
		facts: []string{"2 cores"}, figures: []figure{{name: "a hop"}, {name: "a move", of: ofMoves}, {name: "an import", of: ofImports}, {name: "an outage", of: ofOutages}, {name: "a definition", of: ofDefinitions}, {name: "few rows", of: ofFewRows}, {name: "system calls", of: ofCalls}},
		ids: []idResult{{idFigure: idFigure{figure: "IDs: redis"}, value: 1}},
	}
	rows := map[section]string{hopSection: "a hop", movesSection: "a move", importsSection: "an import", idsSection: "redis", outagesSection: "an outage", definitionsSection: "a definition", fewRowsSection: "few rows", callsSection: "system calls"}
	parts := r.apart()
	for _, s := range sections {
		only, text := rows[s], parts[s].markdown()
		for _, row := range rows {
			if strings.Contains(text, "| "+row+" ") != (row == only) {
				t.Errorf("of %s: where is %q in\n%s", only, row, text)
			}
		}
	}
	one := report{ids: r.ids}
	for s, part := range one.apart() {
		if part.empty() != (s != idsSection) {
			t.Errorf("of generators alone %s is empty: %v", s.begin, part.empty())
		}
	}
	document := idsSection.within(hopSection.within("# Speed\n", "hop\n"), "before\n")
	if now := idsSection.within(document, "after\n"); !strings.Contains(now, "hop\n") || strings.Contains(now, "before") || !strings.Contains(now, "after") {
		t.Errorf("the document is now\n%s", now)
	}
}

// Each target of the generators has a row.
func TestRowsOfGenerators(t *testing.T) {
	for _, of := range []string{
		"ha over two tables ÷ its best member ≥ 0.9", "queue over ha, millions/s ≥ 1", "format over a queue over ha, millions/s ≥ 0.5",
		"format over a queue by SQL ÷ NEXTVAL(segment), 16 clients ≥ 0.8", "INSERT stamped by a format ÷ unstamped, 16 clients ≥ 0.8", "redis ÷ bare INCR ≥ 0.9",
	} {
		var found bool
		for _, f := range idFigures() {
			found = found || "IDs: "+of == f.figure+" "+f.bound.spell(f.bound.must)
		}
		if !found {
			t.Errorf("no row of %s", of)
		}
	}
}

func TestBenchmarkOutput(t *testing.T) {
	const said = `goos: linux
BenchmarkHit-2         5061234   230.0 ns/op   0 B/op   0 allocs/op
BenchmarkHit-2         5061234   250.0 ns/op   16 B/op   1 allocs/op
BenchmarkHit/other-2   5061234   999.0 ns/op   0 B/op   9 allocs/op
PASS
`
	ns, allocs := parseBenchmark(said, "BenchmarkHit")
	if ns != (spread{240, 230, 250}) || allocs != 1 {
		t.Errorf("%+v, %g", ns, allocs)
	}
	if ns, _ := parseBenchmark("BenchmarkPair/int64-15   9   7.0 ns/op", "BenchmarkPair/int64-15"); ns.median != 7 {
		t.Errorf("on one processor: %+v", ns)
	}
	if ns, _ := parseBenchmark(said, "BenchmarkMiss"); !math.IsNaN(ns.median) {
		t.Errorf("a figure for what wasn't run: %+v", ns)
	}
}

func TestMissingBenchmarkIsNoFigure(t *testing.T) {
	m := microResult{micro: microFigures()[0], ns: single(math.NaN()), missing: "missing: no such benchmark"}
	if cells := m.cells(); cells[1] != m.missing || cells[4] != "–" {
		t.Errorf("%v", cells)
	}
}
