package migrate

import "testing"

func TestAProxyThatGoesDuringAStepIsMissed(t *testing.T) {
	before := map[string]int64{"a": 7, "b": 7}
	for _, c := range []struct {
		now  map[string]int64
		gone string
	}{
		{map[string]int64{"a": 8, "b": 8}, ""},
		{map[string]int64{"a": 8, "b": 8, "c": 0}, ""},
		{map[string]int64{"a": 8, "c": 8}, "b"},
		{nil, "any"},
	} {
		name, gone := anyGone(before, c.now)
		if gone != (c.gone != "") || gone && c.gone != "any" && name != c.gone {
			t.Errorf("of %v, now %v: %q is gone, %v; want %q", before, c.now, name, gone, c.gone)
		}
	}
}
