package snapshot

import (
	"time"

	"locus/proxy/sysvars"
	"locus/router/plan"
)

// Account is the declared configuration of a user, as far as sessions apply it. It is immutable. A change replaces it and takes
// effect with the next statement.
type Account struct {
	// Rights contains the user's privileges; nil means unlimited.
	Rights *plan.Rights
	// Scatter applies to reads of several shards.
	Scatter Guard
	// ScatterWrites applies to UPDATE and DELETE on several shards. Unfiltered applies to those without WHERE.
	ScatterWrites, Unfiltered Guard
	// LargeOffset applies to reads of several shards that skip many rows.
	LargeOffset Guard
	// GatherRows and GatherBytes limit the rows gathered for one statement; 0 means the defaults. LargeGather
	// applies to statements that exceed them.
	GatherRows, GatherBytes int64
	LargeGather             Guard
	// Reads is the initial value of locus_read in new sessions.
	Reads sysvars.ReadsFrom
	// Admin reports whether the user may end other users' sessions.
	Admin bool
	// MaxConnections limits the user's connections to this process; 0 means no limit.
	MaxConnections int
	// StatementTimeout is the time limit of the user's statements, where 0 means none; nil means the process's setting.
	StatementTimeout *time.Duration
	// SlowStatement is the duration from which the user's statements are slow; 0 means the process's setting.
	SlowStatement time.Duration
}

var (
	unbounded  = &Account{ScatterWrites: Refuse}
	undeclared = &Account{Rights: &plan.Rights{ID: ^uint64(0), Databases: map[string]bool{}, ReadOnly: true}, Scatter: Refuse, ScatterWrites: Refuse}
)

// Account returns a user's account. A user that is no longer declared has no rights.
func (w *Snapshot) Account(user string) *Account {
	if w.Accounts == nil {
		return unbounded
	}
	if a := w.Accounts[user]; a != nil {
		return a
	}
	return undeclared
}
