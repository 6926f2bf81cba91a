package report

import (
	"fmt"
	"maps"
	"strings"
	"testing"

	"locus/test/suites/stand"
)

func TestGoTest(t *testing.T) {
	var b strings.Builder
	say := func(action, test, output string) {
		fmt.Fprintf(&b, "{\"Action\":%q,\"Test\":%q,\"Output\":%q}\n", action, test, output)
	}
	for _, test := range []string{"TestA", "TestB", "TestB/x", "TestB/y", "TestC", "TestC/x", "TestD", "TestE"} {
		say("run", test, "")
	}
	b.WriteString("# not JSON\n")
	say("pass", "TestA", "")
	say("output", "TestB/x", "want 1")
	say("fail", "TestB/x", "")
	say("pass", "TestB/y", "")
	say("fail", "TestB", "")
	say("pass", "TestC/x", "")
	say("output", "TestC", "leak")
	say("fail", "TestC", "")
	say("skip", "TestD", "")
	got := GoTest([]byte(b.String()))
	want := stand.Outcomes{
		"TestA":   {State: stand.Passed},
		"TestB/x": {State: stand.Failed, Detail: "want 1"},
		"TestB/y": {State: stand.Passed},
		"TestC":   {State: stand.Failed, Detail: "leak"},
		"TestC/x": {State: stand.Passed},
		"TestD":   {State: stand.Skipped},
		"TestE":   {State: stand.Failed, Detail: "did not end"},
	}
	if !maps.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", map[string]stand.Outcome(got), map[string]stand.Outcome(want))
	}
}
