package exec

import (
	"context"
	"log/slog"
	"slices"
	"strconv"

	"locus/proxy/observe"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/router/plan"
	"locus/router/stmt"
)

// takeOver takes over what a statement left on its connection: what can be carried is read, and carried from then on; for the
// rest the connection is reserved. What is asked of the connection leaves it as it was.
func (e *Environment) takeOver(l txn.Lease, w *Work, a answer, left left) {
	if left&warnings != 0 {
		e.keepWarnings(l)
	}
	if a.Failed { // its status is what the connection has said since, to whoever asked for its warnings, or said before
		a.status = l.Conn.Status()
	}
	asked := left &^ (warnings | metadataLocks)
	if e.Vars.Count(w.Facts.Statement, a.Answer) { // behind the warnings: what is asked of the shard may warn
		e.readFoundRows(l)
		asked |= foundRows
	}
	if e.Vars.ForcedID != 0 && forcesID(w) {
		e.Vars.ForcedID = 0
	}
	if asked == 0 {
		return
	}
	e.takeValues(l, w, a, left)
	e.reserve(l, w, left, a.status)
	l.Conn.SetStatus(a.status)
}

// takeValues reads what every connection of the session can carry.
func (e *Environment) takeValues(l txn.Lease, w *Work, a answer, left left) {
	st := w.Facts.Statement
	if left&insertID != 0 && !e.insert.inserted {
		e.keepInsertID(l, a)
	}
	if left&foundRows != 0 {
		e.readFoundRows(l)
	}
	if left&assigned != 0 {
		e.learn(l, st.Assigns)
	}
	switch {
	case left&routineState != 0:
		e.reserveRoutine(l)
	case left&procedureState != 0:
		l.Reserve(txn.Procedure)
		e.learn(l, st.ReadVariables)
		e.learnAll(l)
	}
}

// reserveRoutine keeps the connection on which stored code ran: it may have left
// whatever a connection can have, which is the session's, and nobody else's.
func (e *Environment) reserveRoutine(l txn.Lease) {
	l.Reserve(txn.Routine)
	e.learnAll(l)
}

// reserve keeps the connection with the session for what can't be carried, or ends that.
func (e *Environment) reserve(l txn.Lease, w *Work, left left, status uint16) {
	st := w.Facts.Statement
	if left&namedLocks != 0 {
		l.KeepLocks(w.locks())
	}
	switch {
	case left&xaBranch != 0:
		l.XA(st.Branch.Verb, status)
	case left&lockedTables != 0:
		l.Reserve(txn.LockedTables)
	case left&openedHandler != 0:
		l.OpenedHandler()
	case left&closedHandler != 0:
		l.ClosedHandler()
	case left&madeTemporary != 0:
		l.MadeTemporary(e.fullNames(w, st.Created))
	case left&lostTemporary != 0:
		l.LostTemporary(e.fullNames(w, st.Dropped), e.fullNames(w, st.Renamed))
	}
}

// locks are the named locks that the statement may have got or let go.
func (w *Work) locks() txn.NamedLocks {
	locks := txn.NamedLocks{ReleasesAll: w.Facts.Statement.Effects&stmt.ReleasesAllLocks != 0}
	for _, o := range w.Facts.Statement.Locks {
		if v := w.Values.Operand(&o); v.Kind == stmt.String {
			locks.Names = append(locks.Names, string(v.Text))
		} else {
			locks.Unnamed = true
		}
	}
	return locks
}

// temporary tells a statement that makes, drops or names temporary tables.
func (e *Environment) temporary(w *Work) bool {
	st := w.Facts.Statement
	return st.Features&stmt.TemporaryTable != 0 || e.Conns.Reserved(txn.TemporaryTable) && slices.ContainsFunc(st.Tables, func(t stmt.TableName) bool {
		return slices.Contains(e.Conns.TemporaryTables(), e.FullName(w, t))
	})
}

// Room tells why a statement can't be run that may add to what a connection is
// reserved for.
func (e *Environment) Room(st *stmt.Statement) error {
	switch {
	case !e.Conns.ReservesAny():
	case st.Features&stmt.NamedLock != 0:
		return e.Conns.Room(txn.NamedLock)
	case st.Features&stmt.TemporaryTable != 0 && st.Verb == "CREATE":
		return e.Conns.Room(txn.TemporaryTable)
	}
	return nil
}

// keepWarnings fetches a statement's warnings while the connection is still the
// session's.
func (e *Environment) keepWarnings(l txn.Lease) {
	rows, err := l.Conn.Own().Query(e.Context, sysvars.AskWarnings)
	if err != nil {
		return
	}
	from := len(e.Vars.Conditions)
	e.Vars.Keep(rows)
	if code, failed := e.Client.Scanner.ErrCode(); failed {
		e.Vars.NoteState(from, code, e.Client.Scanner.ErrState())
	}
}

// keepInsertID asks the connection for LAST_INSERT_ID(), before it is lent to
// another session: the OK packet also tells IDs that were given, not generated. The
// connection has another session's value where the statement has set none.
func (e *Environment) keepInsertID(l txn.Lease, a answer) {
	if id, ok := e.number(l, "SELECT LAST_INSERT_ID()"); ok && (!a.inserted || id == a.insertID) {
		e.Vars.InsertID = id
	}
}

func (e *Environment) readFoundRows(l txn.Lease) {
	if n, ok := e.number(l, "SELECT FOUND_ROWS()"); ok {
		e.Vars.FoundRows = n
	}
}

// number asks a connection for one.
func (e *Environment) number(l txn.Lease, text string) (uint64, bool) {
	rows, err := l.Conn.Own().Query(e.Context, text)
	if err != nil || len(rows.Rows) != 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64)
	return n, err == nil
}

// unlock gives a connection back without its metadata locks. The client has its answer:
// a connection that can't be unlocked is closed, which unlocks it too.
func (e *Environment) unlock(l txn.Lease) {
	if _, err := l.Conn.Own().Exec(e.Context, "COMMIT"); err != nil {
		l.Lost()
		return
	}
	l.Done(l.Conn.Status())
}

// TellLeft logs a statement after which its connection is not lent on as it is, for who looks for what costs resets. It is told
// without its literals.
func (e *Environment) TellLeft(w *Work) {
	if w.Facts.Leaves == plan.LeavesNothing || !e.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	e.Log.Debug("statement may leave state", "session", e.ID, "leaves", w.Facts.Leaves.String(), "statement", w.Values.Lexed.Digest(observe.DigestText).Text)
}
