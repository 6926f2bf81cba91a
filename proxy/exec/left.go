package exec

import (
	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/router/plan"
	"locus/router/stmt"
)

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
