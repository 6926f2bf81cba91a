package doctor

import (
	"context"
	"slices"
	"sync"
	"time"

	"locus/control/fleet"
	"locus/migrate/job"
	"locus/migrate/phase"
	"locus/proxy/meter"
)

// proxies looks whether they live, answer, obey and know what time it is.
func (e *examination) proxies(ctx context.Context) {
	if len(e.cards) == 0 {
		e.find("proxies", "etcd", "locus serve -c locus.yaml", "no proxy is registered: none runs, or none reaches etcd")
		e.users(ctx)
		return
	}
	e.versions()
	var asking sync.WaitGroup
	asking.Go(func() { e.answers(ctx) })
	asking.Go(func() { e.proxyClocks(ctx) })
	asking.Go(func() { e.servers(ctx) })
	asking.Go(func() { e.users(ctx) })
	asking.Wait()
}

func (e *examination) answers(ctx context.Context) {
	loads, err := fleet.Ask[meter.Load](ctx, e.KV, fleet.Load, patience)
	if err != nil {
		e.find("proxies", "etcd", "see etcd's log", "they can't be asked: %v", err)
		return
	}
	for _, c := range e.cards {
		if c.Answers && slices.Contains(loads.Silent, c.ID) {
			e.find("leases", c.ID, "look into its log and at its machine; locus proxies evict "+c.ID, "its lease is kept, and it has not answered for %v", patience)
		}
	}
}

func (e *examination) proxyClocks(ctx context.Context) {
	asked := e.Now()
	clocks, err := fleet.Ask[time.Time](ctx, e.KV, fleet.Clock, patience)
	if err != nil {
		return // which was said
	}
	answered := e.Now()
	for id, at := range clocks.By { // older builds don't know the question
		e.clock("proxy "+id, reading{at: at, asked: asked, answered: answered})
	}
}

// versions looks which version of the map each proxy obeys. For a moment after
// each change some are behind.
func (e *examination) versions() {
	current := e.Cluster.Routes.Version()
	for _, c := range e.cards {
		if c.MapVersion < current {
			e.mayPass("map versions", c.ID, "look into its log (is a declaration refused, or etcd away?); locus proxies evict "+c.ID,
				"it obeys version %d of the map, and %d is in force", c.MapVersion, current)
		}
	}
}

// unattended is how long a job may be without a report.
const unattended = 30 * time.Second

// moves looks at jobs that are under way.
func (e *examination) moves(ctx context.Context) {
	list, err := e.Jobs.Jobs(ctx)
	if err != nil {
		e.find("moves", "etcd", "see etcd's log", "they can't be read: %v", err)
		return
	}
	reports, err := e.Jobs.Reports(ctx)
	if err != nil {
		e.find("moves", "etcd", "see etcd's log", "their reports can't be read: %v", err)
		return
	}
	for _, j := range list {
		if !j.State.Over() {
			e.move(j, reports[j.ID])
		}
	}
}

func (e *examination) move(j *job.Job, r job.Report) {
	seen := j.Created
	if r.At.After(seen) {
		seen = r.At
	}
	switch {
	case j.State.Shown() == phase.Failed:
		e.find("moves", j.ID, j.State.Remedy+"; then locus resume, rollback or abort "+j.ID, "it has failed: %s", j.State.Why)
	case e.Now().Sub(seen) > unattended:
		e.find("moves", j.ID, "start a mover, or look at the one that ran it: locus jobs "+j.ID, "no process has reported on it for %v", e.Now().Sub(seen).Round(time.Second))
	case r.Trouble != "":
		e.find("moves", j.ID, "what it names; it is tried again by itself: locus jobs "+j.ID, "it can't go on: %s", r.Trouble)
	}
}
