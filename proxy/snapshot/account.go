package snapshot

import (
	"time"

	"locus/proxy/sysvars"
	"locus/router/plan"
)

// Account is what is declared of a user, as far as a session obeys it. It is
// immutable; a change replaces it, and the next statement obeys.
type Account struct {
	// Rights are what statements are held to; nil: no bounds.
	Rights *plan.Rights
	// Scatter is about reads of several shards.
	Scatter Guard
	// ScatterWrites is about UPDATE and DELETE on several shards, Unfiltered about
	// those without WHERE.
	ScatterWrites, Unfiltered Guard
	// LargeOffset is about reads of several shards that skip many rows.
	LargeOffset Guard
	// GatherRows and GatherBytes bound what is gathered for one statement; 0: as
	// for everybody. LargeGather is about statements that gather more than that.
	GatherRows, GatherBytes int64
	LargeGather             Guard
	// Reads is what locus_read is in sessions that begin.
	Reads sysvars.ReadsFrom
	// Admin: may end other users' sessions.
	Admin bool
	// MaxConnections at this process; 0: as many as there are places.
	MaxConnections int
	// StatementTimeout is the user's own, 0 none; nil: the process's.
	StatementTimeout *time.Duration
	// SlowStatement is from how long on one of the user's is slow; 0: as the
	// process has it.
	SlowStatement time.Duration
}

var (
	unbounded = &Account{ScatterWrites: Refuse}
	nobody    = &Account{Rights: &plan.Rights{ID: ^uint64(0), Databases: map[string]bool{}, ReadOnly: true}, Scatter: Refuse, ScatterWrites: Refuse}
)

// Account gives a user's. One who is no longer declared may do nothing.
func (w *Snapshot) Account(user string) *Account {
	if w.Accounts == nil {
		return unbounded
	}
	if a := w.Accounts[user]; a != nil {
		return a
	}
	return nobody
}
