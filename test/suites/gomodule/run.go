package gomodule

import (
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"locus/test/suites/stand"
)

// Tests are the tests of a copied module.
type Tests struct {
	Dir      string
	Packages []string // default: that of Dir
	Env      []string
	Args     []string // of the tests themselves
	Skip     string   // a pattern, as of go test -skip
	Limit    time.Duration
}

// Run runs the tests of those names, or all, and tells what became of each that
// has no subtests, and of each subtest in place of its test.
func (s Tests) Run(t testing.TB, cases []string) stand.Outcomes {
	t.Helper()
	args := []string{"go", "test", "-json", "-count=1", "-vet=off", "-timeout", s.Limit.String()}
	if len(cases) > 0 {
		args = append(args, "-run", "^("+strings.Join(tests(cases), "|")+")$")
	}
	if s.Skip != "" {
		args = append(args, "-skip", s.Skip)
	}
	if s.Packages == nil {
		s.Packages = []string{"."}
	}
	args = append(args, s.Packages...)
	if len(s.Args) > 0 {
		args = append(append(args, "-args"), s.Args...)
	}
	// A module has its own idea of what it depends on, and may lack sums of what
	// only its tests need.
	env := append([]string{"GOFLAGS=-mod=mod", "GOWORK=off"}, s.Env...)
	c := stand.Command{Dir: s.Dir, Env: env, Args: args, Limit: s.Limit + time.Minute}
	return read(c.Output(t))
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
