package migrate

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"locus/migrate/job"
)

// reportEvery is the interval between two reports.
const reportEvery = 500 * time.Millisecond

// reporter publishes a job's progress. Its methods may be called concurrently.
type reporter struct {
	store Store

	mu      sync.Mutex // guards the following fields
	report  job.Report
	running measured
}

// measured holds the running streams.
type measured struct{ forward, back []*stream }

func newReporter(store Store, runner, id string) *reporter {
	return &reporter{store: store, report: job.Report{ID: id, Runner: runner}}
}

// update changes the content of the next report.
func (p *reporter) update(change func(*job.Report)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	change(&p.report)
}

// trouble sets the reason why the job waits or retries; "" for none.
func (p *reporter) trouble(what string) { p.update(func(r *job.Report) { r.Trouble = what }) }

// measure sets the streams whose metrics the reports contain.
func (p *reporter) measure(l legs) {
	var m measured
	for _, one := range l {
		if st := one.streams.forward; st != nil {
			m.forward = append(m.forward, st)
		}
		if st := one.streams.back; st != nil {
			m.back = append(m.back, st)
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running = m
}

// held returns the time for which the last step paused statements.
func (p *reporter) held() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(p.report.LastFenceMs) * time.Millisecond
}

// follow updates the report repeatedly by look, until stop is called.
func (p *reporter) follow(ctx context.Context, look func(*job.Report)) (stop func()) {
	return every(ctx, func(context.Context) { p.update(look) }, func() { p.update(look) })
}

// run publishes the report repeatedly, until stop is called.
func (p *reporter) run(ctx context.Context, log *slog.Logger) (stop func()) {
	return every(ctx, func(ctx context.Context) {
		if err := p.store.Report(ctx, p.now()); err != nil && ctx.Err() == nil {
			log.Debug("report a job", "error", err)
		}
	}, func() {})
}

// now returns the current report.
func (p *reporter) now() job.Report {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := time.Now().UTC().Round(time.Millisecond)
	r := &p.report
	r.At = now
	if len(p.running.forward) > 0 {
		r.Changes, r.Conflicts, r.Strays, r.Overwritten, r.LagMs = 0, 0, 0, 0, 0
	}
	for _, st := range p.running.forward {
		f := st.Progress()
		r.Strays, r.Overwritten = r.Strays+f.Strays, r.Overwritten+f.Overwritten
		r.Changes, r.Conflicts, r.LagMs = r.Changes+f.Changes, r.Conflicts+f.Conflicts, max(r.LagMs, st.lag(now).Milliseconds())
	}
	r.BackLagMs = 0
	for _, st := range p.running.back {
		r.BackLagMs = max(r.BackLagMs, st.lag(now).Milliseconds())
		f := st.Progress()
		r.Conflicts, r.Overwritten = r.Conflicts+f.Conflicts, r.Overwritten+f.Overwritten
	}
	return *r
}

// every calls do at once and then every reportEvery, until stop is called. Stop waits for the running call and
// for last, which is called at the end.
func every(ctx context.Context, do func(context.Context), last func()) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() {
		defer last()
		for {
			do(ctx)
			if pause(ctx, reportEvery) != nil {
				return
			}
		}
	})
	return func() {
		cancel()
		running.Wait()
	}
}
