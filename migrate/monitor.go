package migrate

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
)

// monitor watches a rolling cut-over: it compares the current metrics with those after the last step. One
// goroutine uses it.
type monitor struct {
	job      string
	store    Store
	target   link.Server
	legs     legs
	verifier *verifier
	report   *reporter
	times    Times
	limits   Limits
	log      *slog.Logger

	stepped time.Time // time of the last step; zero if the next one need not wait
	before  figures   // the metrics after the last step
	waiting job.Tally // errors and latencies at the source when the job began to wait for a cut-over
	usual   job.Tally // errors and latencies at the source before the first step
}

// look returns the current metrics. A metric that can't be read keeps its value from before the step.
func (m *monitor) look(ctx context.Context) figures {
	now := time.Now()
	f := figures{Running: m.before.Running, Fared: m.before.Fared, Conflicts: m.legs.conflicts(), Held: m.report.held()}
	f.Lag, f.Back = m.legs.lag(now)
	if fared, err := m.store.Outcomes(ctx, m.job); err == nil {
		f.Fared, f.told = fared, true
	}
	if running, err := runningAt(ctx, m.target); err == nil {
		f.Running = running
	}
	return f
}

// runningAt returns the number of statements that run on a server.
func runningAt(ctx context.Context, at link.Server) (int, error) {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	rows, err := c.Query(ctx, "SHOW GLOBAL STATUS LIKE 'Threads_running'")
	if err != nil || len(rows) != 1 {
		return 0, fmt.Errorf("read the running statements of %s: %w", at.Addr, err)
	}
	return strconv.Atoi(string(rows[0][1]))
}

// stepTaken records the metrics after a step. The time for which the step paused statements is judged later.
func (m *monitor) stepTaken(ctx context.Context, rolls bool) {
	m.stepped = time.Now()
	if rolls {
		m.before = m.look(ctx)
		m.before.Held = 0
	}
}

// acceptPatience bounds the last reading of the metrics after an action has ended.
const acceptPatience = 2 * time.Second

// accept takes the current metrics as the new reference, because the operator saw them before continuing.
func (m *monitor) accept(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptPatience)
	defer cancel()
	m.before = m.look(ctx)
}

// waitBegins records the errors and latencies of the moving genes' statements when the job begins to wait for a
// cut-over.
func (m *monitor) waitBegins(ctx context.Context) {
	if fared, err := m.store.Outcomes(ctx, m.job); err == nil {
		m.waiting, m.usual = fared.Source, job.Tally{}
	}
}

// noteUsual records the errors and latencies of the moving genes' statements before the first step. It counts
// from the beginning of the wait, or, if there were too few statements, from when the proxies learned of the
// job.
func (m *monitor) noteUsual(ctx context.Context) {
	if m.usual.Statements() > 0 {
		return
	}
	fared := m.look(ctx).Fared.Source
	if m.usual = fared.Since(m.waiting); m.usual.Statements() < 100*m.limits.Least {
		m.usual = fared
	}
}

// untilStep waits between the steps of a rolling cut-over and keeps the comparison fresh. If a metric exceeds
// its limit, it returns the event for that.
func (m *monitor) untilStep(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if s.Job.Every <= 0 || m.stepped.IsZero() {
		return nil, nil
	}
	next := m.stepped.Add(s.Job.Every)
	m.report.update(func(r *job.Report) { r.NextStep = next })
	defer m.report.update(func(r *job.Report) { r.NextStep = time.Time{} })
	return m.watchUntil(ctx, s, next)
}

// watchUntil checks the metrics until the given time, and keeps the comparison fresh.
func (m *monitor) watchUntil(ctx context.Context, s Snapshot, next time.Time) (*phase.Event, error) {
	for {
		if event := m.breached(ctx, s); event != nil {
			return event, nil
		}
		wait := time.Until(next)
		if wait <= 0 {
			return nil, nil
		}
		if err := pause(ctx, min(wait, time.Second)); err != nil {
			return nil, err
		}
		if m.verifier.untilDue() == 0 && time.Until(next) > 0 {
			if event, err := m.verifier.do(ctx, s); err != nil || event.Kind != phase.Verified {
				return nil, errors.Join(errMoved, err)
			}
		}
	}
}

// breached returns an event if a metric exceeds its limit between two steps.
func (m *monitor) breached(ctx context.Context, s Snapshot) *phase.Event {
	now := m.look(ctx)
	if now.told && !m.before.told {
		m.before.Fared, m.before.told = now.Fared, true
	}
	m.report.update(func(r *job.Report) {
		r.Before, r.After = m.usual.Fared(), now.Fared.Target.Since(m.before.Fared.Target).Fared()
	})
	why := now.worse(m.before, m.usual, m.times, m.limits)
	if why == "" {
		return nil
	}
	m.log.Warn("cut-over stops", "why", why, "then", s.Job.OnBreach)
	return onBreach(s.Job, why)
}

// onBreach returns the event that the job's record specifies for a breach.
func onBreach(j *job.Job, why string) *phase.Event {
	st := j.State
	switch {
	case st.Cut == 0 || j.OnBreach == job.PauseThen || j.OnBreach == "":
		return &phase.Event{Kind: phase.Breached, Why: why}
	case j.OnBreach == job.StepBack:
		return &phase.Event{Kind: phase.RollBack, Genes: max(0, st.Cut-st.Step), Step: st.Step, Why: why}
	}
	return &phase.Event{Kind: phase.RollBack, Genes: 0, Step: st.Step, Why: why}
}
