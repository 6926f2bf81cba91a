package watch

import (
	"context"
	"maps"
	"slices"
	"time"

	"locus/migrate/job"
	"locus/proxy/mirror"
)

// Source returns records and reports.
type Source interface {
	// Jobs returns all jobs, oldest first.
	Jobs(context.Context) ([]*job.Job, error)
	// Reports returns the jobs' reports by ID.
	Reports(context.Context) (map[string]job.Report, error)
}

// Seen is a job with an earlier report for computing rates.
type Seen struct {
	Job     *job.Job
	Earlier job.Report // the previous report; its time is zero if there is none
	Report  job.Report
	// Mirror is the result of mirrored reads of all proxies.
	Mirror mirror.Report
}

// Watcher keeps the reports of the last seconds, since a rate needs two.
type Watcher struct {
	Source Source
	Only   string // the one job to watch; empty for all that aren't over
	Past   int    // number of past jobs to include, the latest ones
	// Mirrored returns the results of mirrored reads, by job and proxy. It is called if reads of a job are mirrored. It may be nil.
	Mirrored func(context.Context) (map[string]map[string]mirror.Report, error)

	reports map[string][]job.Report
}

// span is the interval between the two reports of a rate, if available.
const span = 5 * time.Second

// Look reads the jobs. going reports whether at least one of them has not ended.
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

// mirrored adds the results of mirrored reads.
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

// earlier stores a report and returns one from some seconds before.
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
