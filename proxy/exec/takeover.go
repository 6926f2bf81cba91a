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

// takeOver handles the state that a statement left on its connection. It reads the values that other connections can carry, and
// carries them from then on. For other state it reserves the connection. Its queries don't change the connection's state.
func (e *Environment) takeOver(l txn.Lease, w *Work, a answer, left left) {
	if left&warnings != 0 {
		e.keepWarnings(l)
	}
	if a.Failed { // an error packet has no status: use that of the connection's last answer
		a.status = l.Conn.Status()
	}
	pending := left &^ (warnings | metadataLocks)
	if e.Vars.Count(w.Facts.Statement, a.Answer) { // after reading the warnings: the query may itself cause some
		e.readFoundRows(l)
		pending |= foundRows
	}
	if e.Vars.ForcedID != 0 && forcesID(w) {
		e.Vars.ForcedID = 0
	}
	if pending == 0 {
		return
	}
	e.takeValues(l, w, a, left)
	e.reserve(l, w, left, a.status)
	l.Conn.SetStatus(a.status)
}

// takeValues reads the values that every connection of the session can carry.
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

// reserveRoutine reserves a connection on which stored code ran. The code may have left any state of a connection. It belongs to
// the session, and no other session may see it.
func (e *Environment) reserveRoutine(l txn.Lease) {
	l.Reserve(txn.Routine)
	e.learnAll(l)
}

// reserve reserves the connection for state that can't be carried, or ends such a reservation.
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

// locks returns the named locks that the statement may have acquired or released.
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

// usesTemporary reports whether a statement makes, drops or names temporary tables.
func (e *Environment) usesTemporary(w *Work) bool {
	st := w.Facts.Statement
	return st.Features&stmt.TemporaryTable != 0 || e.Conns.Reserved(txn.TemporaryTable) && slices.ContainsFunc(st.Tables, func(t stmt.TableName) bool {
		return slices.Contains(e.Conns.TemporaryTables(), e.FullName(w, t))
	})
}

// Room returns the reason why a statement can't run that may add to the state for which a connection is reserved; nil: it can.
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

// keepWarnings reads a statement's warnings while the connection still belongs to the session.
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

// keepInsertID reads LAST_INSERT_ID() from the connection before it is lent to another session. The OK packet doesn't suffice,
// because it also contains IDs that were given and not generated. If the statement has set no ID, the connection has another
// session's value.
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

// number returns the result of a query for one number, or false if it failed.
func (e *Environment) number(l txn.Lease, text string) (uint64, bool) {
	rows, err := l.Conn.Own().Query(e.Context, text)
	if err != nil || len(rows.Rows) != 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64)
	return n, err == nil
}

// unlock ends the metadata locks of a connection and gives it back. A connection on which this fails is closed, which also ends its
// locks. The client has its answer already.
func (e *Environment) unlock(l txn.Lease) {
	if _, err := l.Conn.Own().Exec(e.Context, "COMMIT"); err != nil {
		l.Lost()
		return
	}
	l.Done(l.Conn.Status())
}

// LogEffects logs, without its literals, a statement that may leave state on its connection. The log shows operators which statements
// cause resets of connections.
func (e *Environment) LogEffects(w *Work) {
	if w.Facts.Leaves == plan.LeavesNothing || !e.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	e.Log.Debug("statement may leave state", "session", e.ID, "leaves", w.Facts.Leaves.String(), "statement", w.Values.Lexed.Digest(observe.DigestText).Text)
}
