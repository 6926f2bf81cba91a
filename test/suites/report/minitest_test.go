package report

import (
	"maps"
	"testing"

	"locus/test/suites/stand"
)

func TestMinitest(t *testing.T) {
	got := Minitest([]byte(`Running:
BaseTest#test_find = 0.01 s = .
BaseTest#test_lost = 1.20 s = F
BaseTest#test_raises_an error = 0.00 s = E
ViewTest#test_later = 0.00 s = S

  1) Failure:
BaseTest#test_lost [test/cases/base_test.rb:12]:
Expected: 1
  Actual: 2

`))
	want := stand.Outcomes{
		"BaseTest#test_find":            {State: stand.Passed},
		"BaseTest#test_lost":            {State: stand.Failed, Detail: "Expected: 1\n  Actual: 2"},
		"BaseTest#test_raises_an error": {State: stand.Failed},
		"ViewTest#test_later":           {State: stand.Skipped},
	}
	if !maps.Equal(got, want) {
		t.Errorf("outcomes %v, want %v", map[string]stand.Outcome(got), map[string]stand.Outcome(want))
	}
}
