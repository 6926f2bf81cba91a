package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"locus/internal/test/servers"
)

// run contains the results of one `go test`.
type run struct {
	out      io.Writer
	err      error // the first that writing met
	packages map[string]*pkg
	total    count
}

type count struct{ passed, failed, skipped int }

func (c count) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d skipped", c.passed, c.failed, c.skipped)
}

func (c *count) add(other count) {
	c.passed += other.passed
	c.failed += other.failed
	c.skipped += other.skipped
}

func newRun(out io.Writer) *run {
	return &run{out: out, packages: map[string]*pkg{}}
}

func (r *run) say(format string, args ...any) {
	if _, err := fmt.Fprintf(r.out, format, args...); err != nil && r.err == nil {
		r.err = err
	}
}

func (r *run) event(e event) {
	if strings.Contains(e.Output, servers.Password) {
		r.total.failed++
		r.say("FAIL %s %s tells the password of a server:\n%s", e.Package, e.Test, e.Output)
	}
	switch {
	case e.Action == "build-output":
		r.say("%s", e.Output)
	case e.Package == "":
	case e.Test != "":
		r.testEvent(r.pkg(e.Package), e)
	default:
		r.packageEvent(r.pkg(e.Package), e)
	}
}

func (r *run) pkg(name string) *pkg {
	p, ok := r.packages[name]
	if !ok {
		p = &pkg{name: name, tests: map[string]*test{}}
		r.packages[name] = p
	}
	return p
}

func (r *run) testEvent(p *pkg, e event) {
	t := p.test(e.Test)
	switch e.Action {
	case "output":
		t.output.add(e.Output)
	case "pass", "fail", "skip":
		t.outcome = e.Action
		p.end(t)
		if e.Action != "pass" {
			r.say("%s %s %s\n%s", label(e.Action), p.name, t.name, t.output.text())
		}
		t.output = tail{}
	}
}

func (r *run) packageEvent(p *pkg, e event) {
	switch e.Action {
	case "output":
		p.output.add(e.Output)
	case "pass", "fail", "skip":
		r.endPackage(p, e.Action, e.Elapsed)
	}
}

// endPackage ends a package and prints its line.
func (r *run) endPackage(p *pkg, outcome string, seconds float64) {
	for _, t := range p.unfinished() {
		t.outcome = "fail"
		p.end(t)
		r.say("FAIL %s %s: it did not finish\n%s", p.name, t.name, t.output.text())
	}
	if outcome == "fail" && p.count.failed == 0 {
		p.count.failed = 1
		r.say("FAIL %s, though no test of it did\n%s", p.name, p.output.text())
	}
	p.ended = true
	r.total.add(p.count)
	if p.count == (count{}) {
		r.say("-    %s: no tests\n", p.name)
		return
	}
	if p.count.failed > 0 {
		outcome = "fail"
	}
	r.say("%s %s: %s in %.1fs\n", label(outcome), p.name, p.count, seconds)
}

// finish ends everything that has no result yet, and reports whether all tests passed.
func (r *run) finish() bool {
	for _, name := range slices.Sorted(maps.Keys(r.packages)) {
		if p := r.packages[name]; !p.ended {
			r.say("%s: the stream ends before its tests do\n", name)
			r.endPackage(p, "fail", 0)
		}
	}
	if r.total.passed == 0 {
		r.say("no test passed\n")
	}
	r.say("%s\n", r.total)
	return r.total.failed == 0 && r.total.passed > 0
}

// label begins a line, as wide as the widest.
func label(outcome string) string {
	switch outcome {
	case "fail":
		return "FAIL"
	case "skip":
		return "skip"
	default:
		return "ok  "
	}
}
