package session

import (
	"sync/atomic"

	"locus/proxy/exec"
	"locus/proxy/interrupt"
	"locus/proxy/txn"
)

// Counts contains the counters of all sessions of a process, for metrics.
type Counts struct {
	txn.Counts
	exec.Tally
	Statements atomic.Uint64 // commands that ran SQL
	Refused    Refusals
	Parsed     atomic.Uint64 // texts whose plan was not in the cache
	Failed     atomic.Uint64 // internal errors, and errors of a shard's connection
	Denied     atomic.Uint64 // statements that the user is not allowed to run
	Prepared   atomic.Int64  // statements that clients have prepared and not closed

	Held        atomic.Uint64 // statements that waited while their genes were handed over
	HeldTooLong atomic.Uint64 // statements in Held that reached the deadline
	Holding     atomic.Int64  // statements that are waiting now
	Yielded     atomic.Uint64 // transactions rolled back for a hand-over

	Killed    atomic.Uint64 // statements that KILL ended
	TimedOut  atomic.Uint64 // statements that exceeded their time limit
	Abandoned atomic.Uint64 // statements whose client disconnected
	ShutDown  atomic.Uint64 // statements that the shutdown of the proxy cut off
	Silent    atomic.Uint64 // sessions whose client sent no command for too long

	StalledWrites atomic.Uint64 // sessions whose client did not read its answer for too long
	StalledReads  atomic.Uint64 // sessions whose client sent only a part of a command for too long
}

// Stalled counts a session that was ended because its client stalled. reading reports that the session was reading a command.
func (c *Counts) Stalled(reading bool) {
	if reading {
		c.StalledReads.Add(1)
	} else {
		c.StalledWrites.Add(1)
	}
}

// Cancelled counts a statement or session that was ended from outside.
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
