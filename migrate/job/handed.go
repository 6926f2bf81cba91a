package job

import (
	"fmt"
	"slices"
)

// Handed is a completed step. The record keeps the steps that a stream may not have passed yet.
type Handed struct {
	From   int                 `json:"from"` // the state's reach before the step
	To     int                 `json:"to"`   // the state's reach after the step
	Bounds map[string]HandedAt `json:"bounds"`
}

// HandedAt holds the log positions of both servers at which the rows of a leg changed hands.
type HandedAt struct {
	Source string `json:"source"`
	Target string `json:"target"`
}

// Handing returns the record with one more step, without the leading steps for which passed is true.
func (j *Job) Handing(h Handed, passed func(Handed) bool) *Job {
	next := *j
	next.Handed = append(slices.Clone(j.Unpassed(passed)), h)
	return &next
}

// Unpassed returns the steps without the leading ones for which passed is true.
func (j *Job) Unpassed(passed func(Handed) bool) []Handed {
	first := slices.IndexFunc(j.Handed, func(h Handed) bool { return !passed(h) })
	if first < 0 {
		return nil
	}
	return j.Handed[first:]
}

// checkHanded returns an error if the steps don't lead to the state.
func (j *Job) checkHanded() error {
	for i, h := range j.Handed {
		next := j.State.Cut
		if i+1 < len(j.Handed) {
			next = j.Handed[i+1].From
		}
		if h.To != next || h.From == h.To || min(h.From, h.To) < 0 || max(h.From, h.To) > j.State.Total {
			return fmt.Errorf("step %d handed over %d to %d, and %d comes next", i, h.From, h.To, next)
		}
	}
	return nil
}
