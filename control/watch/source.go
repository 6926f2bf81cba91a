package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"locus/migrate/job"
	"locus/proxy/mirror"
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
	// Mirror is what mirrored reads have shown, of all proxies.
	Mirror mirror.Report
}

// Watcher remembers the reports of the last seconds, since a rate takes two.
type Watcher struct {
	Source Source
	Only   string // the one job to watch; empty: all that aren't over
	Past   int    // and so many of those that are, the last ones
	// Mirrored is what mirrored reads have shown, by job and proxy. It is asked if reads of a job are mirrored. Nil: nobody is asked.
	Mirrored func(context.Context) (map[string]map[string]mirror.Report, error)

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
		list = append(list, Seen{Job: j, Earlier: w.earlier(j.ID, r), Report: r})
		going = going || !j.State.Over()
	}
	return list, going, w.mirrored(ctx, list)
}

// mirrored adds what mirrored reads have shown.
func (w *Watcher) mirrored(ctx context.Context, list []Seen) error {
	if w.Mirrored == nil || !slices.ContainsFunc(list, func(s Seen) bool { return s.Job.Mirror > 0 && !s.Job.State.Over() }) {
		return nil
	}
	all, err := w.Mirrored(ctx)
	if err != nil {
		return err
	}
	for i := range list {
		list[i].Mirror = mirror.SumReports(slices.Collect(maps.Values(all[list[i].Job.ID])))
	}
	return nil
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
