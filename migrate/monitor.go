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

// monitor watches a cut-over that rolls: what the figures were when the last step was taken, and whether they have got worse
// since. One goroutine uses it.
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

	stepped time.Time // when the last step was taken; zero: the next one need not wait
	before  figures   // as the last step left them
	waiting job.Tally // at the source, when the job began to wait for a cut-over
	usual   job.Tally // at the source, before the first step
}

// look returns everything that is watched, as of now. What can't be asked stays what it was before the step.
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

// runningAt is how many statements a server works on.
func runningAt(ctx context.Context, at link.Server) (int, error) {
	c, err := link.Dial(ctx, at)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	rows, err := c.Query(ctx, "SHOW GLOBAL STATUS LIKE 'Threads_running'")
	if err != nil || len(rows) != 1 {
		return 0, fmt.Errorf("ask %s what it works on: %w", at.Addr, err)
	}
	return strconv.Atoi(string(rows[0][1]))
}

// stepTaken notes how a step leaves things: how long it held statements is still
// to be judged.
func (m *monitor) stepTaken(ctx context.Context, rolls bool) {
	m.stepped = time.Now()
	if rolls {
		m.before = m.look(ctx)
		m.before.Held = 0
	}
}

// acceptPatience bounds a last look at the figures of an action that has ended.
const acceptPatience = 2 * time.Second

// accept takes the figures as they are for what they may be: an operator saw them before going on.
func (m *monitor) accept(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), acceptPatience)
	defer cancel()
	m.before = m.look(ctx)
}

// waitBegins notes how the moving genes' statements have fared when the job begins to wait for a cut-over.
func (m *monitor) waitBegins(ctx context.Context) {
	if fared, err := m.store.Outcomes(ctx, m.job); err == nil {
		m.waiting, m.usual = fared.Source, job.Tally{}
	}
}

// noteUsual is how the moving genes' statements fare before the first step: since
// the job waits for it, or if that were few, since proxies know of the job.
func (m *monitor) noteUsual(ctx context.Context) {
	if m.usual.Statements() > 0 {
		return
	}
	fared := m.look(ctx).Fared.Source
	if m.usual = fared.Since(m.waiting); m.usual.Statements() < 100*m.limits.Least {
		m.usual = fared
	}
}

// untilStep waits between the steps of a cut-over that rolls, keeps the comparison
// fresh meanwhile, and returns what follows if a figure gets worse than it may.
func (m *monitor) untilStep(ctx context.Context, s Snapshot) (*phase.Event, error) {
	if s.Job.Every <= 0 || m.stepped.IsZero() {
		return nil, nil
	}
	next := m.stepped.Add(s.Job.Every)
	m.report.update(func(r *job.Report) { r.NextStep = next })
	defer m.report.update(func(r *job.Report) { r.NextStep = time.Time{} })
	return m.watchUntil(ctx, s, next)
}

// watchUntil looks at the figures until then, and keeps the comparison fresh.
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

// breached looks at the figures between two steps.
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

// onBreach is what the record wants of a breach.
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
