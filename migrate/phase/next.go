package phase

// Action is the next step of a job's runner.
type Action string

// Actions. The runner continues with an action until an event changes it. Every action may be restarted after a crash.
const (
	// Announce the move in the route map, and wait until every proxy knows it.
	Announce Action = "announce"
	// Copy all rows while the stream runs.
	Copy Action = "copy"
	// CatchUp waits until the stream has applied the changes made meanwhile.
	CatchUp Action = "catch up"
	// Verify that source and target are equal.
	Verify Action = "verify"
	// Keep the streams running and the verification recent.
	Keep Action = "keep"
	// Advance or Retreat by one step of the cut-over, to the genes that [State.Next] returns.
	Advance Action = "advance"
	Retreat Action = "retreat"
	// Repair rows that differ, as an operator requested.
	Repair Action = "repair"
	// Retire deletes the source's rows and then withdraws the move.
	Retire Action = "retire"
	// Withdraw deletes the target's rows and then withdraws the move.
	Withdraw Action = "withdraw"
	// Wait for an operator.
	Wait Action = "wait"
	// Nothing is left to do. The job is over.
	Nothing Action = "nothing"
)

// Next returns the next action, and for a step the number of genes that the target has after it.
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
	default: // Ready or Cut
	}
	return Keep, s.Cut
}

// paused keeps verified rows equal. The streams always continue: if they fell behind too far, the server would
// purge the binlog that they need, and a rollback would become impossible.
func (s State) paused() Action {
	if s.streaming() && !s.givesUp() {
		return Keep
	}
	return Wait
}

// streaming reports whether source and target are kept equal, so that they can be compared.
func (s State) streaming() bool { return compared(s.Phase) }

// compared reports whether the servers can be compared in a phase.
func compared(p Phase) bool {
	switch p {
	case Verifying, Ready, Cutting, RollingBack, Cut:
		return true
	default:
		return false
	}
}

// givesUp reports whether all genes go back and the target's rows are deleted then.
func (s State) givesUp() bool { return s.At() == RollingBack && s.Leaving && s.Wanted == 0 }

// Streams returns which streams must run: forward from the source to the target, and reverse. An aborted job needs only
// the reverse stream, since the target's rows will be deleted.
func (s State) Streams() (forward, reverse bool) {
	switch s.At() {
	case Copying, CatchingUp, Verifying, Ready, Cutting, RollingBack, Cut:
		return !s.givesUp(), s.Reversible
	default:
		return false, false
	}
}
