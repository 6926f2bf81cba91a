package session

import "sync/atomic"

// Counts are what the sessions of a process add up, for metrics.
type Counts struct {
	Statements atomic.Uint64 // commands that ran SQL
	OneShard   atomic.Uint64 // of which on one shard
	Scattered  atomic.Uint64 // of which on several
	Stamped    atomic.Uint64 // rows that got a generated ID
	Refused    atomic.Uint64 // by the planner
	Parsed     atomic.Uint64 // texts whose plan was not in the cache
	Failed     atomic.Uint64 // errors of ours or of a shard's connection

	Killed    atomic.Uint64 // statements that KILL ended
	TimedOut  atomic.Uint64 // or that ran for longer than they may
	Abandoned atomic.Uint64 // or whose client was gone
	ShutDown  atomic.Uint64 // or that the proxy's end cut off
}

// Cancelled counts a statement that was ended from outside.
func (c *Counts) Cancelled(r Reason) {
	switch r {
	case Killed:
		c.Killed.Add(1)
	case TimedOut:
		c.TimedOut.Add(1)
	case ClientGone:
		c.Abandoned.Add(1)
	case ShuttingDown:
		c.ShutDown.Add(1)
	}
}
