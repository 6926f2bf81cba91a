package watch

import (
	"context"
	"slices"
	"time"

	"locus/migrate/job"
)

// Source is where records and reports are read.
type Source interface {
	// Jobs is all jobs, the oldest first.
	Jobs(context.Context) ([]*job.Job, error)
	// Reports is what is told of them, by their IDs.
	Reports(context.Context) (map[string]job.Report, error)
}

// Seen is a job as it was read, with an earlier report for the rates.
type Seen struct {
	Job     *job.Job
	Earlier job.Report // its time is zero if there is none
	Report  job.Report
}

// Watcher remembers the reports of the last seconds, since a rate takes two.
type Watcher struct {
	Source Source
	Only   string // the one job to watch; empty: all that aren't over
	Past   int    // and so many of those that are, the last ones

	reports map[string][]job.Report
}

// span is how far apart the two reports of a rate are, if there are such.
const span = 5 * time.Second

// Look reads the jobs. Going tells that one of them is not over.
func (w *Watcher) Look(ctx context.Context) (list []Seen, going bool, err error) {
	jobs, err := w.Source.Jobs(ctx)
	if err != nil {
		return nil, false, err
	}
	reports, err := w.Source.Reports(ctx)
	if err != nil {
		return nil, false, err
	}
	past := -w.Past
	for _, j := range jobs {
		if j.State.Over() {
			past++
		}
	}
	for _, j := range jobs {
		if j.State.Over() {
			past--
		}
		if w.Only != "" && j.ID != w.Only || w.Only == "" && j.State.Over() && w.reports[j.ID] == nil && past >= 0 {
			continue
		}
		r := reports[j.ID]
		list = append(list, Seen{j, w.earlier(j.ID, r), r})
		going = going || !j.State.Over()
	}
	return list, going, nil
}

// earlier notes a report, and gives one from some seconds before it.
func (w *Watcher) earlier(id string, r job.Report) job.Report {
	if w.reports == nil {
		w.reports = map[string][]job.Report{}
	}
	kept := w.reports[id]
	if len(kept) == 0 || r.At.After(kept[len(kept)-1].At) {
		kept = append(kept, r)
	}
	for len(kept) > 2 && r.At.Sub(kept[1].At) >= span {
		kept = slices.Delete(kept, 0, 1)
	}
	w.reports[id] = kept
	if kept[0].At.Equal(r.At) {
		return job.Report{}
	}
	return kept[0]
}
