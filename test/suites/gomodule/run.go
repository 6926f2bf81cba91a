package gomodule

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/test/suites/report"
	"locus/test/suites/stand"
)

// Tests are the tests of a copied module.
type Tests struct {
	Dir      string
	Packages []string // default: that of Dir
	Tags     string   // build tags, parted by commas
	Env      []string
	Args     []string // of the tests themselves
	Skip     string   // a pattern, as of go test -skip
	Limit    time.Duration
}

// Run runs the tests with these names, or all, and returns their outcomes. A test with subtests is replaced by its subtests.
func (s Tests) Run(t testing.TB, cases []string) stand.Outcomes {
	t.Helper()
	args := []string{"-test.v=test2json", "-test.paniconexit0", "-test.timeout=" + s.Limit.String()}
	if len(cases) > 0 {
		args = append(args, "-test.run=^("+strings.Join(tests(cases), "|")+")$")
	}
	if s.Skip != "" {
		args = append(args, "-test.skip="+s.Skip)
	}
	var out []byte
	for _, p := range s.programs(t) {
		c := stand.Command{
			Dir: p.directory, Env: s.Env, Limit: s.Limit + time.Minute,
			Args: slices.Concat([]string{"go", "tool", "test2json", "-t", p.path}, args, s.Args),
		}
		out = append(out, c.Output(t)...)
	}
	return report.GoTest(out)
}

// tests are the patterns of the tests that cases are part of.
func tests(cases []string) []string {
	var names []string
	for _, name := range cases {
		test, _, _ := strings.Cut(name, "/")
		if quoted := regexp.QuoteMeta(test); !slices.Contains(names, quoted) {
			names = append(names, quoted)
		}
	}
	return names
}
