package report

import (
	"regexp"
	"strings"

	"locus/test/suites/stand"
)

var (
	minitestLine   = regexp.MustCompile(`(?m)^(\S+#test_.*) = [\d.]+ s = ([.FES])$`)
	minitestDetail = regexp.MustCompile(`(?ms)^ +\d+\) (?:Failure|Error):\n(\S+#test_.*?)(?: \[[^\n]*)?:\n(.*?)\n\n`)
	minitestStates = map[string]stand.State{".": stand.Passed, "F": stand.Failed, "E": stand.Failed, "S": stand.Skipped}
)

// Minitest reads the verbose output of minitest, of Ruby.
func Minitest(out []byte) stand.Outcomes {
	outcomes := stand.Outcomes{}
	for _, m := range minitestLine.FindAllStringSubmatch(string(out), -1) {
		outcomes[m[1]] = stand.Outcome{State: minitestStates[m[2]]}
	}
	for _, m := range minitestDetail.FindAllStringSubmatch(string(out), -1) {
		if o, ok := outcomes[m[1]]; ok {
			o.Detail = strings.TrimSpace(m[2])
			outcomes[m[1]] = o
		}
	}
	return outcomes
}
