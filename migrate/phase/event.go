package phase

import (
	"fmt"
)

// Event is something that a runner observed or an operator requested.
type Event struct {
	Kind Kind
	// Genes is the number of genes at the target that a step reached or an operator requested. Step is the number of
	// genes per step.
	Genes, Step int
	// Why and Remedy describe a failure, or a step that was undone.
	Why, Remedy string
	// Rows is the number of listed rows that differ, for a failure or after a repair.
	Rows int
}

// Kind is the kind of an event.
type Kind string

// Events of runners.
const (
	Announced  Kind = "announced"
	Copied     Kind = "copied"
	CaughtUp   Kind = "caught up"
	Verified   Kind = "verified"
	Differs    Kind = "differs" // a verification found differences, or is no longer recent
	StepTaken  Kind = "step taken"
	Breached   Kind = "breached" // a monitored figure exceeded its limit, so the job pauses
	Retired    Kind = "retired"
	Withdrawn  Kind = "withdrawn"
	Repaired   Kind = "repaired" // all rows that can be repaired were repaired
	FailedWith Kind = "failed"
)

// Events of operators.
const (
	CutTo    Kind = "cut over"
	RollBack Kind = "roll back"
	Finish   Kind = "finish"
	Abort    Kind = "abort"
	Pause    Kind = "pause"
	Resume   Kind = "resume"
	ToRepair Kind = "repair"
)

// Kinds lists all kinds.
var Kinds = []Kind{
	Announced, Copied, CaughtUp, Verified, Differs, StepTaken, Breached, Retired, Withdrawn, Repaired, FailedWith,
	CutTo, RollBack, Finish, Abort, Pause, Resume, ToRepair,
}

// On returns the state after an event, or an error if the event isn't possible.
func (s State) On(e Event) (State, error) {
	if s.Over() {
		return s, fmt.Errorf("the job is over: it is %s", s.Phase)
	}
	next, err := s.on(e)
	if err != nil {
		return s, err
	}
	if err := next.Check(); err != nil {
		return s, fmt.Errorf("%s in phase %s: %w", e.Kind, s.Phase, err)
	}
	return next, nil
}

func (s State) on(e Event) (State, error) {
	switch e.Kind {
	case Announced, Copied, CaughtUp, Verified, Differs, StepTaken, Retired, Withdrawn:
		return s.done(e)
	case Breached:
		if s.Phase != Cutting && s.Phase != Cut {
			return s, fmt.Errorf("%s in phase %s", e.Kind, s.Phase)
		}
		s.Paused, s.Why = true, e.Why
		return s, nil
	case FailedWith:
		return s.failed(e)
	case CutTo:
		return s.cutTo(e)
	case RollBack:
		return s.rollBack(e)
	case Finish:
		if s.Phase != Cut {
			return s, fmt.Errorf("finish: %s; only a job whose genes are all at the target is finished: cut over to 100%% first", s.where())
		}
		s.Phase, s.Paused = Retiring, false
		return s, nil
	case Abort:
		return s.abort()
	case Pause:
		if s.Paused {
			return s, fmt.Errorf("it is paused already")
		}
		s.Paused = true
		return s, nil
	case Resume:
		return s.resume()
	case ToRepair:
		return s.toRepair()
	case Repaired:
		return s.repaired(e)
	}
	return s, fmt.Errorf("unknown event %q", e.Kind)
}

// done returns the state after a report of the runner.
func (s State) done(e Event) (State, error) {
	unexpected := fmt.Errorf("%s in phase %s", e.Kind, s.Phase)
	switch e.Kind {
	case Announced:
		if s.Phase != Planned {
			return s, unexpected
		}
		s.Announced, s.Phase = true, Copying
	case Copied:
		if s.Phase != Copying {
			return s, unexpected
		}
		s.Copied, s.Phase = true, CatchingUp
	case CaughtUp:
		if s.Phase != CatchingUp {
			return s, unexpected
		}
		s.Phase = Verifying
	case Verified:
		if !s.streaming() {
			return s, unexpected
		}
		s.Verified, s.Why = true, ""
		if s.Phase == Verifying {
			s.Phase = Ready
		}
	case Differs:
		if !s.streaming() {
			return s, unexpected
		}
		s.Verified = false
		if s.Phase == Ready {
			s.Phase = Verifying
		}
	case StepTaken:
		return s.stepTaken(e, unexpected)
	case Retired:
		if s.Phase != Retiring {
			return s, unexpected
		}
		s.Phase = Done
	case Withdrawn:
		if s.Phase != Aborting {
			return s, unexpected
		}
		s.Phase = Aborted
	default: // a command or a failure
	}
	s.Failures = 0
	return s, nil
}

// stepTaken handles the completion of the step that was next. It is committed together with the route map, so nothing
// else can have happened to the job in between.
func (s State) stepTaken(e Event, unexpected error) (State, error) {
	action, genes := s.Next()
	if (action != Advance && action != Retreat) || genes != e.Genes {
		return s, fmt.Errorf("%w: from %d to %d of %d genes", unexpected, s.Cut, e.Genes, s.Total)
	}
	s.Cut, s.Reversible, s.Failures = e.Genes, true, 0
	return s.arrived(), nil
}

// arrived returns the phase that corresponds to the progress of the cut-over.
func (s State) arrived() State {
	switch {
	case s.Phase == RollingBack && s.Cut > s.Wanted:
	case s.Phase == RollingBack && s.Cut == 0 && s.Leaving:
		s.Phase = Aborting
	case s.Cut == 0:
		s.Phase, s.Wanted = Ready, 0
		if !s.Verified {
			s.Phase = Verifying
		}
	case s.Cut == s.Total:
		s.Phase, s.Wanted = Cut, s.Total
	default:
		s.Phase, s.Wanted = Cutting, max(s.Wanted, s.Cut)
	}
	return s
}

func (s State) failed(e Event) (State, error) {
	if s.Phase == Failed {
		return s, fmt.Errorf("it has failed already: %s", s.Why)
	}
	s.Before, s.Phase = s.Phase, Failed
	s.Why, s.Remedy, s.Failures, s.Differing = e.Why, e.Remedy, s.Failures+1, e.Rows
	s.Verified = s.Verified && e.Rows == 0
	return s, nil
}

// share formats n as a percentage of the genes or of their rows.
func (s State) share(n int) string { return fmt.Sprintf("%.4g %%", 100*float64(n)/float64(s.Total)) }

// where describes the state for an operator.
func (s State) where() string {
	text := fmt.Sprintf("the job is %s", s.Shown())
	if s.Cut > 0 {
		text += fmt.Sprintf(", with %s at the target", s.share(s.Cut))
	}
	return text
}
