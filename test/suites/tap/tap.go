// Package tap runs Perl's tests, each file a program that speaks the Test
// Anything Protocol, and reads what they say.
//
// It owns the protocol and the names of cases, the file and the test's number.
// Descriptions are no names: they tell of connections' numbers and of errors. It
// never knows what is tested.
package tap

import (
	"bufio"
	"bytes"
	"fmt"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"locus/test/suites/stand"
)

// Tests are the files t/*.t of a distribution.
type Tests struct {
	Dir   string // the distribution
	Env   []string
	Limit time.Duration // for one file
}

// Run runs them one after the other.
func (p Tests) Run(t *testing.T) stand.Outcomes {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(p.Dir, "t", "*.t"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no tests in %s: %v", p.Dir, err)
	}
	outcomes := stand.Outcomes{}
	for _, path := range files {
		file := filepath.Base(path)
		out := stand.Command{
			Dir: p.Dir, Env: p.Env, Limit: p.Limit,
			Args: []string{"/usr/bin/perl", "-I.", "-It", "t/" + file},
		}.Output(t)
		for name, outcome := range parse(out) {
			outcomes[strings.TrimSuffix(file, ".t")+" "+name] = outcome
		}
	}
	return outcomes
}

var (
	plan   = regexp.MustCompile(`^1\.\.(\d+)(?:\s*#\s*(?i:skip)\S*\s*(.*))?$`)
	result = regexp.MustCompile(`^(not )?ok\b\s*(\d*)\s*(?:- )?(.*?)(?:\s*#\s*((?i:skip|todo))\b(.*))?$`)
)

// parse reads one program's output. The program itself is a case too, "whole":
// it is passed if it came to the end of its plan.
func parse(out []byte) stand.Outcomes {
	outcomes := stand.Outcomes{}
	planned, ran := -1, 0
	var last string
	var skipped *stand.Outcome
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, 1<<26)
	for lines.Scan() {
		line := lines.Text()
		if m := plan.FindStringSubmatch(line); m != nil {
			_, _ = fmt.Sscan(m[1], &planned)
			if planned == 0 {
				skipped = &stand.Outcome{State: stand.Skipped, Detail: m[2]}
			}
			continue
		}
		m := result.FindStringSubmatch(line)
		if m == nil {
			if o, ok := outcomes[last]; ok && o.State == stand.Failed { // what it says of the failure
				o.Detail += line + "\n"
				outcomes[last] = o
			}
			continue
		}
		ran++
		last = fmt.Sprint(ran)
		outcomes[last] = stand.Outcome{State: state(m[1] != "", strings.ToLower(m[4])), Detail: m[3] + m[5] + "\n"}
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

func state(not bool, directive string) stand.State {
	switch {
	case directive != "": // what is to be done may fail
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
