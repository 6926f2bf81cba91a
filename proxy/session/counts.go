package session

import (
	"sync/atomic"

	"locus/proxy/exec"
	"locus/proxy/interrupt"
	"locus/proxy/txn"
)

// Counts are what the sessions of a process add up, for metrics.
type Counts struct {
	txn.Counts
	exec.Tally
	Statements atomic.Uint64 // commands that ran SQL
	Refused    Refusals
	Parsed     atomic.Uint64 // texts whose plan was not in the cache
	Failed     atomic.Uint64 // errors of ours or of a shard's connection
	Denied     atomic.Uint64 // that the user may not run
	Prepared   atomic.Int64  // statements that clients have prepared and not closed

	Held        atomic.Uint64 // statements that waited while their genes changed hands
	HeldTooLong atomic.Uint64 // of which until the deadline
	Holding     atomic.Int64  // that wait now
	Yielded     atomic.Uint64 // transactions rolled back for a hand-over

	Killed    atomic.Uint64 // statements that KILL ended
	TimedOut  atomic.Uint64 // or that ran for longer than they may
	Abandoned atomic.Uint64 // or whose client was gone
	ShutDown  atomic.Uint64 // or that the proxy's end cut off
	Silent    atomic.Uint64 // sessions that sent nothing for too long

	StalledWrites atomic.Uint64 // sessions whose client read nothing of its answer for too long
	StalledReads  atomic.Uint64 // sessions whose client sent nothing in the middle of a command for too long
}

// Stalled counts a session that was ended because its client stalled.
func (c *Counts) Stalled(reading bool) {
	if reading {
		c.StalledReads.Add(1)
	} else {
		c.StalledWrites.Add(1)
	}
}

// Cancelled counts a statement that was ended from outside.
func (c *Counts) Cancelled(r interrupt.Reason) {
	switch r {
	case interrupt.Killed:
		c.Killed.Add(1)
	case interrupt.TimedOut:
		c.TimedOut.Add(1)
	case interrupt.ClientGone:
		c.Abandoned.Add(1)
	case interrupt.ShuttingDown:
		c.ShutDown.Add(1)
	case interrupt.Silent:
		c.Silent.Add(1)
	case interrupt.Preempted:
		c.Yielded.Add(1)
	}
}
