package job

import (
	"slices"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/migrate/phase"
)

// TestNext: a job that waits for an operator lists commands, and it accepts each of them. A job that works
// lists none.
func TestNext(t *testing.T) {
	on := func(kinds ...phase.Kind) (events []phase.Event) {
		for _, k := range kinds {
			events = append(events, phase.Event{Kind: k})
		}
		return events
	}
	ready := on(phase.Announced, phase.Copied, phase.CaughtUp, phase.Verified)
	to := func(genes, step int) []phase.Event {
		return slices.Concat(ready, []phase.Event{{Kind: phase.CutTo, Genes: genes, Step: step}})
	}
	taken := func(events []phase.Event, genes int) []phase.Event {
		return slices.Concat(events, []phase.Event{{Kind: phase.StepTaken, Genes: genes}})
	}
	const cutover = "locus cutover split-1 --to 100% --step 5% --every 1m"
	for name, test := range map[string]struct {
		events []phase.Event
		want   []string
		orders []Order // what the commands are
	}{
		"planned": {},
		"copying": {events: ready[:1]},
		"ready":   {ready, []string{cutover}, []Order{CutOver(100, 5, time.Minute, PauseThen)}},
		"cutting": {events: to(16, 1)},
		"half": {
			taken(to(8, 8), 8),
			[]string{cutover, "locus rollback split-1"}, []Order{CutOver(100, 5, time.Minute, PauseThen), Back(0, 100)},
		},
		"cut": {
			taken(to(16, 16), 16),
			[]string{"locus finish split-1", "locus rollback split-1"}, []Order{Just("finish", phase.Finish), Back(0, 100)},
		},
		"paused":     {slices.Concat(ready[:1], on(phase.Pause)), []string{"locus resume split-1"}, []Order{Just("resume", phase.Resume)}},
		"failed":     {slices.Concat(ready[:1], []phase.Event{{Kind: phase.FailedWith, Why: "x", Remedy: "y"}}), []string{"locus resume split-1"}, []Order{Just("resume", phase.Resume)}},
		"told so":    {events: slices.Concat(ready[:1], []phase.Event{{Kind: phase.FailedWith, Why: "x", Remedy: "y, then locus resume split-1"}})},
		"retiring":   {events: slices.Concat(taken(to(16, 16), 16), on(phase.Finish))},
		"going back": {events: slices.Concat(taken(to(16, 16), 16), []phase.Event{{Kind: phase.RollBack, Genes: 0, Step: 1}})},
		"aborting":   {events: slices.Concat(ready, on(phase.Abort))},
	} {
		t.Run(name, func(t *testing.T) {
			j := after(t, test.events)
			var got []string
			for _, next := range j.Next() {
				got = append(got, next.Command)
			}
			if !slices.Equal(got, test.want) {
				t.Errorf("%s: %q, want %q", j.State.Shown(), got, test.want)
			}
			for _, o := range test.orders {
				if _, err := j.Told(o, "anna", time.Now()); err != nil {
					t.Errorf("%s is refused: %v", o.Name, err)
				}
			}
		})
	}
}

func after(t *testing.T, events []phase.Event) *Job {
	t.Helper()
	genes, err := gene.ParseSet("0x4000-0x400f", gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	j, err := New("split-1", Split, "s0", "s2", gene.W16, genes, "anna", "", time.Now())
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if j, err = j.On(e, "anna", "", time.Now()); err != nil {
			t.Fatal(err)
		}
	}
	return j
}
