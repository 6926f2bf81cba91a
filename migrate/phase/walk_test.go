package phase_test

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"locus/internal/test/golden"
	"locus/migrate/phase"
)

const genes = 3

// events returns every possible event.
func events() []phase.Event {
	var all []phase.Event
	for _, kind := range phase.Kinds {
		switch kind {
		case phase.StepTaken, phase.CutTo, phase.RollBack:
			for n := range genes + 1 {
				for _, step := range []int{1, 2} {
					all = append(all, phase.Event{Kind: kind, Genes: n, Step: step})
				}
			}
		case phase.FailedWith, phase.Repaired:
			for rows := range 3 {
				all = append(all, phase.Event{Kind: kind, Why: "why", Remedy: "remedy", Rows: rows})
			}
		default:
			all = append(all, phase.Event{Kind: kind, Why: "why", Remedy: "remedy"})
		}
	}
	return all
}

// walk visits every state that any order of events leads to, with the states
// that each leads to.
func walk(t *testing.T, edge func(from phase.State, e phase.Event, to phase.State)) map[phase.State][]phase.State {
	t.Helper()
	first, err := phase.New(genes)
	if err != nil {
		t.Fatal(err)
	}
	all := events()
	seen := map[phase.State][]phase.State{first: nil}
	for queue := []phase.State{first}; len(queue) > 0; queue = queue[1:] {
		from := queue[0]
		for _, e := range all {
			to, err := from.On(e)
			if err != nil {
				if to != from {
					t.Fatalf("%+v changes by %+v, which it refuses: %v", from, e, err)
				}
				continue
			}
			to.Failures = 0 // counts without end
			edge(from, e, to)
			seen[from] = append(seen[from], to)
			if _, known := seen[to]; !known {
				seen[to] = nil
				queue = append(queue, to)
			}
		}
	}
	return seen
}

// TestEveryStateAndEdge visits all states. Each must satisfy the invariants, and the transitions between phases must be those
// in testdata/edges.txt.
func TestEveryStateAndEdge(t *testing.T) {
	edges := map[string]bool{}
	states := walk(t, func(from phase.State, e phase.Event, to phase.State) {
		if err := to.Check(); err != nil {
			t.Fatalf("%+v by %+v to %+v: %v", from, e, to, err)
		}
		if to.Cut != from.Cut && e.Kind != phase.StepTaken {
			t.Fatalf("%s moves genes: %+v to %+v", e.Kind, from, to)
		}
		if from.Repairing && !to.Repairing && to.Phase != phase.Failed && to.Verified {
			t.Fatalf("rows were changed, and count as compared: %+v by %+v to %+v", from, e, to)
		}
		if to.Cut > from.Cut && (!from.Announced || !from.Copied) {
			t.Fatalf("genes go to a target that has no copy: %+v to %+v", from, to)
		}
		edges[fmt.Sprintf("%-13s %-15s %s", from.Shown(), e.Kind, to.Shown())] = true
	})
	var lines []string
	for line := range edges {
		lines = append(lines, line)
	}
	slices.Sort(lines)
	got := strings.Join(lines, "\n") + "\n"
	const file = "testdata/edges.txt"
	golden.Update(t, file, got)
	want, err := os.ReadFile(file)
	if err != nil || got != string(want) {
		t.Errorf("the edges are not those of %s (%v); -update writes it:\n%s", file, err, got)
	}
	t.Logf("%d states, %d kinds of edges", len(states), len(edges))
}

// TestEveryJobCanEnd: from every state some events lead to the end, without one
// that only an accident brings.
func TestEveryJobCanEnd(t *testing.T) {
	states := walk(t, func(phase.State, phase.Event, phase.State) {})
	ends := map[phase.State]bool{}
	for changed := true; changed; {
		changed = false
		for from, to := range states {
			if ends[from] || !(from.Over() || slices.ContainsFunc(to, func(s phase.State) bool { return ends[s] })) {
				continue
			}
			ends[from], changed = true, true
		}
	}
	for s := range states {
		if !ends[s] {
			t.Errorf("no way out of %+v", s)
		}
	}
}

// TestWhatIsDoneCanBeTold: for every action that a state requests, the state accepts the event of its outcome.
func TestWhatIsDoneCanBeTold(t *testing.T) {
	outcome := map[phase.Action]phase.Kind{
		phase.Announce: phase.Announced, phase.Copy: phase.Copied, phase.CatchUp: phase.CaughtUp, phase.Verify: phase.Verified,
		phase.Keep: phase.Differs, phase.Advance: phase.StepTaken, phase.Retreat: phase.StepTaken,
		phase.Retire: phase.Retired, phase.Withdraw: phase.Withdrawn, phase.Repair: phase.Repaired,
	}
	for s := range walk(t, func(phase.State, phase.Event, phase.State) {}) {
		action, n := s.Next()
		if s.Over() != (action == phase.Nothing) {
			t.Errorf("%+v: %s", s, action)
		}
		if action == phase.Wait && s.Phase != phase.Failed && !s.Paused {
			t.Errorf("%+v waits for nobody", s)
		}
		kind, told := outcome[action]
		if !told {
			continue
		}
		if _, err := s.On(phase.Event{Kind: kind, Genes: n, Step: 1}); err != nil {
			t.Errorf("%+v: after %s: %v", s, action, err)
		}
		if forward, _ := s.Streams(); action == phase.Keep && !forward {
			t.Errorf("%+v keeps no stream", s)
		}
		if (action == phase.Advance && n <= s.Cut) || (action == phase.Retreat && n >= s.Cut) {
			t.Errorf("%+v: %s to %d", s, action, n)
		}
	}
}

func TestPercentages(t *testing.T) {
	for _, test := range []struct {
		total   int
		percent float64
		want    int
	}{
		{100, 5, 5}, {100, 0, 0}, {100, 100, 100}, {3, 1, 1}, {3, 50, 2}, {3, 99.9, 2}, {1, 50, 0}, {1, 100, 1}, {16384, 5, 820}, {7, 200, 7},
	} {
		s, err := phase.New(test.total)
		if err != nil {
			t.Fatal(err)
		}
		if got := s.Genes(test.percent); got != test.want {
			t.Errorf("%v %% of %d genes are %d, want %d", test.percent, test.total, got, test.want)
		}
	}
}
