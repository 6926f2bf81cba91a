package phase

import "fmt"

// cutTo continues to a share of the genes. It applies to a job that is ready, to a stopped cut-over, and to one in
// progress.
func (s State) cutTo(e Event) (State, error) {
	switch {
	case s.Phase == Ready, s.Phase == Cutting, s.Phase == Verifying && s.Cut == 0 && s.Reversible:
	case s.Phase == RollingBack && !s.Leaving:
	default:
		return s, fmt.Errorf("cut over: %s; it can be cut over once it is %s", s.where(), Ready)
	}
	switch {
	case e.Step < 1:
		return s, fmt.Errorf("cut over: by %d genes at a time: at least one", e.Step)
	case e.Genes > s.Total:
		return s, fmt.Errorf("cut over: to %d of %d", e.Genes, s.Total)
	case e.Genes < s.Cut:
		return s, fmt.Errorf("cut over: %s, and %s is wanted: roll back to that instead", s.where(), s.share(e.Genes))
	case e.Genes == s.Cut && s.Phase != Cutting && s.Phase != RollingBack:
		return s, fmt.Errorf("cut over: to %s, where it is", s.share(e.Genes))
	}
	s.Wanted, s.Step, s.Paused, s.Why = e.Genes, e.Step, false, ""
	s.Phase = Cutting
	if s.Cut == s.Wanted {
		return s.arrived(), nil
	}
	return s, nil
}

// rollBack returns to a smaller share of the genes.
func (s State) rollBack(e Event) (State, error) {
	at := s.Phase
	if at == Failed {
		at = s.Before
	}
	switch {
	case at == Retiring:
		return s, fmt.Errorf("roll back: the source's rows are being deleted: move the genes back by another job")
	case s.Cut == 0:
		return s, fmt.Errorf("roll back: %s; nothing is at the target", s.where())
	case e.Genes >= s.Cut || e.Genes < 0:
		return s, fmt.Errorf("roll back: %s; to %s is not back", s.where(), s.share(e.Genes))
	case e.Step < 1:
		return s, fmt.Errorf("roll back: by %d genes at a time: at least one", e.Step)
	}
	s.Phase, s.Before, s.Why, s.Remedy = RollingBack, "", e.Why, ""
	s.Differing, s.Repairing = 0, false
	s.Wanted, s.Step, s.Paused = e.Genes, e.Step, false
	return s, nil
}

// abort ends the job: at once if the target owns nothing, otherwise after a rollback.
func (s State) abort() (State, error) {
	at := s.Phase
	if at == Failed {
		at = s.Before
	}
	switch {
	case at == Retiring:
		return s, fmt.Errorf("abort: the source's rows are being deleted: let it finish, then move the genes back by another job")
	case s.Phase == Aborting || s.Leaving:
		return s, fmt.Errorf("it is being aborted already")
	}
	s.Paused, s.Before, s.Why, s.Remedy = false, "", "", ""
	s.Differing, s.Repairing = 0, false
	if s.Cut == 0 {
		s.Phase = Aborting
		return s, nil
	}
	s.Phase, s.Wanted, s.Step, s.Leaving = RollingBack, 0, max(s.Step, 1), true
	return s, nil
}

// resume continues the phase that a pause or a failure interrupted.
func (s State) resume() (State, error) {
	switch {
	case s.Phase == Failed:
		s = s.mended()
	case !s.Paused:
		return s, fmt.Errorf("resume: it is not paused: %s", s.where())
	}
	s.Paused, s.Why = false, ""
	return s, nil
}

// toRepair starts the repair of rows that a comparison found different.
func (s State) toRepair() (State, error) {
	switch {
	case s.Repairing:
		return s, fmt.Errorf("repair: rows are being repaired already")
	case s.Differing == 0:
		return s, fmt.Errorf("repair: %s; rows are repaired of a job that has failed because they differ", s.where())
	}
	s.Repairing = true
	return s, nil
}

// repaired returns the job to where it was, to be compared again. If rows are left, it remains failed with these.
func (s State) repaired(e Event) (State, error) {
	if !s.Repairing || e.Rows < 0 || e.Rows > s.Differing {
		return s, fmt.Errorf("%s in phase %s, with %d of %d rows left", e.Kind, s.Phase, e.Rows, s.Differing)
	}
	s.Repairing, s.Differing = false, e.Rows
	if e.Rows > 0 {
		s.Why = e.Why
		return s, nil
	}
	return s.mended(), nil
}

// mended returns the state in which the job failed. Rows that differed are compared again first.
func (s State) mended() State {
	s.Phase, s.Before, s.Why, s.Remedy = s.Before, "", "", ""
	s.Differing, s.Repairing = 0, false
	if s.Phase == Ready && !s.Verified {
		s.Phase = Verifying
	}
	return s
}
