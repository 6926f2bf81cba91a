package suites

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	"locus/test/suites/report"
	"locus/test/suites/stand"
)

// perl is the tests t/*.t of a Perl distribution, each a program of the Test Anything Protocol.
type perl struct {
	part string
	env  []string
}

func (p perl) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	source := stand.Installed(t, p.part)
	return func(t *testing.T, at place, _ []string) stand.Outcomes { return p.run(t, at, source) }, nil
}

// run runs the programs one after the other. A case is named for its file and its number.
func (p perl) run(t *testing.T, at place, source string) stand.Outcomes {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(source, "t", "*.t"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", source, err)
	}
	outcomes := stand.Outcomes{}
	for _, path := range files {
		file := filepath.Base(path)
		out := stand.Command{
			Dir: source, Env: at.fill(t, p.env), Limit: 5 * time.Minute,
			Args: []string{"/usr/bin/perl", "-I.", "-It", "t/" + file},
		}.Output(t)
		for name, outcome := range report.TAP(out) {
			outcomes[strings.TrimSuffix(file, ".t")+" "+name] = outcome
		}
	}
	return outcomes
}
