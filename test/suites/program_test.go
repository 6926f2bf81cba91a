package suites

import (
	"maps"
	"os"
	"path/filepath"
	"testing"
	"time"

	"locus/test/suites/report"
	"locus/test/suites/stand"
)

// program is a command that runs a suite and writes a report. Its texts are filled in, also with {source}, the installed suite, {dir}, a
// directory of the run, and {report}, a file in that.
type program struct {
	part     string            // the directory of test/install/suites.sh that is {source}
	copied   bool              // each run has a copy of it, because its tests write into its directory
	start    string            // where the command starts; without it in {dir}
	files    map[string]string // written before each run
	args     []string          // the program first
	all      []string          // further arguments that select all cases; names of cases select those
	env      []string
	limit    time.Duration
	outcomes func(t *testing.T, out []byte, report string) stand.Outcomes
}

func (p program) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	source := ""
	if p.part != "" {
		source = stand.Installed(t, p.part)
	}
	return func(t *testing.T, at place, names []string) stand.Outcomes { return p.run(t, at, source, names) }, nil
}

func (p program) run(t *testing.T, at place, source string, names []string) stand.Outcomes {
	t.Helper()
	dir := t.TempDir()
	reported := filepath.Join(t.TempDir(), "report")
	if p.copied {
		if err := os.CopyFS(dir, os.DirFS(source)); err != nil {
			t.Fatal(err)
		}
		source = dir
	}
	fill := func(texts ...string) []string {
		return at.fill(t, texts, "{source}", source, "{dir}", dir, "{report}", reported)
	}
	for name := range maps.Keys(p.files) {
		written := fill(name, p.files[name])
		if err := os.WriteFile(written[0], []byte(written[1]), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	args := fill(p.args...)
	switch {
	case p.all == nil:
	case len(names) > 0:
		args = append(args, names...)
	default:
		args = append(args, p.all...)
	}
	start := dir
	if p.start != "" {
		start = fill(p.start)[0]
	}
	out := stand.Command{Dir: start, Env: fill(p.env...), Args: args, Limit: p.limit}.Output(t)
	return p.outcomes(t, out, reported)
}

// python is the distribution's: the drivers are its packages.
const python = "/usr/bin/python3"

// pytest makes a program of a suite that pytest runs.
func pytest(p program, args ...string) program {
	p.env = append([]string{"PYTHONDONTWRITEBYTECODE=1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"}, p.env...)
	p.args = append([]string{python, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml", "{report}", "--tb", "short"}, args...)
	p.outcomes = junit(func(class, name string) string { return class + "." + name })
	return p
}

func junit(name report.Name) func(*testing.T, []byte, string) stand.Outcomes {
	return func(t *testing.T, _ []byte, path string) stand.Outcomes {
		t.Helper()
		return report.JUnit(t, path, name)
	}
}

func lines(t *testing.T, _ []byte, path string) stand.Outcomes {
	t.Helper()
	return report.Lines(t, path, "")
}

func minitest(_ *testing.T, out []byte, _ string) stand.Outcomes { return report.Minitest(out) }
