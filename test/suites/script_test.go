package suites

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"locus/test/suites/stand"
)

// script is cases in JavaScript with clients from npm: node/package.json lists the clients, and node/harness.js runs the cases. The result
// of a case is what it returns, in JSON that distinguishes the types of JavaScript.
type script struct {
	cases  string
	inShop string // cases that use the shop's tables; none: there are no such cases
}

func (s script) prepare(*testing.T) (cases, inShop run) {
	if s.inShop != "" {
		inShop = runScript(s.inShop)
	}
	return runScript(s.cases), inShop
}

func runScript(file string) run {
	return func(t *testing.T, at place, names []string) stand.Outcomes {
		t.Helper()
		results := filepath.Join(t.TempDir(), "results")
		stand.Command{
			Args:  append([]string{"node", file}, names...),
			Limit: 5 * time.Minute,
			Env: append(at.fill(t, []string{
				"SUITE_HOST={host}", "SUITE_PORT={port}", "SUITE_USER={user}", "SUITE_PASSWORD={password}", "SUITE_DATABASE={database}",
			}), nodePath(t), fmt.Sprintf("SUITE_TLS=%t", at.TLS), "SUITE_ENGINE="+string(at.engine), "SUITE_RESULTS="+results, "TZ=UTC"),
		}.Output(t)
		lines, err := os.ReadFile(results)
		if err != nil {
			t.Fatalf("%s reports no case: %v", file, err)
		}
		return readScript(t, lines)
	}
}

// nodePath is the variable by which Node.js finds the packages and harness.js.
func nodePath(t testing.TB) string {
	t.Helper()
	here, err := filepath.Abs("node")
	if err != nil {
		t.Fatal(err)
	}
	return "NODE_PATH=" + filepath.Join(stand.Installed(t, "node"), "node_modules") + ":" + here
}

// readScript reads the lines that harness.js writes.
func readScript(t *testing.T, lines []byte) stand.Outcomes {
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
			t.Errorf("two cases have the name %q", said.Name)
		}
		outcomes[said.Name] = stand.Outcome{State: said.State, Detail: said.Detail, Result: string(said.Result)}
	}
	return outcomes
}
