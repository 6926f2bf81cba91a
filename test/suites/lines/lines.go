// Package lines reads reports with a line for each case: its state, a tab, its
// name, a tab, and what was said of it with newlines as \n. Runners write them
// whose own output can't be taken apart.
package lines

import (
	"os"
	"strings"
	"testing"

	"locus/test/suites/stand"
)

// Read reads a report; Prefix is cut off the names. A report that isn't there
// fails the test: the runner came to no end.
func Read(t testing.TB, path, prefix string) stand.Outcomes {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("no report of the suite: %v", err)
	}
	return parse(string(text), prefix)
}

// parse takes a case that is named twice as failed if it failed once: its
// cleaning up may have.
func parse(text, prefix string) stand.Outcomes {
	outcomes := stand.Outcomes{}
	for line := range strings.Lines(text) {
		field := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(field) < 3 {
			continue // the last, of a runner that was ended
		}
		name := strings.TrimPrefix(field[1], prefix)
		if outcomes[name].State == stand.Failed {
			continue
		}
		outcomes[name] = stand.Outcome{State: stand.State(field[0]), Detail: strings.ReplaceAll(field[2], `\n`, "\n")}
	}
	return outcomes
}
