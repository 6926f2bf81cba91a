package session

import (
	"context"
	"log/slog"
	"slices"
	"strconv"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/txn"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// left is what a connection is told that a statement leaves on it.
func left(f *plan.Facts) backend.Leaves { return lefts[f.Leaves] }

var lefts = [...]backend.Leaves{
	plan.LeavesState: backend.State, plan.LeavesNothing: backend.Nothing, plan.LeavesVariables: backend.Variables,
	plan.LeavesRoutine: backend.State, plan.LeavesUnknown: backend.Unknown,
}

// tellLeft logs a statement after which its connection is not lent on as it is, for who looks for what costs resets. It is told
// without its literals.
func (s *Session) tellLeft(r *request) {
	if r.facts.Leaves == plan.LeavesNothing || !s.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	s.Log.Debug("statement may leave state", "session", s.id, "leaves", r.facts.Leaves.String(), "statement", r.values.Lexed.Digest(digestText).Text)
}

// stay takes over what a statement left on its connection: what can be carried
// is read and carried from then on; for the rest the connection stays.
func (s *Session) stay(l txn.Lease, r *request, failed bool) {
	st := r.facts.Statement
	status := s.statusOn(l)
	if st.Features&stmt.CalcFoundRows != 0 && !failed {
		s.readFoundRows(l)
	}
	if st.Features&stmt.SetsUserVariable != 0 {
		s.learn(l, st.Assigns)
	}
	switch r.facts.Leaves {
	case plan.LeavesRoutine:
		s.stayForRoutine(l)
	case plan.LeavesUnknown:
		l.Reserve(txn.Procedure)
		s.learn(l, st.ReadVariables)
		s.learnAll(l)
	case plan.LeavesState, plan.LeavesNothing, plan.LeavesVariables:
	}
	if st.Features&stmt.NamedLock != 0 {
		s.stayForLocks(l, r)
	}
	switch {
	case failed:
	case st.Kind == stmt.XA:
		l.XA(st.Branch.Verb, status)
	default:
		s.stayForTables(l, r)
	}
	l.Conn.SetStatus(status)
}

// stayForRoutine keeps the connection on which stored code ran: it may have left
// whatever a connection can have, which is the session's, and nobody else's.
func (s *Session) stayForRoutine(l txn.Lease) {
	l.Reserve(txn.Routine)
	s.learnAll(l)
}

func (s *Session) stayForTables(l txn.Lease, r *request) {
	st := r.facts.Statement
	switch {
	case st.Kind == stmt.Lock:
		l.Reserve(txn.LockedTables)
	case st.Handling != nil && st.Handling.Verb == "open":
		l.OpenedHandler()
	case st.Handling != nil && st.Handling.Verb == "close":
		l.ClosedHandler()
	case st.Verb == "CREATE" && st.Features&stmt.TemporaryTable != 0:
		l.MadeTemporary(s.fullNames(r, st.Created))
	default:
		l.LostTemporary(s.fullNames(r, st.Dropped), s.fullNames(r, st.Renamed))
	}
}

// temporary tells a statement that makes, drops or names temporary tables.
func (s *Session) temporary(r *request) bool {
	st := r.facts.Statement
	return st.Features&stmt.TemporaryTable != 0 || s.conns.Reserved(txn.TemporaryTable) && slices.ContainsFunc(st.Tables, func(t stmt.TableName) bool {
		return slices.Contains(s.conns.TemporaryTables(), s.fullName(r, t))
	})
}

func (s *Session) fullName(r *request, t stmt.TableName) catalog.TableName {
	return exec.FullName(t, s.schemaOf(r))
}

func (s *Session) fullNames(r *request, tables []stmt.TableName) []catalog.TableName {
	var list []catalog.TableName
	for _, t := range tables {
		list = append(list, s.fullName(r, t))
	}
	return list
}

func (s *Session) readFoundRows(l txn.Lease) {
	rows, err := l.Conn.Own().Query(s.ctx, "SELECT FOUND_ROWS()")
	if err != nil || len(rows.Rows) != 1 {
		return
	}
	if n, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64); err == nil {
		s.vars.FoundRows = n
	}
}

// stayForLocks tells which named locks the statement may have got or let go.
func (s *Session) stayForLocks(l txn.Lease, r *request) {
	locks := txn.NamedLocks{ReleasesAll: r.facts.Statement.Effects&stmt.ReleasesAllLocks != 0}
	for _, o := range r.facts.Statement.Locks {
		if v := r.values.Operand(o); v.Kind == stmt.String {
			locks.Names = append(locks.Names, string(v.Text))
		} else {
			locks.Unnamed = true
		}
	}
	l.KeepLocks(locks)
}

// roomFor tells why a statement can't be run that may add to what a connection is
// reserved for.
func (s *Session) roomFor(st *stmt.Statement) error {
	switch {
	case !s.conns.ReservesAny():
	case st.Features&stmt.NamedLock != 0:
		return s.conns.Room(txn.NamedLock)
	case st.Features&stmt.TemporaryTable != 0 && st.Verb == "CREATE":
		return s.conns.Room(txn.TemporaryTable)
	}
	return nil
}
