package migrate

import (
	"strings"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/migrate/phase"
)

func TestWhatGotWorse(t *testing.T) {
	limits := Times{}.withDefaults()
	before := figures{Conflicts: 2, Lag: time.Millisecond}
	usual := job.Tally{Failed: 20, Times: []job.Times{{UpTo: 5 * time.Millisecond, Count: 1000}}} // 2 % fail, p99 is 5 ms
	fared := func(failed, fast, slow uint64) figures {
		times := []job.Times{{UpTo: 5 * time.Millisecond, Count: fast}, {UpTo: time.Second, Count: slow}}
		return figures{Conflicts: 2, Fared: job.Outcomes{Target: job.Tally{Failed: failed, Times: times}}}
	}
	for _, test := range []struct {
		now, before figures
		want        string
	}{
		{before, before, ""},
		{figures{Conflicts: 2, Lag: limits.Lag, Back: limits.Lag, Held: limits.Held}, before, ""},
		{figures{Conflicts: 3}, before, "1 rows were refused"},
		{figures{Conflicts: 2, Lag: limits.Lag + 1}, before, "to the target"},
		{figures{Conflicts: 2, Back: limits.Lag + 1}, before, "back to the source"},
		{figures{Conflicts: 2, Held: limits.Held + 1}, before, "paused statements"},
		{figures{Conflicts: 2, Running: 65}, before, "65 statements run at the target"},
		{figures{Conflicts: 2, Running: 65}, figures{Conflicts: 2, Running: 70}, ""},
		{fared(3, 100, 0), before, ""}, // 3 % of them fail
		{fared(4, 100, 0), before, ""}, // may be chance
		{fared(5, 100, 0), before, "5 of 100 statements on the moved genes failed"},
		{fared(5, 100, 0), fared(5, 0, 0), ""}, // before the last step
		{fared(50, 2000, 0), before, ""},
		{fared(0, 2000, 5), before, ""}, // not more than 1 %
		{fared(0, 400, 4), before, ""},
		{fared(0, 400, 5), before, "5 of 405 statements on the moved genes took longer than 30ms"},
		{fared(0, 0, 5), before, "took longer"}, // no statement succeeds
		// An operator has seen these metrics and continues.
		{figures{Conflicts: 3, Held: time.Hour}, figures{Conflicts: 3, Held: time.Hour}, ""},
	} {
		got := test.now.worse(test.before, usual, limits, Limits{}.withDefaults())
		if (got == "") != (test.want == "") || !strings.Contains(got, test.want) {
			t.Errorf("%+v after %+v: %q, want %q", test.now, test.before, got, test.want)
		}
	}
}

// The record accepts the event of a breach, and the job is then in the state that the operator has chosen.
func TestOnBreach(t *testing.T) {
	for _, test := range []struct {
		on     job.Breach
		cut    int
		shown  phase.Phase
		wanted int
		next   phase.Action
	}{
		{job.PauseThen, 40, phase.Paused, 100, phase.Keep},
		{job.StepBack, 40, phase.RollingBack, 20, phase.Retreat},
		{job.StepBack, 20, phase.RollingBack, 0, phase.Retreat},
		{job.StepBack, 0, phase.Paused, 100, phase.Keep},
		{job.BackToNil, 60, phase.RollingBack, 0, phase.Retreat},
	} {
		genes := gene.NewSet(gene.Range{First: 0, Last: 99})
		j, err := job.New("split-1", job.Split, "s0", "s1", 16, genes, "anna", "", time.Now())
		if err != nil {
			t.Fatal(err)
		}
		events := []phase.Event{{Kind: phase.Announced}, {Kind: phase.Copied}, {Kind: phase.CaughtUp}, {Kind: phase.Verified}, {Kind: phase.CutTo, Genes: 100, Step: 20}}
		for cut := 20; cut <= test.cut; cut += 20 {
			events = append(events, phase.Event{Kind: phase.StepTaken, Genes: cut})
		}
		for _, e := range events {
			if j, err = j.On(e, "p", "", time.Now()); err != nil {
				t.Fatal(err)
			}
		}
		j.OnBreach = test.on
		next, err := j.On(*onBreach(j, "it got worse"), "p", "", time.Now())
		if err != nil {
			t.Errorf("%s at %d: %v", test.on, test.cut, err)
			continue
		}
		action, _ := next.State.Next()
		if next.State.Shown() != test.shown || next.State.Wanted != test.wanted || action != test.next {
			t.Errorf("%s at %d: %s to %d, then %s", test.on, test.cut, next.State.Shown(), next.State.Wanted, action)
		}
		if last := next.Journal[len(next.Journal)-1].What; !strings.Contains(last, "it got worse") {
			t.Errorf("journal: %s", last)
		}
	}
}
