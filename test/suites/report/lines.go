package report

import (
	"os"
	"strings"
	"testing"

	"locus/test/suites/stand"
)

// Lines reads a file with a line for each case: its state, a tab, its name, a tab, and its message with newlines as \n. The prefix is cut
// off the names. A missing file fails the test: the runner did not end.
func Lines(t testing.TB, path, prefix string) stand.Outcomes {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Errorf("no report of the suite: %v", err)
	}
	return parseLines(string(text), prefix)
}

// parseLines counts a case with two lines as failed if either one is: the second line may be about its cleanup.
func parseLines(text, prefix string) stand.Outcomes {
	outcomes := stand.Outcomes{}
	for line := range strings.Lines(text) {
		field := strings.SplitN(strings.TrimSuffix(line, "\n"), "\t", 3)
		if len(field) < 3 {
			continue // the last line of a runner that was killed
		}
		name := strings.TrimPrefix(field[1], prefix)
		if outcomes[name].State == stand.Failed {
			continue
		}
		outcomes[name] = stand.Outcome{State: stand.State(field[0]), Detail: strings.ReplaceAll(field[2], `\n`, "\n")}
	}
	return outcomes
}
