package exec

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/observe"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/router"
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

// checkRoom returns the reason why a statement can't run that may add to the state for which a connection is reserved; nil: it can.
func (e *Engine) checkRoom(st *stmt.Statement) error {
	switch {
	case !e.Conns.ReservesAny():
	case st.Features&stmt.NamedLock != 0:
		return e.Conns.CheckLimit(txn.NamedLock)
	case st.Features&stmt.TemporaryTable != 0 && st.Verb == "CREATE":
		return e.Conns.CheckLimit(txn.TemporaryTable)
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

// left is the set of states that a statement may leave on its connection and that belong to the session. Some are read before the
// connection is lent to another session. The others keep the connection reserved for this one.
type left uint16

const (
	warnings       left = 1 << iota
	insertID            // LAST_INSERT_ID()
	foundRows           // SQL_CALC_FOUND_ROWS
	assigned            // user variables that the statement assigns
	routineState        // whatever stored code may have left, including user variables
	procedureState      // any unknown state, including user variables that the statement reads
	namedLocks
	xaBranch
	lockedTables
	openedHandler
	closedHandler
	madeTemporary
	lostTemporary
	metadataLocks // although no transaction is open
)

// leftBy returns the states that a statement may have left, by its facts and the server's answer. commits reports that locks end
// with the statement: autocommit is on, or the connection is the transaction's.
func leftBy(f *plan.Facts, a answer, commits bool) (l left) {
	st := f.Statement
	if a.Failed || a.warned { // an error is a warning as well, and rarely the only one
		l |= warnings
	}
	if f.KeepsInsertID && (!a.Failed && a.inserted || f.ReadsInsertID && (!a.Failed || f.Leaves != plan.LeavesNothing)) {
		l |= insertID
	}
	if st.Features&stmt.CalcFoundRows != 0 && !a.Failed {
		l |= foundRows
	}
	if !commits && mayHoldMetadataLocks(st) && a.status&(mysql.SERVER_STATUS_IN_TRANS|mysql.SERVER_STATUS_CURSOR_EXISTS) == 0 {
		l |= metadataLocks
	}
	if f.Leaves == plan.LeavesNothing && st.Features&stmt.CalcFoundRows == 0 {
		return l
	}
	if st.Features&stmt.SetsUserVariable != 0 {
		l |= assigned
	}
	switch f.Leaves {
	case plan.LeavesRoutine:
		l |= routineState
	case plan.LeavesUnknown:
		l |= procedureState
	case plan.LeavesState, plan.LeavesNothing, plan.LeavesVariables:
	}
	if st.Features&stmt.NamedLock != 0 {
		l |= namedLocks
	}
	if !a.Failed {
		l |= ownedBy(st)
	}
	return l
}

// tracedMeanwhile reports whether the statement may have run stored code that was created after the statement was planned,
// such as a trigger, and may have left its state. Every proxy knows such code before a statement that runs it can end; see
// package ddl.
func (x *Execution) tracedMeanwhile() bool {
	now := x.Current()
	if x.Snapshot == nil || now.Catalog == x.Snapshot.Catalog || x.Facts.Leaves > plan.LeavesVariables {
		return false
	}
	return plan.LeavesUnder(x.Facts.Statement, now.Catalog, x.Schema()) == plan.LeavesRoutine
}

// ownedBy returns the state that a successful statement has made or removed and that only its connection has.
func ownedBy(st *stmt.Statement) left {
	switch {
	case st.Kind == stmt.XA:
		return xaBranch
	case st.Kind == stmt.Lock:
		return lockedTables
	case st.Handling != nil && st.Handling.Verb == "open":
		return openedHandler
	case st.Handling != nil && st.Handling.Verb == "close":
		return closedHandler
	case st.Verb == "CREATE" && st.Features&stmt.TemporaryTable != 0:
		return madeTemporary
	case len(st.Dropped)+len(st.Renamed) > 0:
		return lostTemporary
	}
	return 0
}

// mayHoldMetadataLocks reports whether the server may hold metadata locks after a statement although it reports no open
// transaction. With autocommit off, procedures and tables of engines without transactions leave such locks until a COMMIT. An idle
// connection in the pool would block every DROP.
func mayHoldMetadataLocks(st *stmt.Statement) bool {
	switch st.Kind {
	case stmt.Call, stmt.Other: // Other: the parser could not read it
		return true
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
		return len(st.Tables) > 0
	default:
		return false
	}
}

// learn reads user variables from the connection on which a statement assigned them, so that the other connections carry them too.
func (e *Engine) learn(l txn.Lease, names []string) {
	if len(names) == 0 {
		return
	}
	rows, err := l.Conn.Own().Query(e.Context, sysvars.AskUserVariables(names))
	if err != nil {
		e.endUnreadable(l, unreadable(l.Shard))
		return
	}
	next, carried := sysvars.WithUserVariables(e.Vars.Settings, names, rows)
	if next == nil {
		e.endUnreadable(l, unreadable(l.Shard))
		return
	}
	if err := e.Carriable(next); err != nil {
		e.endUnreadable(l, err)
		return
	}
	l.Conn.Adopt(next)
	e.Conns.Invalidate(carried, l.Conn)
	e.Carry(next)
}

// unreadable returns the error for values that a shard has but doesn't return. Their HEX is larger than the shard's
// max_allowed_packet, or the connection was lost.
func unreadable(shard router.ShardName) error {
	return &plan.Refusal{Code: plan.TooLarge, Message: fmt.Sprintf(
		"user variables that the statement before assigned could not be read from shard %s, being larger than half of its max_allowed_packet, or since the connection was lost: keep large values in a table", shard)}
}

// endUnreadable makes the session end before its next statement, which would not see the variables that the last one assigned. The
// client already has the answer to that one. The connection is lent to no other session.
func (e *Engine) endUnreadable(l txn.Lease, why error) {
	l.Conn.Note(backend.Unknown)
	e.Unreadable = why
}

// mostLearned is the number of variables that one query reads. Servers return at most 4,096 columns.
const mostLearned = 500

// learnAll reads the user variables that a routine may have assigned. Servers list their names. A server doesn't if its
// performance_schema is off, or the proxy's account has no right to it. Then learnAll reads the variables that the session has, and
// those that the bodies of routines name.
func (e *Engine) learnAll(l txn.Lease) {
	var names []string
	rows, err := l.Conn.Own().Query(e.Context, e.Flavor().UserVariables())
	switch {
	case err == nil && len(rows.Rows) > 0:
		for _, row := range rows.Rows {
			if row[0] != nil { // one row has no name; it shows that the list exists
				names = append(names, strings.ToLower(string(row[0])))
			}
		}
	case err != nil && !txn.IsRefusal(err):
		return // the connection was lost, and the session ends with it
	default:
		names = e.assignedOf(l, e.Current().Catalog.Variables())
	}
	slices.Sort(names)
	for chunk := range slices.Chunk(names, mostLearned) {
		e.learn(l, chunk)
	}
}

// assignedOf returns the variables that the session has, and the candidates that have a value.
func (e *Engine) assignedOf(l txn.Lease, candidates []string) []string {
	names := e.Vars.UserVariables()
	candidates = slices.DeleteFunc(slices.Clone(candidates), func(name string) bool { return slices.Contains(names, name) })
	for chunk := range slices.Chunk(candidates, mostLearned) {
		rows, err := l.Conn.Own().Query(e.Context, sysvars.AskAssigned(chunk))
		if err != nil || len(rows.Rows) != 1 || len(rows.Columns) != len(chunk) {
			e.endUnreadable(l, unreadable(l.Shard))
			return nil
		}
		for i, name := range chunk {
			if string(rows.Rows[0][i]) == "1" {
				names = append(names, name)
			}
		}
	}
	return names
}
