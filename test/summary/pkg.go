package main

import (
	"maps"
	"slices"
	"strings"
)

// pkg contains the results of one package's tests.
type pkg struct {
	name   string
	tests  map[string]*test
	output tail // output that belongs to no test
	count  count
	ended  bool
}

// test is a test or a subtest.
type test struct {
	name      string
	parent    *test // nil at the top
	hasSubs   bool
	subFailed bool   // at any depth
	outcome   string // "" while it runs
	output    tail
}

// test finds a test, or makes it with its place below the test that runs it.
func (p *pkg) test(name string) *test {
	if t, ok := p.tests[name]; ok {
		return t
	}
	t := &test{name: name, parent: p.runner(name)}
	if t.parent != nil {
		t.parent.hasSubs = true
	}
	p.tests[name] = t
	return t
}

// runner returns the test that contains a subtest. The name of a subtest may contain slashes, so not every
// prefix is a test.
func (p *pkg) runner(name string) *test {
	for {
		slash := strings.LastIndexByte(name, '/')
		if slash < 0 {
			return nil
		}
		name = name[:slash]
		if t, ok := p.tests[name]; ok {
			return t
		}
	}
}

// end counts a test that has its outcome. A test with subtests is their sum, and
// counts for itself only if it failed and they did not.
func (p *pkg) end(t *test) {
	switch {
	case t.outcome == "fail" && !t.subFailed:
		p.count.failed++
	case t.outcome == "fail" || t.hasSubs:
	case t.outcome == "skip":
		p.count.skipped++
	default:
		p.count.passed++
	}
	if t.outcome == "fail" {
		for up := t.parent; up != nil; up = up.parent {
			up.subFailed = true
		}
	}
}

// unfinished returns the tests without a result, subtests before their tests.
func (p *pkg) unfinished() []*test {
	var open []*test
	for _, name := range slices.Backward(slices.Sorted(maps.Keys(p.tests))) {
		if t := p.tests[name]; t.outcome == "" {
			open = append(open, t)
		}
	}
	return open
}

// tailBytes limits the kept output of a test, so that a test that repeats a message in a loop doesn't hide the
// rest.
const tailBytes = 256 << 10

// tail keeps the end of an output, in whole lines, without go test's own.
type tail struct {
	lines []string
	size  int
	cut   bool
}

func (t *tail) add(line string) {
	for _, own := range []string{"=== RUN ", "=== PAUSE ", "=== CONT ", "=== NAME "} {
		if strings.HasPrefix(line, own) {
			return
		}
	}
	t.lines = append(t.lines, line)
	t.size += len(line)
	for t.size > tailBytes && len(t.lines) > 1 {
		t.size -= len(t.lines[0])
		t.lines = t.lines[1:]
		t.cut = true
	}
}

func (t *tail) text() string {
	text := strings.Join(t.lines, "")
	if t.cut {
		text = "…\n" + text
	}
	if text != "" && !strings.HasSuffix(text, "\n") {
		text += "\n"
	}
	return text
}
