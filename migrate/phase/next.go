package phase

// Action is what a job's runner is to do.
type Action string

// What there is to do. Until an event says otherwise the runner goes on with it;
// every action may be begun again after a crash.
const (
	// Announce the move in the route map, and wait until every proxy knows it.
	Announce Action = "announce"
	// Copy every row, while the stream is on.
	Copy Action = "copy"
	// CatchUp: wait until the stream has applied what happened meanwhile.
	CatchUp Action = "catch up"
	// Verify that source and target are equal.
	Verify Action = "verify"
	// Keep the streams going, and the verification fresh.
	Keep Action = "keep"
	// Advance or Retreat by one step of the cut-over, to [State.Next]'s genes.
	Advance Action = "advance"
	Retreat Action = "retreat"
	// Repair: make rows equal that differ, as an operator said.
	Repair Action = "repair"
	// Retire: delete the source's rows, then withdraw the move.
	Retire Action = "retire"
	// Withdraw: delete the target's rows, then withdraw the move.
	Withdraw Action = "withdraw"
	// Wait for an operator.
	Wait Action = "wait"
	// Nothing: the job is over.
	Nothing Action = "nothing"
)

// Next is what to do now; for a step, with how many genes at the target after it.
func (s State) Next() (Action, int) {
	if s.Over() {
		return Nothing, s.Cut
	}
	switch {
	case s.Repairing:
		return Repair, s.Cut
	case s.Phase == Failed:
		return Wait, s.Cut
	}
	if s.Paused {
		return s.paused(), s.Cut
	}
	switch s.Phase {
	case Planned:
		return Announce, s.Cut
	case Copying:
		return Copy, s.Cut
	case CatchingUp:
		return CatchUp, s.Cut
	case Verifying:
		return Verify, s.Cut
	case Cutting:
		switch {
		case s.Cut == s.Wanted:
			return Keep, s.Cut
		case !s.Verified:
			return Verify, s.Cut
		}
		return Advance, min(s.Cut+s.Step, s.Wanted)
	case RollingBack:
		return Retreat, max(s.Cut-s.Step, s.Wanted)
	case Retiring:
		return Retire, s.Cut
	case Aborting:
		return Withdraw, s.Cut
	default: // ready, or cut
	}
	return Keep, s.Cut
}

// paused keeps what was found equal equal. The streams go on in any case: letting
// them fall behind would lose the binlog sooner or later, and with it the way
// back.
func (s State) paused() Action {
	if s.streaming() && !s.givesUp() {
		return Keep
	}
	return Wait
}

// streaming tells that source and target are kept equal, and so can be compared.
func (s State) streaming() bool { return compared(s.Phase) }

// compared tells whether servers can be compared in a phase.
func compared(p Phase) bool {
	switch p {
	case Verifying, Ready, Cutting, RollingBack, Cut:
		return true
	default:
		return false
	}
}

// givesUp tells that all genes go back, and the target's rows are deleted then.
func (s State) givesUp() bool { return s.At() == RollingBack && s.Leaving && s.Wanted == 0 }

// Streams tells which streams have to run: forward from the source to the
// target, and back. A job that is given up needs the way back alone: the target's rows
// will be deleted.
func (s State) Streams() (forward, reverse bool) {
	switch s.At() {
	case Copying, CatchingUp, Verifying, Ready, Cutting, RollingBack, Cut:
		return !s.givesUp(), s.Reversible
	default:
		return false, false
	}
}
