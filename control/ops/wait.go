package ops

import (
	"context"
	"fmt"
	"slices"
	"time"

	"locus/migrate/phase"
)

// Await requests to wait until a job has reached a phase, or a later one.
type Await struct {
	OfJob
	Phase string // ready, cut or done
	// Timeout is the longest time to wait; 0: without a limit.
	Timeout time.Duration
}

// onwards lists the phases of a job that runs to its end, in order.
var onwards = []phase.Phase{
	phase.Planned, phase.Copying, phase.CatchingUp, phase.Verifying, phase.Ready, phase.Cutting, phase.Cut, phase.Retiring, phase.Done,
}

// Check returns an *Invalid for a phase for which nobody can wait.
func (r Await) Check() error {
	switch phase.Phase(r.Phase) {
	case phase.Ready, phase.Cut, phase.Done:
		return nil
	}
	return invalid("the phase %q can't be waited for; use ready, cut or done", r.Phase)
}

// Await returns the record of the job once it has reached the phase. The error is the reason why it never will, or that the time is over.
func (o *Ops) Await(ctx context.Context, r Await) (*Job, error) {
	if err := r.Check(); err != nil {
		return nil, err
	}
	waiting, cancel := context.WithCancel(ctx)
	if r.Timeout > 0 {
		waiting, cancel = context.WithTimeout(ctx, r.Timeout)
	}
	changes := o.jobs.Changes(waiting)
	defer func() {
		cancel()
		for range changes { // drain the channel until the store closes it
		}
	}()
	for {
		s, err := o.jobs.Read(ctx, r.Job)
		if err != nil {
			return nil, err
		}
		if there, err := arrived(s.Job, phase.Phase(r.Phase)); there || err != nil {
			return s.Job, err
		}
		if _, more := <-changes; more {
			continue
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		return nil, fmt.Errorf("job %s is %s after %v, not %s: locus watch %s shows how far it is", r.Job, s.Job.State.Shown(), r.Timeout, r.Phase, r.Job)
	}
}

// arrived reports whether a job has reached a phase. The error means that it never will.
func arrived(j *Job, wanted phase.Phase) (bool, error) {
	at := j.State.Shown()
	switch at {
	case phase.Paused:
		return false, fmt.Errorf("job %s is paused: locus resume %s", j.ID, j.ID)
	case phase.Failed:
		return false, fmt.Errorf("job %s has failed: %s: %s", j.ID, j.State.Why, j.State.Remedy)
	case phase.Aborting, phase.Aborted:
		return false, fmt.Errorf("job %s is %s", j.ID, at)
	}
	return slices.Index(onwards, at) >= slices.Index(onwards, wanted), nil
}
