package job_test

import (
	"testing"

	"locus/migrate/job"
	"locus/migrate/phase"
)

func TestOrdersAreInTheJournal(t *testing.T) {
	j := planned(t)
	for _, e := range []phase.Kind{phase.Announced, phase.Copied, phase.CaughtUp, phase.Verified} {
		next, err := j.On(phase.Event{Kind: e}, "mover", "", noon)
		if err != nil {
			t.Fatal(err)
		}
		j = next
	}
	for _, step := range []struct {
		order job.Order
		want  string
		genes int
	}{
		{job.NextStep(10), "next step to 1639 of 16384 genes, by 16384 → cutting", 1639},
		{job.NextStep(100), "next step to 16384 of 16384 genes, by 16384", 16384},
		{job.Just("pause", phase.Pause), "pause → paused", 16384},
		{job.CutOver(100, 5, 0, job.StepBack), "cutover to 16384 of 16384 genes, by 820 → cutting", 16384},
	} {
		next, err := j.Told(step.order, "ann", noon)
		if err != nil {
			t.Fatal(err)
		}
		last := next.Journal[len(next.Journal)-1]
		if last.What != step.want || last.By != "ann" || next.State.Wanted != step.genes {
			t.Errorf("%q by %s, %d genes wanted; want %q, %d", last.What, last.By, next.State.Wanted, step.want, step.genes)
		}
		j = next
	}
	if j.OnBreach != job.StepBack {
		t.Errorf("on a breach: %s", j.OnBreach)
	}
	if _, err := j.Told(job.Back(0, 100), "ann", noon); err == nil {
		t.Error("nothing is at the target, and goes back")
	}
}
