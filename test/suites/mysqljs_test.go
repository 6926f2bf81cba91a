package suites

import (
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/test/suites/stand"
)

// mysqljs is the tests of mysql, the older driver of Node.js, that use a server; its other tests bring a server of their own.
type mysqljs struct{}

func (mysqljs) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(stand.Installed(t, "mysqljs"), "test/integration/*/test-*.js"))
	if err != nil {
		t.Fatal(err)
	}
	return func(t *testing.T, at place, names []string) stand.Outcomes { return runFiles(t, at, files, names) }, nil
}

// runFiles runs each file as the process that it is, four at a time.
func runFiles(t *testing.T, at place, files, names []string) stand.Outcomes {
	t.Helper()
	outcomes := stand.Outcomes{}
	var mu sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, 4)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".js")
		if names != nil && !slices.Contains(names, name) {
			continue
		}
		free <- struct{}{}
		running.Go(func() {
			defer func() { <-free }()
			o := runFile(t, at, file)
			mu.Lock()
			defer mu.Unlock()
			outcomes[name] = o
		})
	}
	running.Wait()
	return outcomes
}

// runFile runs a file. A shell prints the exit status, which Command ignores.
func runFile(t *testing.T, at place, file string) stand.Outcome {
	out := string(stand.Command{
		Args:  []string{"sh", "-c", `node "$0" 2>&1; echo "exit status $?"`, file},
		Limit: time.Minute,
		Env: append(at.fill(t, []string{
			"MYSQL_HOST={host}", "MYSQL_PORT={port}", "MYSQL_USER={user}", "MYSQL_PASSWORD={password}", "MYSQL_DATABASE={database}",
		}), nodePath(t), "CI=1"),
	}.Output(t))
	switch {
	case !strings.HasSuffix(out, "exit status 0\n"):
		return stand.Outcome{State: stand.Failed, Detail: errorLine(out)}
	case strings.HasPrefix(out, "skipping"):
		return stand.Outcome{State: stand.Skipped, Detail: out}
	}
	return stand.Outcome{State: stand.Passed}
}

// errorLine returns the first line of a trace that names an error.
func errorLine(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "Error") {
			return line
		}
	}
	return out
}
