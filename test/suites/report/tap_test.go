package report

import (
	"strings"
	"testing"

	"locus/test/suites/stand"
)

func TestTAP(t *testing.T) {
	got := TAP([]byte(`1..5
ok 1 - connecting
not ok 2 - select on port=3306
#   Failed test
ok 3 # SKIP not this server
not ok 4 - later # TODO some day
ok 5
`))
	want := map[string]stand.State{
		"1": stand.Passed, "2": stand.Failed, "3": stand.Skipped, "4": stand.Skipped, "5": stand.Passed, "whole": stand.Passed,
	}
	for name, state := range want {
		if got[name].State != state {
			t.Errorf("%s: %v, want %s", name, got[name], state)
		}
	}
	if len(got) != len(want) || !strings.Contains(got["2"].Detail, "select on port=3306\n#   Failed test") {
		t.Errorf("cases %v", got)
	}
}

func TestTAPThatEndsTooSoon(t *testing.T) {
	for out, want := range map[string]stand.State{
		"1..2\nok 1\nok 2\n": stand.Passed, "1..2\nok 1\ndied\n": stand.Failed, "ok 1\n": stand.Failed,
		"ok 1\n1..1\n": stand.Passed, "1..0 # skip no such plugin\n": stand.Skipped, "": stand.Failed,
	} {
		if got := TAP([]byte(out))["whole"].State; got != want {
			t.Errorf("%q: %s, want %s", out, got, want)
		}
	}
}
