// Package pytest runs suites of Python's drivers.
//
// It owns how pytest is called and how its cases are named. It never knows what
// they test.
package pytest

import (
	"path/filepath"
	"testing"
	"time"

	"locus/test/suites/junit"
	"locus/test/suites/stand"
)

// Python is the distribution's: the drivers are its packages.
const Python = "/usr/bin/python3"

// Tests are files of tests, and how they are run.
type Tests struct {
	Dir   string
	Env   []string
	Args  []string // files, and options
	Limit time.Duration
}

// Run runs all of them, once.
func (p Tests) Run(t *testing.T) stand.Outcomes {
	t.Helper()
	report := filepath.Join(t.TempDir(), "report.xml")
	stand.Command{
		Dir: p.Dir, Limit: p.Limit,
		Env:  append([]string{"PYTHONDONTWRITEBYTECODE=1", "PYTEST_DISABLE_PLUGIN_AUTOLOAD=1"}, p.Env...),
		Args: append([]string{Python, "-m", "pytest", "-p", "no:cacheprovider", "--junitxml", report, "--tb", "short"}, p.Args...),
	}.Output(t)
	return junit.Read(t, report, func(class, name string) string { return class + "." + name })
}
