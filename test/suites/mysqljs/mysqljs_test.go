package mysqljs

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/node"
	"locus/test/suites/stand"
)

func TestMain(m *testing.M) { servers.Main(m) }

func TestSuite(t *testing.T) {
	baseline := stand.Start(t, servers.MariaDB).Direct
	servers.Mostly(t, servers.MariaDB, func(t *testing.T, engine servers.Engine) {
		s := stand.Start(t, engine)
		s.Direct = baseline
		s.Check(t, run)
	})
}

// run runs each file of tests as the process that it is.
func run(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
	at.Database(t, "test")
	dir := stand.Installed(t, "mysqljs")
	files, err := filepath.Glob(filepath.Join(dir, "test/integration/*/test-*.js"))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := stand.Outcomes{}
	var mu sync.Mutex
	var running sync.WaitGroup
	places := make(chan struct{}, 4)
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".js")
		if cases != nil && !slices.Contains(cases, name) {
			continue
		}
		places <- struct{}{}
		running.Go(func() {
			defer func() { <-places }()
			o := one(t, at, file)
			mu.Lock()
			defer mu.Unlock()
			outcomes[name] = o
		})
	}
	running.Wait()
	return outcomes
}

// one runs a file; a shell tells how it ended, for Command takes no notice.
func one(t *testing.T, at stand.Endpoint, file string) stand.Outcome {
	out := string(stand.Command{
		Args:  []string{"sh", "-c", `node "$0" 2>&1; echo "exit status $?"`, file},
		Limit: time.Minute,
		Env: []string{
			node.Path(t), "CI=1",
			"MYSQL_HOST=" + at.Host, fmt.Sprintf("MYSQL_PORT=%d", at.Port), "MYSQL_USER=" + at.User, "MYSQL_PASSWORD=" + at.Password, "MYSQL_DATABASE=test",
		},
	}.Output(t))
	switch {
	case !strings.HasSuffix(out, "exit status 0\n"):
		return stand.Outcome{State: stand.Failed, Detail: reason(out)}
	case strings.HasPrefix(out, "skipping"):
		return stand.Outcome{State: stand.Skipped, Detail: out}
	}
	return stand.Outcome{State: stand.Passed}
}

// reason is the line that tells what went wrong, of a long trace.
func reason(out string) string {
	for line := range strings.Lines(out) {
		if strings.Contains(line, "Error") {
			return line
		}
	}
	return out
}
