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
func (x *Execution) takeOver(l txn.Lease, a answer, left left) {
	if left&warnings != 0 {
		x.keepWarnings(l)
	}
	if a.Failed { // an error packet has no status: use that of the connection's last answer
		a.status = l.Conn.Status()
	}
	pending := left &^ (warnings | metadataLocks)
	if x.Vars.Count(x.Facts.Statement, a.Answer) { // after reading the warnings: the query may itself cause some
		x.readFoundRows(l)
		pending |= foundRows
	}
	if x.Vars.ForcedID != 0 && forcesID(x) {
		x.Vars.ForcedID = 0
	}
	if pending == 0 {
		return
	}
	x.takeValues(l, a, left)
	x.reserve(l, left, a.status)
	l.Conn.SetStatus(a.status)
}

// takeValues reads the values that every connection of the session can carry.
func (x *Execution) takeValues(l txn.Lease, a answer, left left) {
	st := x.Facts.Statement
	if left&insertID != 0 && !x.insert.inserted {
		x.keepInsertID(l, a)
	}
	if left&foundRows != 0 {
		x.readFoundRows(l)
	}
	if left&assigned != 0 {
		x.learn(l, st.Assigns)
	}
	switch {
	case left&routineState != 0:
		x.reserveRoutine(l)
	case left&procedureState != 0:
		l.Reserve(txn.Procedure)
		x.learn(l, st.ReadVariables)
		x.learnAll(l)
	}
}

// reserveRoutine reserves a connection on which stored code ran. The code may have left any state of a connection. It belongs to
// the session, and no other session may see it.
func (e *Engine) reserveRoutine(l txn.Lease) {
	l.Reserve(txn.Routine)
	e.learnAll(l)
}

// reserve reserves the connection for state that can't be carried, or ends such a reservation.
func (x *Execution) reserve(l txn.Lease, left left, status uint16) {
	st := x.Facts.Statement
	if left&namedLocks != 0 {
		l.KeepLocks(x.locks())
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
		l.MadeTemporary(x.fullNames(st.Created))
	case left&lostTemporary != 0:
		l.LostTemporary(x.fullNames(st.Dropped), x.fullNames(st.Renamed))
	}
}

// locks returns the named locks that the statement may have acquired or released.
func (x *Execution) locks() txn.NamedLocks {
	locks := txn.NamedLocks{ReleasesAll: x.Facts.Statement.Effects&stmt.ReleasesAllLocks != 0}
	for _, o := range x.Facts.Statement.Locks {
		if v := x.Values.Operand(&o); v.Kind == stmt.String {
			locks.Names = append(locks.Names, string(v.Text))
		} else {
			locks.Unnamed = true
		}
	}
	return locks
}

// usesTemporary reports whether a statement makes, drops or names temporary tables.
func (x *Execution) usesTemporary() bool {
	st := x.Facts.Statement
	return st.Features&stmt.TemporaryTable != 0 || x.Conns.Reserved(txn.TemporaryTable) && slices.ContainsFunc(st.Tables, func(t stmt.TableName) bool {
		return slices.Contains(x.Conns.TemporaryTables(), x.FullName(t))
	})
}

// Room returns the reason why a statement can't run that may add to the state for which a connection is reserved; nil: it can.
func (e *Engine) Room(st *stmt.Statement) error {
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
func (e *Engine) keepWarnings(l txn.Lease) {
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
func (e *Engine) keepInsertID(l txn.Lease, a answer) {
	if id, ok := e.number(l, "SELECT LAST_INSERT_ID()"); ok && (!a.inserted || id == a.insertID) {
		e.Vars.InsertID = id
	}
}

func (e *Engine) readFoundRows(l txn.Lease) {
	if n, ok := e.number(l, "SELECT FOUND_ROWS()"); ok {
		e.Vars.FoundRows = n
	}
}

// number returns the result of a query for one number, or false if it failed.
func (e *Engine) number(l txn.Lease, text string) (uint64, bool) {
	rows, err := l.Conn.Own().Query(e.Context, text)
	if err != nil || len(rows.Rows) != 1 {
		return 0, false
	}
	n, err := strconv.ParseUint(string(rows.Rows[0][0]), 10, 64)
	return n, err == nil
}

// unlock ends the metadata locks of a connection and gives it back. A connection on which this fails is closed, which also ends its
// locks. The client has its answer already.
func (e *Engine) unlock(l txn.Lease) {
	if _, err := l.Conn.Own().Exec(e.Context, "COMMIT"); err != nil {
		l.Lost()
		return
	}
	l.Done(l.Conn.Status())
}

// LogEffects logs, without its literals, a statement that may leave state on its connection. The log shows operators which statements
// cause resets of connections.
func (x *Execution) LogEffects() {
	if x.Facts.Leaves == plan.LeavesNothing || !x.Log.Enabled(context.Background(), slog.LevelDebug) {
		return
	}
	x.Log.Debug("statement may leave state", "session", x.ID, "leaves", x.Facts.Leaves.String(), "statement", x.Values.Lexed.Digest(observe.DigestText).Text)
}
