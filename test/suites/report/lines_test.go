package report

import (
	"testing"

	"locus/test/suites/stand"
)

func TestLines(t *testing.T) {
	got := parseLines("passed\ta.b.C.one\t\nfailed\ta.b.C.two\tsaid\\nmore\npassed\ta.b.C.two\t\npassed\ta.b.C.one\t\nskipped\tother\twhy\nfail", "a.b.")
	want := stand.Outcomes{
		"C.one": {State: stand.Passed}, "C.two": {State: stand.Failed, Detail: "said\nmore"}, "other": {State: stand.Skipped, Detail: "why"},
	}
	for name, outcome := range want {
		if got[name] != outcome {
			t.Errorf("%s: %v, want %v", name, got[name], outcome)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d cases, want %d", len(got), len(want))
	}
}
