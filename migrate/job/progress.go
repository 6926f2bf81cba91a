package job

import (
	"time"

	"locus/migrate/phase"
)

// Progress is the progress and speed of a job, for display.
type Progress struct {
	// Copied, Verified and AtTarget are percentages. Wanted is the percentage at which the cut-over stops.
	Copied, Verified, AtTarget, Wanted float64
	// Rows and Changes are rates per second: rows copied, compared or deleted, depending on the running action,
	// and changes applied by the stream.
	Rows, Changes float64
	// Left is the estimated remaining time of the running action, including waits between steps; 0 if unknown.
	Left time.Duration
	// NextStep is the time until the next step of a rolling cut-over; negative if there is none.
	NextStep time.Duration
	// Silent is the time since the last report; 0 while a process reports regularly.
	Silent time.Duration
}

// silence is the age from which a report counts as old.
const silence = 5 * time.Second

// See computes a job's progress from its record and two reports. If the earlier report has no time, no rate is
// known.
func See(j *Job, earlier, r Report, now time.Time) Progress {
	s := j.State
	p := Progress{AtTarget: s.Percent(), Wanted: s.Percent(), NextStep: -1}
	if at := s.At(); at == phase.Cutting || at == phase.RollingBack {
		p.Wanted = 100 * float64(s.Wanted) / float64(s.Total)
	}
	p.Copied, p.Verified = copied(s.Copied, r), verified(s.Verified, r)
	if !r.At.IsZero() && !s.Over() && now.Sub(r.At) > silence {
		p.Silent = now.Sub(r.At)
	}
	if !r.NextStep.IsZero() {
		p.NextStep = max(0, r.NextStep.Sub(now))
	}
	p.rates(earlier, r)
	p.Left = p.left(j, r)
	return p
}

// short returns a percentage below 100 for an unfinished part, because the estimate may be too low.
func short(part, whole int64) float64 {
	if whole <= 0 {
		return 0
	}
	return min(99, 100*float64(part)/float64(whole))
}

func copied(through bool, r Report) float64 {
	switch {
	case through:
		return 100
	case r.RowsEstimate > 0:
		return short(r.RowsCopied, r.RowsEstimate)
	}
	return short(int64(r.LanesDone), int64(r.Lanes))
}

func verified(through bool, r Report) float64 {
	switch {
	case through && r.Doing != string(phase.Verify):
		return 100
	case r.RowsVerified == 0:
		return 0
	}
	return short(r.RowsVerified, max(r.RowsCopied, r.RowsEstimate))
}

// rates compares only reports of the same process, because each process starts counting at zero.
func (p *Progress) rates(earlier, r Report) {
	seconds := r.At.Sub(earlier.At).Seconds()
	if earlier.At.IsZero() || seconds <= 0 || earlier.Runner != r.Runner {
		return
	}
	per := func(before, after int64) float64 { return float64(max(0, after-before)) / seconds }
	p.Changes = per(earlier.Changes, r.Changes)
	switch phase.Action(r.Doing) {
	case phase.Copy:
		p.Rows = per(earlier.RowsCopied, r.RowsCopied)
	case phase.Verify, phase.Keep, phase.Advance:
		p.Rows = per(earlier.RowsVerified, r.RowsVerified)
	case phase.Retire, phase.Withdraw:
		p.Rows = per(earlier.RowsDeleted, r.RowsDeleted)
	case phase.Announce, phase.CatchUp, phase.Retreat, phase.Repair, phase.Wait, phase.Nothing:
	}
}

func (p *Progress) left(j *Job, r Report) time.Duration {
	s := j.State
	at := func(rows int64) time.Duration {
		if p.Rows <= 0 || rows <= 0 {
			return 0
		}
		return time.Duration(float64(rows) / p.Rows * float64(time.Second))
	}
	switch {
	case s.Paused:
	case s.Phase == phase.Copying:
		return at(r.RowsEstimate - r.RowsCopied)
	case s.Phase == phase.Verifying:
		return at(max(r.RowsCopied, r.RowsEstimate) - r.RowsVerified)
	case s.Phase == phase.Cutting && s.Cut < s.Wanted && j.Every > 0:
		steps := (s.Wanted - s.Cut + s.Step - 1) / s.Step
		return max(0, p.NextStep) + time.Duration(steps-1)*j.Every
	}
	return 0
}
