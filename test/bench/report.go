package main

import (
	"fmt"
	"io"
	"math"
	"strings"
)

// report contains the results so far.
type report struct {
	command     string
	facts       []string
	comparisons []comparison
	builds      []comparison // with -before
	figures     []figure
	micro       []microResult
	ids         []idResult
	failures    []failure
	lent        lending                            // for the single-shard rows
	shown       struct{ comparisons, figures int } // by showNew
}

// comparison is one single-shard row.
type comparison struct {
	name     string
	measured []series
}

// failure is a row without figures.
type failure struct {
	name string
	err  error
}

// apart splits the report into sections: for each kind of figures with a section of its own, for generators,
// and for everything else.
func (r *report) apart() map[section]*report {
	facts := []string{machine(), busy()}
	all := map[section]*report{idsSection: {command: r.command, facts: facts, ids: r.ids}}
	for _, s := range []section{movesSection, importsSection, outagesSection, definitionsSection, fewRowsSection, callsSection} {
		all[s] = &report{command: r.command, facts: facts}
	}
	hop := *r
	hop.figures, hop.ids = nil, nil
	all[hopSection] = &hop
	of := map[part]section{ofHop: hopSection, ofMoves: movesSection, ofImports: importsSection, ofOutages: outagesSection, ofDefinitions: definitionsSection, ofFewRows: fewRowsSection, ofCalls: callsSection}
	for _, f := range r.figures {
		to := all[of[f.of]]
		to.figures = append(to.figures, f)
	}
	return all
}

// empty reports whether nothing was measured.
func (r *report) empty() bool {
	return len(r.comparisons)+len(r.figures)+len(r.micro)+len(r.ids)+len(r.failures) == 0
}

func (r *report) fail(name string, err error) { r.failures = append(r.failures, failure{name, err}) }

// showNew prints the results since the last call, while other rows are still to come.
func (r *report) showNew(out io.Writer) {
	for _, c := range r.comparisons[r.shown.comparisons:] {
		fmt.Fprintln(out, "  "+strings.Join(c.cells()[1:], " | "))
	}
	for _, f := range r.figures[r.shown.figures:] {
		fmt.Fprintln(out, "  "+strings.Join(f.cells(), " | "))
	}
	r.shown.comparisons, r.shown.figures = len(r.comparisons), len(r.figures)
}

// markdown returns the whole report without its heading.
func (r *report) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "Made by `%s`:\n\n", r.command)
	for _, f := range r.facts {
		fmt.Fprintf(&b, "- %s\n", f)
	}
	if own := r.clientCost(); !math.IsNaN(own) {
		fmt.Fprintf(&b, "- the load client itself took %.1f µs of CPU per statement\n", own)
	}
	for _, t := range []table{r.comparisonTable(), r.beforeTable(), r.figureTable(), r.microTable(), r.idTable(), r.failureTable()} {
		b.WriteString(t.markdown())
	}
	return b.String()
}

// clientCost returns the median, over all rows, of the load client's CPU time per statement on the direct lane,
// in µs.
func (r *report) clientCost() float64 {
	var costs []float64
	for _, c := range r.comparisons {
		costs = append(costs, find(c.measured, viaDirect).of(clientCPU).median)
	}
	return spreadOf(costs).median
}

func (r *report) comparisonTable() table {
	t := table{head: []string{
		"one shard", "statements/s direct, haproxy, locus", "p50 ms", "p99 ms", "÷ direct",
		fmt.Sprintf("÷ haproxy (%s)", limits(throughputBound)), "met",
		"CPU µs haproxy, locus", fmt.Sprintf("CPU ÷ haproxy (%s)", limits(cpuBound)), "met",
	}}
	for _, c := range r.comparisons {
		t.rows = append(t.rows, c.cells())
	}
	return t
}

func limits(b bound) string {
	return fmt.Sprintf("must %s, aim %s", b.spell(b.must), b.spell(b.aim))
}

func (c comparison) cells() []string {
	direct, hop, locus := find(c.measured, viaDirect), find(c.measured, viaHaproxy), find(c.measured, viaLocus)
	rate, cost := locus.over(hop, statements), locus.over(hop, hopCPU)
	three := func(measure func(sample) float64, digits int) string {
		return fmt.Sprintf("%.*f, %.*f, %.*f", digits, direct.of(measure).median,
			digits, hop.of(measure).median, digits, locus.of(measure).median)
	}
	return []string{
		c.name, three(statements, 0), three(p50, 2), three(p99, 2),
		locus.over(direct, statements).format(2),
		rate.format(2), throughputBound.verdict(rate.median),
		fmt.Sprintf("%.1f, %.1f", hop.of(hopCPU).median, locus.of(hopCPU).median),
		cost.format(2), cpuBound.verdict(cost.median),
	}
}

func (r *report) figureTable() table {
	t := table{head: []string{"what", "measured", "must", "aim", "met", "with"}}
	for _, f := range r.figures {
		t.rows = append(t.rows, f.cells())
	}
	return t
}

func (f figure) cells() []string {
	value := strings.TrimSpace(f.value.format(f.digits) + " " + f.unit)
	return []string{f.name, value, f.bound.spell(f.bound.must), f.bound.spell(f.bound.aim), f.bound.verdict(f.judged), f.detail}
}

func (r *report) failureTable() table {
	t := table{head: []string{"failed", "because"}}
	for _, f := range r.failures {
		t.rows = append(t.rows, []string{f.name, f.err.Error()})
	}
	return t
}
