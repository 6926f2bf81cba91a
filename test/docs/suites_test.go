package docs

import (
	"fmt"
	"strings"
	"testing"
)

// The document states the right number of cases of MariaDB's suite.
func TestTheCasesThatPassAreCounted(t *testing.T) {
	counts := map[string]int{}
	for line := range strings.Lines(read(t, "test/suites/mtr/cases.txt")) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for _, column := range strings.Split(strings.TrimSpace(line), "\t")[1:] {
			engine, protocols, _ := strings.Cut(column, ":")
			for _, protocol := range strings.Fields(protocols) {
				counts[engine+" "+protocol]++
			}
		}
	}
	for _, r := range tableOf(t, read(t, compatibilityDocument), "engine", "text", "prepared", "with cursors") {
		engine := strings.ToLower(strings.Fields(r["engine"])[0])
		for head, protocol := range map[string]string{"text": "text", "prepared": "ps", "with cursors": "cursor"} {
			if got, want := r[head], fmt.Sprint(counts[engine+" "+protocol]); got != want {
				t.Errorf("%s, %s: the document says %s, cases.txt has %s", r["engine"], head, got, want)
			}
		}
	}
}
