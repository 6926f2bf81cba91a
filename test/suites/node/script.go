package node

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"locus/test/servers"
	"locus/test/suites/stand"
)

// Script is a file of cases, in the test's directory.
type Script struct {
	Path   string
	Engine servers.Engine
	Env    []string
	Limit  time.Duration
}

// Database is what scripts find, empty.
const Database = "suite"

// Run runs the cases of those names, or all, at an endpoint.
func (s Script) Run(t *testing.T, at stand.Endpoint, cases []string) stand.Outcomes {
	t.Helper()
	at.Database(t, Database)
	return s.In(t, at, Database, cases)
}

// In runs cases in a database that is there.
func (s Script) In(t *testing.T, at stand.Endpoint, database string, cases []string) stand.Outcomes {
	t.Helper()
	results := filepath.Join(t.TempDir(), "results")
	c := stand.Command{
		Args:  append([]string{"node", s.Path}, cases...),
		Limit: s.Limit,
		Env: append([]string{
			Path(t),
			"SUITE_HOST=" + at.Host, fmt.Sprintf("SUITE_PORT=%d", at.Port), "SUITE_USER=" + at.User,
			"SUITE_PASSWORD=" + at.Password, "SUITE_DATABASE=" + database, "SUITE_ENGINE=" + string(s.Engine),
			fmt.Sprintf("SUITE_TLS=%t", at.TLS), "SUITE_RESULTS=" + results, "TZ=UTC",
		}, s.Env...),
	}
	c.Output(t)
	lines, err := os.ReadFile(results)
	if err != nil {
		t.Fatalf("%s says nothing of any case: %v", s.Path, err)
	}
	return read(t, lines)
}

// Path is the setting by which Node.js finds the packages, and harness.js.
func Path(t testing.TB) string {
	t.Helper()
	return "NODE_PATH=" + filepath.Join(stand.Installed(t, "node"), "node_modules") + ":" + here()
}

// here is the directory of this package, where harness.js is.
func here() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Dir(file)
}

// read makes outcomes of the lines that harness.js writes.
func read(t *testing.T, lines []byte) stand.Outcomes {
	t.Helper()
	outcomes := stand.Outcomes{}
	for line := range bytes.Lines(lines) {
		var said struct {
			Name, Detail string
			State        stand.State
			Result       json.RawMessage
		}
		if err := json.Unmarshal(line, &said); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if _, twice := outcomes[said.Name]; twice {
			t.Errorf("two cases are named %q", said.Name)
		}
		outcomes[said.Name] = stand.Outcome{State: said.State, Detail: said.Detail, Result: string(said.Result)}
	}
	return outcomes
}
