package jobs

import (
	"slices"
	"strings"
	"time"

	"locus/control/events"
	"locus/migrate/job"
	"locus/migrate/phase"
)

// eventsOf returns the events of a new version of a job: one for each line that its journal didn't have before. A nil before means that the job is
// new.
func eventsOf(before, next *job.Job) []events.Event {
	if before == next {
		return nil
	}
	var journal []job.Entry
	if before != nil {
		journal = before.Journal
	}
	lines := added(journal, next.Journal)
	list := make([]events.Event, len(lines))
	for i, line := range lines {
		list[i] = events.Event{
			At: line.At, Kind: events.Job, Subject: "job " + next.ID, What: line.What, By: line.By,
			Took: since(next.Journal[:len(next.Journal)-len(lines)+i], line),
		}
	}
	if n := len(list); n > 0 && next.State.Shown() == phase.Failed && (before == nil || before.State.Shown() != phase.Failed) {
		list[n-1].Failed = true
	}
	return list
}

// added returns the lines at the end of a journal that an earlier version did not have. A journal is cut in the middle, never at its end.
func added(before, next []job.Entry) []job.Entry {
	if len(before) == 0 {
		return next
	}
	last := before[len(before)-1]
	for i, line := range slices.Backward(next) {
		if line.What == last.What && line.By == last.By && line.At.Equal(last.At) {
			return next[i+1:]
		}
	}
	return nil
}

// arrow separates what happened from the phase that it led to, in a line of a journal.
const arrow = " → "

// since returns how long the phase lasted that a line ends, or 0 if it ends none.
func since(earlier []job.Entry, line job.Entry) time.Duration {
	if !strings.Contains(line.What, arrow) || len(earlier) == 0 {
		return 0
	}
	began := earlier[0]
	for _, one := range slices.Backward(earlier) {
		if strings.Contains(one.What, arrow) {
			began = one
			break
		}
	}
	return line.At.Sub(began.At)
}
