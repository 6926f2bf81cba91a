package job_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"locus/migrate/job"
	"locus/migrate/phase"
)

func step(from, to int, at string) job.Handed {
	return job.Handed{From: from, To: to, Bounds: map[string]job.HandedAt{"split-1": {Source: at, Target: at + "t"}}}
}

// A record keeps the steps that some stream has not passed. They must form a sequence that ends at the record's
// state.
func TestHandedSteps(t *testing.T) {
	j := planned(t)
	j.State.Phase, j.State.Announced, j.State.Copied, j.State.Reversible, j.State.Verified = phase.Cutting, true, true, true, true
	j.State.Wanted, j.State.Step = j.State.Total, 1
	passed := func(at ...string) func(job.Handed) bool {
		return func(h job.Handed) bool { return strings.Contains(strings.Join(at, " "), h.Bounds["split-1"].Source) }
	}
	for n, one := range []struct {
		step   job.Handed
		passed []string
		left   int
	}{
		{step(0, 10, "a"), nil, 1},
		{step(10, 30, "b"), nil, 2},
		{step(30, 20, "c"), []string{"b"}, 3}, // a later one that is passed stays behind one that is not
		{step(20, 40, "d"), []string{"a", "b"}, 2},
	} {
		j = j.Handing(one.step, passed(one.passed...))
		if j.State.Cut = one.step.To; len(j.Handed) != one.left {
			t.Errorf("step %d: %d are kept, want %d", n, len(j.Handed), one.left)
		}
		if err := j.Check(); err != nil {
			t.Errorf("step %d: %v", n, err)
		}
	}
	text, err := json.Marshal(j)
	if err != nil {
		t.Fatal(err)
	}
	again := new(job.Job)
	if err := json.Unmarshal(text, again); err != nil || !reflect.DeepEqual(again.Handed, j.Handed) {
		t.Errorf("read %+v (%v), written %+v", again.Handed, err, j.Handed)
	}
	for _, wrong := range [][]job.Handed{{step(0, 10, "a")}, {step(0, 10, "a"), step(20, 40, "b")}, {step(40, 40, "a")}, {step(-1, 40, "a")}} {
		bad := *j
		if bad.Handed = wrong; bad.Check() == nil {
			t.Errorf("%+v is accepted", wrong)
		}
	}
}
