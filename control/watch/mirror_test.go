package watch

import (
	"strings"
	"testing"
	"time"

	"locus/proxy/mirror"
)

// An unreachable target is shown with the time at which the first proxy noticed it.
func TestTheTargetOfAMirrorIsAway(t *testing.T) {
	j := split(t)
	j.Mirror = 10
	here := mirror.Report{Percent: 10, Counts: mirror.Counts{Sampled: 9, Unsent: 9}}
	first, later := here, here
	first.Away, first.AwaySince = "connection refused", began
	later.Away, later.AwaySince = "connection refused", began.Add(time.Minute)
	seen := Seen{Job: j, Mirror: mirror.SumReports([]mirror.Report{here, later, first})}
	for name, told := range map[string]string{"a card": Canvas{}.Draw(seen, began), "a line": Line(seen, began)} {
		if !strings.Contains(told, "unreachable since 05:06:07") || strings.Count(told, "connection refused") != 1 {
			t.Errorf("%s:\n%s", name, told)
		}
	}
	seen.Mirror = mirror.SumReports([]mirror.Report{here})
	if told := (Canvas{}).Draw(seen, began); strings.Contains(told, "unreachable") || !strings.Contains(told, "9 not sent") {
		t.Errorf("of a target that is there:\n%s", told)
	}
}
