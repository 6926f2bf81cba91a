package stand

import (
	"fmt"
	"maps"
	"slices"
)

// State is what became of a case.
type State string

const (
	Passed  State = "passed"
	Failed  State = "failed"
	Skipped State = "skipped"
)

// Outcome is a case's state, and what the suite said of it.
type Outcome struct {
	State  State
	Detail string
	// Result is what a case that passed found, in a form that is the same at
	// both ends; empty where the suite itself judges it.
	Result string
}

// same tells whether two outcomes are as good as each other.
func (o Outcome) same(p Outcome) bool { return o.State == p.State && o.Result == p.Result }

// Outcomes are a run's, by the case's name.
type Outcomes map[string]Outcome

// With are the names of the cases in that state, sorted.
func (o Outcomes) With(s State) []string {
	var names []string
	for _, name := range slices.Sorted(maps.Keys(o)) {
		if o[name].State == s {
			names = append(names, name)
		}
	}
	return names
}

// String counts them.
func (o Outcomes) String() string {
	return fmt.Sprintf("%d cases: %d passed, %d failed, %d skipped", len(o), len(o.With(Passed)), len(o.With(Failed)), len(o.With(Skipped)))
}
