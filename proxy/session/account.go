package session

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/gather"
	"locus/proxy/sysvars"
	"locus/router/plan"
	"locus/router/stmt"
)

// Guard says what becomes of a statement that is allowed and dear.
type Guard uint8

const (
	// Allow it.
	Allow Guard = iota
	// Warn: it runs, and SHOW WARNINGS tells.
	Warn
	// Refuse it.
	Refuse
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
	// Late: sessions begin with locus_read = 'replica'.
	Late bool
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

// account gives a user's. One who is no longer declared may do nothing.
func (w *Snapshot) account(user string) *Account {
	if w.Accounts == nil {
		return unbounded
	}
	if a := w.Accounts[user]; a != nil {
		return a
	}
	return nobody
}

// obey takes the user's account from the snapshot.
func (s *Session) obey(w *Snapshot) {
	if s.under != w {
		s.under, s.account = w, w.account(s.user)
	}
}

// planContext is what statements are planned in.
func (s *Session) planContext(w *Snapshot) plan.Context {
	return plan.Context{Catalog: w.Catalog, Schema: s.vars.Settings.Database(), Rights: s.account.Rights, Owned: sysvars.Owned, Temporary: slices.Clone(s.conns.TemporaryTables())}
}

// mayScatter holds a read of several shards to the user's guard.
func (s *Session) mayScatter(shards int) error {
	switch s.account.Scatter {
	case Refuse:
		return &plan.Refusal{Code: plan.ScatterRefused, Message: "this user may not read several shards at once: name the owner, the ID or the order number in WHERE"}
	case Warn:
		s.vars.Warn("this statement read " + uitoa(uint64(shards)) + " shards")
	case Allow:
	}
	return nil
}

// mayScatterWrite holds a change of rows on several shards to the user's guard.
func (s *Session) mayScatterWrite(shards int) error {
	switch s.account.ScatterWrites {
	case Refuse:
		return plan.Scattered()
	case Warn:
		s.vars.Warn("this statement changed rows on " + uitoa(uint64(shards)) + " shards")
	case Allow:
	}
	return nil
}

// mayRunUnfiltered holds an UPDATE or DELETE without WHERE to the user's guard.
func (s *Session) mayRunUnfiltered(f *plan.Facts) error {
	switch {
	case s.account.Unfiltered == Allow || !f.Unfiltered:
	case s.account.Unfiltered == Warn:
		s.vars.Warn("this statement had no WHERE")
	default:
		return &plan.Refusal{Code: plan.UnfilteredRefused, Message: "this user may not change all rows of a table: name them in WHERE"}
	}
	return nil
}

// largeOffset is how many rows a read of several shards may skip before it is a
// matter of the user's guard: each shard sends as many.
const largeOffset = 10_000

// maySkip holds a read of several shards to the user's guard against large OFFSETs.
func (s *Session) maySkip(rows uint64) error {
	switch {
	case rows <= largeOffset || s.account.LargeOffset == Allow:
	case s.account.LargeOffset == Warn:
		s.vars.Warn("this statement skipped " + uitoa(rows) + " rows of several shards")
	default:
		return &plan.Refusal{Code: plan.OffsetRefused, Message: "this user may not skip more than " + uitoa(largeOffset) + " rows of several shards: go on from the last row's values in WHERE"}
	}
	return nil
}

// gatherLimits are what a statement may gather, and the bounds from which on it is a
// matter of the user's guard. Whatever that says, everybody's limits hold.
func (a *Account) gatherLimits() (most, bounds gather.Limits) {
	bounds = gather.Limits{Rows: cmp.Or(a.GatherRows, gatherRows), Bytes: cmp.Or(a.GatherBytes, gatherBytes)}
	if a.LargeGather == Refuse {
		return bounds, bounds
	}
	return gather.Limits{Rows: max(bounds.Rows, gatherRows), Bytes: max(bounds.Bytes, gatherBytes)}, bounds
}

// mayHaveGathered tells of a statement that has gathered more than the user's bounds.
func (s *Session) mayHaveGathered(rows, bytes int64) {
	if _, bounds := s.account.gatherLimits(); s.account.LargeGather == Warn && (rows > bounds.Rows || bytes > bounds.Bytes) {
		s.vars.Warn("this statement gathered " + uitoa(uint64(rows)) + " rows of several shards")
	}
}

// reserved refuses to change what the proxies keep in the schema locus of a shard.
func (s *Session) reserved() error {
	return &plan.Denied{
		Number:  mysql.ER_DBACCESS_DENIED_ERROR,
		Message: fmt.Sprintf("Access denied for user '%s'@'%%' to database '%s': proxies keep decisions and positions there; users with admin may change them", s.user, stmt.Own),
	}
}
