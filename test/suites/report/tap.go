package report

import (
	"bufio"
	"bytes"
	"fmt"
	"regexp"
	"strings"

	"locus/test/suites/stand"
)

var (
	tapPlan   = regexp.MustCompile(`^1\.\.(\d+)(?:\s*#\s*(?i:skip)\S*\s*(.*))?$`)
	tapResult = regexp.MustCompile(`^(not )?ok\b\s*(\d*)\s*(?:- )?(.*?)(?:\s*#\s*((?i:skip|todo))\b(.*))?$`)
)

// TAP reads one program's output of the Test Anything Protocol. A case's name is its number: descriptions contain numbers of connections
// and errors. The program itself is the case "whole", which passed if the program reached the end of its plan.
func TAP(out []byte) stand.Outcomes {
	outcomes := stand.Outcomes{}
	planned, ran := -1, 0
	var last string
	var skipped *stand.Outcome
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		line := lines.Text()
		if m := tapPlan.FindStringSubmatch(line); m != nil {
			_, _ = fmt.Sscan(m[1], &planned)
			if planned == 0 {
				skipped = &stand.Outcome{State: stand.Skipped, Detail: m[2]}
			}
			continue
		}
		m := tapResult.FindStringSubmatch(line)
		if m == nil {
			if o, ok := outcomes[last]; ok && o.State == stand.Failed { // the description of the failure
				o.Detail += line + "\n"
				outcomes[last] = o
			}
			continue
		}
		ran++
		last = fmt.Sprint(ran)
		outcomes[last] = stand.Outcome{State: tapState(m[1] != "", strings.ToLower(m[4])), Detail: m[3] + m[5] + "\n"}
	}
	switch {
	case skipped != nil:
		outcomes["whole"] = *skipped
	case planned == ran:
		outcomes["whole"] = stand.Outcome{State: stand.Passed}
	default:
		outcomes["whole"] = stand.Outcome{State: stand.Failed, Detail: fmt.Sprintf("%d of %d tests ran: %s", ran, planned, tail(out))}
	}
	return outcomes
}

func tapState(not bool, directive string) stand.State {
	switch {
	case directive != "": // a case marked TODO may fail
		return stand.Skipped
	case not:
		return stand.Failed
	}
	return stand.Passed
}

func tail(out []byte) string {
	const most = 2000
	return string(out[max(0, len(out)-most):])
}
