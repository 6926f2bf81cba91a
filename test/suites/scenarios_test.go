package suites

import (
	"testing"
	"time"

	"locus/test/suites/stand"
)

// scenarios are cases of ours in a language other than JavaScript. A harness beside them, in test/suites/scenarios, runs them and writes a
// report of lines. The result of a case is what it returns, as JSON.
type scenarios struct {
	part   string   // the directory of test/install/suites.sh that is {source}
	args   []string // the interpreter, and its arguments before the file
	env    []string
	cases  string // the file of the cases that are compared; their tables are declared by comments, and so sharded at the proxy
	inShop string // the file of the cases that use the shop's tables
}

func (s scenarios) prepare(t *testing.T) (cases, inShop run) {
	t.Helper()
	return s.runs(t, s.cases), s.runs(t, s.inShop)
}

func (s scenarios) runs(t *testing.T, file string) run {
	t.Helper()
	cases, _ := program{
		part: s.part, limit: 10 * time.Minute, outcomes: ended, all: []string{},
		args: append(append([]string{}, s.args...), "{here}/"+file),
		env: append([]string{
			"SUITE_HOST={host}", "SUITE_PORT={port}", "SUITE_USER={user}", "SUITE_PASSWORD={password}", "SUITE_DATABASE={database}",
			"SUITE_ENGINE={engine}", "SUITE_REPORT={report}", "TZ=UTC",
		}, s.env...),
	}.prepare(t)
	return cases
}

// ended reads the report without its end, which must be there.
func ended(t *testing.T, out []byte, path string) stand.Outcomes {
	t.Helper()
	outcomes := steps(t, out, path)
	if outcomes["end"].State == stand.Passed {
		delete(outcomes, "end")
	}
	return outcomes
}
