package phase

import (
	"fmt"
)

// Phase is where a job is, in the words that operators see.
type Phase string

// The phases, in the order in which a job that nothing disturbs goes through
// them, and those beside that way.
const (
	Planned    Phase = "planned"
	Copying    Phase = "copying"
	CatchingUp Phase = "catching-up"
	Verifying  Phase = "verifying"
	Ready      Phase = "ready"
	Cutting    Phase = "cutting"
	Cut        Phase = "cut"
	Retiring   Phase = "retiring"
	Done       Phase = "done"

	RollingBack Phase = "rolling-back"
	Aborting    Phase = "aborting"
	Aborted     Phase = "aborted"
	Failed      Phase = "failed"
	// Paused is never a State's phase: it is how one is shown whose Paused is set.
	// Repairing neither: of a failed one whose rows are being made equal.
	Paused    Phase = "paused"
	Repairing Phase = "repairing"
)

// State is a job's state with the evidence for it. The zero value is no state:
// begin with [New].
type State struct {
	Phase Phase `json:"phase"`
	// Total is how many genes move, or the hundredths of their rows; the first Cut of them, in order, belong to
	// the target; the cut-over is to bring Cut to Wanted, by Step of them at a time.
	Total  int `json:"total"`
	Cut    int `json:"cut"`
	Wanted int `json:"wanted"`
	Step   int `json:"step"`

	// Announced: every proxy knows that the job exists.
	Announced bool `json:"announced"`
	// Copied: every row was at the target at some time.
	Copied bool `json:"copied"`
	// Verified: source and target were found equal, and that is still fresh.
	Verified bool `json:"verified"`
	// Reversible: the reverse stream has a beginning that misses nothing.
	Reversible bool `json:"reversible"`

	Paused   bool `json:"paused"`
	Leaving  bool `json:"leaving"` // aborts as soon as nothing is at the target
	Failures int  `json:"failures"`
	// Differing is how many rows are listed that a comparison found different, and that the
	// job failed for; Repairing: an operator wants some of them to be made equal.
	Differing int  `json:"differing,omitempty"`
	Repairing bool `json:"repairing,omitempty"`
	// Before is what a failed job was doing, Why it failed and Remedy what to do.
	Before Phase  `json:"before,omitempty"`
	Why    string `json:"why,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// New is the state of a job that moves so many genes and has done nothing yet.
func New(genes int) (State, error) {
	if genes < 1 {
		return State{}, fmt.Errorf("%d genes to move", genes)
	}
	return State{Phase: Planned, Total: genes}, nil
}

// Shown is the phase as operators see it.
func (s State) Shown() Phase {
	switch {
	case s.Repairing:
		return Repairing
	case s.Paused && !s.Over():
		return Paused
	}
	return s.Phase
}

// At is the phase that a job is in, or that a failed one was in.
func (s State) At() Phase {
	if s.Phase == Failed {
		return s.Before
	}
	return s.Phase
}

// Over tells that the job does nothing any more.
func (s State) Over() bool { return s.Phase == Done || s.Phase == Aborted }

// Percent is the share of the genes that belong to the target.
func (s State) Percent() float64 { return 100 * float64(s.Cut) / float64(s.Total) }

// Genes is how many genes a percentage is: all fractions rounded up, so that any
// share above nothing is at least one gene, and only 100 % is all of them.
func (s State) Genes(percent float64) int {
	n := int(float64(s.Total) * percent / 100)
	if float64(n)*100 < float64(s.Total)*percent {
		n++
	}
	if n >= s.Total && percent < 100 {
		n = s.Total - 1
	}
	return min(max(n, 0), s.Total)
}

// Check says which of the rules a state breaks; no event leads to one that does.
func (s State) Check() error {
	at := s.Phase
	if at == Failed {
		at = s.Before
	}
	switch {
	case s.Total < 1 || s.Cut < 0 || s.Cut > s.Total || s.Wanted < 0 || s.Wanted > s.Total:
		return fmt.Errorf("%d of %d genes are at the target and %d are wanted there", s.Cut, s.Total, s.Wanted)
	case s.Cut > 0 && (!s.Announced || !s.Copied || !s.Reversible):
		return fmt.Errorf("%d genes are at the target, with announced %v, copied %v, reversible %v", s.Cut, s.Announced, s.Copied, s.Reversible)
	case s.Verified && !s.Copied:
		return fmt.Errorf("verified before it was copied")
	case at == Copying && !s.Announced:
		return fmt.Errorf("copying before every proxy knows of the job")
	case (at == Cut || at == Retiring || at == Done) && s.Cut != s.Total:
		return fmt.Errorf("%s with %d of %d genes at the target", at, s.Cut, s.Total)
	case (at == Ready || at == Aborting || at == Aborted) && s.Cut != 0:
		return fmt.Errorf("%s with %d genes at the target", at, s.Cut)
	case at == Cutting && s.Wanted < s.Cut, at == RollingBack && s.Wanted > s.Cut:
		return fmt.Errorf("%s from %d to %d", at, s.Cut, s.Wanted)
	case (at == Cutting || at == RollingBack) && s.Step < 1:
		return fmt.Errorf("%s by %d genes at a time", at, s.Step)
	case (s.Phase == Failed) != (s.Before != ""):
		return fmt.Errorf("%s, before that %q", s.Phase, s.Before)
	case s.Differing < 0, s.Differing > 0 && (s.Phase != Failed || !compared(s.Before)):
		return fmt.Errorf("%d rows are listed that differ, in phase %s, before that %q", s.Differing, s.Phase, s.Before)
	case s.Repairing && s.Differing == 0:
		return fmt.Errorf("repairing no rows")
	}
	return nil
}
