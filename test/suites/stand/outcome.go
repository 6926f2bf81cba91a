package stand

import (
	"fmt"
	"maps"
	"slices"
)

// State is the state of a case after its run.
type State string

const (
	Passed  State = "passed"
	Failed  State = "failed"
	Skipped State = "skipped"
)

// Outcome is a case's state, and the suite's message about it.
type Outcome struct {
	State  State
	Detail string
	// Result is the result of a case that passed, in a form that must be equal at both ends. It is empty if the
	// suite itself checks the result.
	Result string
}

// same reports whether two outcomes are equal.
func (o Outcome) same(p Outcome) bool { return o.State == p.State && o.Result == p.Result }

// Outcomes are a run's, by the case's name.
type Outcomes map[string]Outcome

// With returns the names of the cases in a state, sorted.
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
