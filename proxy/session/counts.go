package session

import (
	"sync/atomic"

	"locus/proxy/session/interrupt"
	"locus/proxy/twophase"
)

// Counts are what the sessions of a process add up, for metrics.
type Counts struct {
	Transactions Transactions
	Statements   atomic.Uint64 // commands that ran SQL
	OneShard     atomic.Uint64 // of which on one shard
	Scattered    atomic.Uint64 // of which on several
	Stamped      atomic.Uint64 // rows that got a generated ID
	Gathered     atomic.Uint64 // of which whose rows were gathered
	Retried      atomic.Uint64 // reads that were sent again, since the connection was lost before any answer
	Refused      Refusals
	Parsed       atomic.Uint64 // texts whose plan was not in the cache
	Failed       atomic.Uint64 // errors of ours or of a shard's connection
	OnReplicas   atomic.Uint64 // reads that a replica answered
	Denied       atomic.Uint64 // that the user may not run
	Prepared     atomic.Int64  // statements that clients have prepared and not closed
	pins         pinCounts

	Held        atomic.Uint64 // statements that waited while their genes changed hands
	HeldTooLong atomic.Uint64 // of which until the deadline
	Holding     atomic.Int64  // that wait now
	Yielded     atomic.Uint64 // transactions rolled back for a hand-over

	Killed    atomic.Uint64 // statements that KILL ended
	TimedOut  atomic.Uint64 // or that ran for longer than they may
	Abandoned atomic.Uint64 // or whose client was gone
	ShutDown  atomic.Uint64 // or that the proxy's end cut off
	Silent    atomic.Uint64 // sessions that sent nothing for too long
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

// Transactions count those that had a part on a shard, by how many parts and by
// what became of them.
type Transactions struct{ counts [2][3]atomic.Uint64 }

func (t *Transactions) count(shards int, v twophase.Verdict) {
	t.counts[min(shards, 2)-1][v].Add(1)
}

// One and Several give how many transactions on one shard, and on several, ended
// in a way.
func (t *Transactions) One(v twophase.Verdict) uint64     { return t.counts[0][v].Load() }
func (t *Transactions) Several(v twophase.Verdict) uint64 { return t.counts[1][v].Load() }
