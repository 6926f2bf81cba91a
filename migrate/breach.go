package migrate

import (
	"fmt"
	"time"

	"locus/migrate/job"
	"locus/migrate/phase"
)

// figures are what is watched while a cut-over rolls.
type figures struct {
	Lag, Back time.Duration // of the streams
	Held      time.Duration // for which the last step held statements
	Conflicts int64
}

// worse says which figure got worse than it may since the last step, or nothing.
func (f figures) worse(before figures, t Times) string {
	switch {
	case f.Conflicts > before.Conflicts:
		return fmt.Sprintf("%d rows were refused since the last step: locus.move_conflict on the target's server has them", f.Conflicts-before.Conflicts)
	case f.Lag > t.Lag && f.Lag > before.Lag:
		return fmt.Sprintf("the stream to the target is %v behind, more than %v", f.Lag.Round(time.Millisecond), t.Lag)
	case f.Back > t.Lag && f.Back > before.Back:
		return fmt.Sprintf("the stream back to the source is %v behind, more than %v", f.Back.Round(time.Millisecond), t.Lag)
	case f.Held > t.Held && f.Held > before.Held:
		return fmt.Sprintf("the last step held statements for %v, more than %v", f.Held, t.Held)
	}
	return ""
}

func (d *drive) figures(now time.Time) figures {
	var f figures
	if d.forward != nil {
		f.Lag, f.Conflicts = d.forward.lag(now), d.forward.Progress().Conflicts
	}
	if d.back != nil {
		f.Back = d.back.lag(now)
		f.Conflicts += d.back.Progress().Conflicts
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	f.Held = time.Duration(d.report.LastFenceMs) * time.Millisecond
	return f
}

// noteFigures is where a step leaves things: how long it held statements is still
// to be judged.
func (d *drive) noteFigures() {
	d.before = d.figures(time.Now())
	d.before.Held = 0
}

// forgetFigures is for what an operator saw before going on.
func (d *drive) forgetFigures() { d.before = d.figures(time.Now()) }

// breached looks at the figures between two steps.
func (d *drive) breached(s Snapshot) *phase.Event {
	now := d.figures(time.Now())
	why := now.worse(d.before, d.Times)
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
