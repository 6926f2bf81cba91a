package migrate

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/phase"
)

// Limits are how much worse than before things may be while a cut-over rolls. The
// zero value of each is its default.
type Limits struct {
	Errors  float64       // more of the moved genes' statements that fail; 0.01
	Slower  float64       // times as slow as before, at p99; 2
	Slack   time.Duration // by which they may be slower in any case; 20 ms
	Running int           // statements under way at the target, if there are more than before; 64
	// Least is how many statements must have failed, or been too slow, for it not
	// to be chance; 5.
	Least uint64
}

func (l Limits) withDefaults() Limits {
	orDefault(&l.Errors, 0.01)
	orDefault(&l.Slower, 2)
	orDefault(&l.Slack, 20*time.Millisecond)
	orDefault(&l.Running, 64)
	orDefault(&l.Least, 5)
	return l
}

func orDefault[T int | uint64 | float64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}

// figures are what is watched while a cut-over rolls.
type figures struct {
	Lag, Back time.Duration // of the streams
	Held      time.Duration // for which the last step held statements
	Conflicts int64
	Running   int // statements at the target
	// Fared is how the moving genes' statements have fared so far; told: this is
	// known, and not just what was known before.
	Fared job.Outcomes
	told  bool
}

// worse says which figure got worse than it may since the last step, or nothing.
// Usual is how the genes' statements fared at the source before the first step.
func (f figures) worse(before figures, usual job.Tally, t Times, l Limits) string {
	switch {
	case f.Conflicts > before.Conflicts:
		return fmt.Sprintf("%d rows were refused since the last step: locus.move_conflict on the target's server has them", f.Conflicts-before.Conflicts)
	case f.Lag > t.Lag && f.Lag > before.Lag:
		return fmt.Sprintf("the stream to the target is %v behind, more than %v", f.Lag.Round(time.Millisecond), t.Lag)
	case f.Back > t.Lag && f.Back > before.Back:
		return fmt.Sprintf("the stream back to the source is %v behind, more than %v", f.Back.Round(time.Millisecond), t.Lag)
	case f.Held > t.Held && f.Held > before.Held:
		return fmt.Sprintf("the last step held statements for %v, more than %v", f.Held, t.Held)
	case f.Running > l.Running && f.Running > before.Running:
		return fmt.Sprintf("%d statements run at the target at once, more than %d", f.Running, l.Running)
	}
	return l.faresWorse(f.Fared.Target.Since(before.Fared.Target), usual)
}

// faresWorse compares how the moved genes' statements fare at the target with how
// they did at the source.
func (l Limits) faresWorse(now, usual job.Tally) string {
	n := now.Statements()
	if most := usual.Rate() + l.Errors; now.Failed >= l.Least && now.Rate() > most {
		return fmt.Sprintf("%d of %d statements on the moved genes failed at the target since the last step: %s, before the cut-over it was %s",
			now.Failed, n, percent(now.Rate()), percent(usual.Rate()))
	}
	if usual.Statements() < 100*l.Least {
		return "" // their p99 is that of too few
	}
	limit := time.Duration(l.Slower*float64(usual.P99())) + l.Slack
	if slow := now.Slower(limit); slow >= l.Least && slow > n/100 {
		return fmt.Sprintf("%d of %d statements on the moved genes took longer than %v at the target since the last step: their p99 is %v, before the cut-over it was %v",
			slow, n, limit.Round(time.Millisecond), now.P99().Round(100*time.Microsecond), usual.P99().Round(100*time.Microsecond))
	}
	return ""
}

func percent(share float64) string { return strconv.FormatFloat(100*share, 'f', 1, 64) + " %" }

// figures looks at everything that is watched. What can't be asked stays what it
// was before the step.
func (d *drive) figures(ctx context.Context, now time.Time) figures {
	f := figures{Running: d.before.Running, Fared: d.before.Fared}
	if d.forward != nil {
		f.Lag, f.Conflicts = d.forward.lag(now), d.forward.Progress().Conflicts
	}
	if d.back != nil {
		f.Back = d.back.lag(now)
		f.Conflicts += d.back.Progress().Conflicts
	}
	if fared, err := d.Store.Outcomes(ctx, d.id); err == nil {
		f.Fared, f.told = fared, true
	}
	if running, err := runningAt(ctx, d.target); err == nil {
		f.Running = running
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f.Held = time.Duration(d.report.LastFenceMs) * time.Millisecond
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

// noteFigures is where a step leaves things: how long it held statements is still
// to be judged.
func (d *drive) noteFigures(ctx context.Context) {
	d.before = d.figures(ctx, time.Now())
	d.before.Held = 0
}

// forgetPatience bounds a last look at the figures of an action that has ended.
const forgetPatience = 2 * time.Second

// forgetFigures is for what an operator saw before going on.
func (d *drive) forgetFigures(ctx context.Context) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), forgetPatience)
	defer cancel()
	d.before = d.figures(ctx, time.Now())
}

// keepWatching keeps both shards equal; after the last step of a cut-over that
// rolls it watches for as long as after the others.
func (d *drive) keepWatching(ctx context.Context, s Snapshot) (*phase.Event, error) {
	st := s.Job.State
	defer func() { d.stepped = time.Time{} }() // whoever goes on from here wants a step now
	if st.Cut > 0 && s.Job.Every > 0 {
		defer d.forgetFigures(ctx) // what happened meanwhile is not what a later step did
	}
	if st.Cut == 0 {
		if fared, err := d.Store.Outcomes(ctx, d.id); err == nil {
			d.waiting, d.usual = fared.Source, job.Tally{}
		}
	}
	if until := d.stepped.Add(s.Job.Every); st.Phase == phase.Cut && !st.Paused && time.Now().Before(until) {
		if event, err := d.watchUntil(ctx, s, until); event != nil || err != nil {
			return event, err
		}
	}
	return d.keep(ctx, s)
}

// noteUsual is how the moving genes' statements fare before the first step: since
// the job waits for it, or if that were few, since proxies know of the job.
func (d *drive) noteUsual(ctx context.Context) {
	if d.usual.Statements() > 0 {
		return
	}
	fared := d.figures(ctx, time.Now()).Fared.Source
	if d.usual = fared.Since(d.waiting); d.usual.Statements() < 100*d.Limits.Least {
		d.usual = fared
	}
}

// breached looks at the figures between two steps.
func (d *drive) breached(ctx context.Context, s Snapshot) *phase.Event {
	now := d.figures(ctx, time.Now())
	if now.told && !d.before.told {
		d.before.Fared, d.before.told = now.Fared, true
	}
	d.say(func(r *job.Report) {
		r.Before, r.After = d.usual.Fared(), now.Fared.Target.Since(d.before.Fared.Target).Fared()
	})
	why := now.worse(d.before, d.usual, d.Times, d.Limits)
	if why == "" {
		return nil
	}
	d.Log.Warn("cut-over stops", "job", d.id, "why", why, "then", s.Job.OnBreach)
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
