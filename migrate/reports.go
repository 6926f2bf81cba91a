package migrate

import (
	"context"
	"sync"
	"time"

	"locus/migrate/job"
)

// reportEvery is between two reports.
const reportEvery = 500 * time.Millisecond

// say changes the report.
func (d *drive) say(change func(*job.Report)) {
	d.mu.Lock()
	defer d.mu.Unlock()
	change(&d.report)
}

// follow has the report follow something that is under way, until it is told to
// stop.
func (d *drive) follow(ctx context.Context, look func(*job.Report)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var following sync.WaitGroup
	following.Go(func() {
		for {
			d.say(look)
			if pause(ctx, reportEvery) != nil {
				d.say(look)
				return
			}
		}
	})
	return func() {
		cancel()
		following.Wait()
	}
}

// streamed is what reports read of the streams.
func (d *drive) streamed(r *job.Report, forward, back *stream, now time.Time) {
	if forward != nil {
		p := forward.Progress()
		r.Changes, r.Conflicts, r.LagMs = p.Changes, p.Conflicts, forward.lag(now).Milliseconds()
	}
	r.BackLagMs = 0
	if back != nil {
		r.BackLagMs = back.lag(now).Milliseconds()
		r.Conflicts += back.Progress().Conflicts
	}
}

// reports writes the report for others, until it is told to stop.
func (d *drive) reports(ctx context.Context) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var reporting sync.WaitGroup
	reporting.Go(func() {
		for {
			d.mu.Lock()
			forward, back := d.shown.forward, d.shown.back
			d.report.At = time.Now().UTC().Round(time.Millisecond)
			d.streamed(&d.report, forward, back, d.report.At)
			report := d.report
			d.mu.Unlock()
			if err := d.Store.Report(ctx, report); err != nil && ctx.Err() == nil {
				d.Log.Debug("report a job", "job", d.id, "error", err)
			}
			if pause(ctx, reportEvery) != nil {
				return
			}
		}
	})
	return func() {
		cancel()
		reporting.Wait()
	}
}

// show has the reports see the streams that run.
func (d *drive) show() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.shown.forward, d.shown.back = d.forward, d.back
}
