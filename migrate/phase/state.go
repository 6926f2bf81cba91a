package phase

import (
	"fmt"
)

// Phase is the phase of a job, as operators see it.
type Phase string

// The phases in the order of an undisturbed job, followed by the others.
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
	// Paused and Repairing are never a State's phase. A State with Paused set is shown as paused. A failed one whose
	// rows are being repaired is shown as repairing.
	Paused    Phase = "paused"
	Repairing Phase = "repairing"
)

// State is a job's state with the evidence for it. The zero value is invalid; start with [New].
type State struct {
	Phase Phase `json:"phase"`
	// Total is the number of genes to move, or the number of hundredths of their rows. The first Cut of them, in order,
	// belong to the target. The cut-over brings Cut to Wanted, by Step at a time.
	Total  int `json:"total"`
	Cut    int `json:"cut"`
	Wanted int `json:"wanted"`
	Step   int `json:"step"`

	// Announced: every proxy knows the job.
	Announced bool `json:"announced"`
	// Copied: every row has been at the target.
	Copied bool `json:"copied"`
	// Verified: source and target were found equal recently.
	Verified bool `json:"verified"`
	// Reversible: the reverse stream has a start position that misses nothing.
	Reversible bool `json:"reversible"`

	Paused   bool `json:"paused"`
	Leaving  bool `json:"leaving"` // aborts once nothing is at the target
	Failures int  `json:"failures"`
	// Differing is the number of listed rows that a comparison found different and that the job failed for. Repairing:
	// an operator requested the repair of some of them.
	Differing int  `json:"differing,omitempty"`
	Repairing bool `json:"repairing,omitempty"`
	// Before is the phase in which the job failed. Why is the reason, and Remedy the remedy.
	Before Phase  `json:"before,omitempty"`
	Why    string `json:"why,omitempty"`
	Remedy string `json:"remedy,omitempty"`
}

// New returns the initial state of a job that moves the given number of genes.
func New(genes int) (State, error) {
	if genes < 1 {
		return State{}, fmt.Errorf("%d genes to move", genes)
	}
	return State{Phase: Planned, Total: genes}, nil
}

// Shown returns the phase to show to operators.
func (s State) Shown() Phase {
	switch {
	case s.Repairing:
		return Repairing
	case s.Paused && !s.Over():
		return Paused
	}
	return s.Phase
}

// At returns the job's phase, or the phase in which it failed.
func (s State) At() Phase {
	if s.Phase == Failed {
		return s.Before
	}
	return s.Phase
}

// Over reports whether the job has ended.
func (s State) Over() bool { return s.Phase == Done || s.Phase == Aborted }

// Percent returns the share of the genes that belong to the target.
func (s State) Percent() float64 { return 100 * float64(s.Cut) / float64(s.Total) }

// Genes returns the number of genes of a percentage, rounded up. So any share above 0 is at least one gene, and only
// 100 % is all of them.
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

// Check returns the rule that a state violates, if any. No event leads to an invalid state.
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
