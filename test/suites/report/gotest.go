package report

import (
	"bytes"
	"encoding/json"
	"strings"

	"locus/test/suites/stand"
)

// event is the record that `go doc cmd/test2json` describes.
type event struct {
	Action, Package, Test, Output string
}

// GoTest reads the output of go test -json. It ignores lines of another form, such as the output of the build. If a test has
// subtests, only the subtests are cases.
func GoTest(out []byte) stand.Outcomes {
	outcomes, said := stand.Outcomes{}, map[string]*strings.Builder{}
	for line := range bytes.Lines(out) {
		var e event
		if json.Unmarshal(line, &e) != nil || e.Test == "" {
			continue
		}
		if said[e.Test] == nil {
			said[e.Test] = &strings.Builder{}
		}
		switch e.Action {
		case "output":
			said[e.Test].WriteString(e.Output)
		case "pass":
			outcomes[e.Test] = stand.Outcome{State: stand.Passed}
		case "skip":
			outcomes[e.Test] = stand.Outcome{State: stand.Skipped, Detail: said[e.Test].String()}
		case "fail":
			outcomes[e.Test] = stand.Outcome{State: stand.Failed, Detail: said[e.Test].String()}
		case "run":
			// It stays if the program dies.
			outcomes[e.Test] = stand.Outcome{State: stand.Failed, Detail: "did not end"}
		}
	}
	return leaves(outcomes)
}

// leaves removes a test that has subtests, unless it failed and none of them did.
func leaves(all stand.Outcomes) stand.Outcomes {
	parent, failed := map[string]bool{}, map[string]bool{}
	for name, o := range all {
		for i := strings.LastIndexByte(name, '/'); i > 0; i = strings.LastIndexByte(name[:i], '/') {
			parent[name[:i]] = true
			failed[name[:i]] = failed[name[:i]] || o.State == stand.Failed
		}
	}
	out := stand.Outcomes{}
	for name, o := range all {
		if !parent[name] || (o.State == stand.Failed && !failed[name]) {
			out[name] = o
		}
	}
	return out
}
