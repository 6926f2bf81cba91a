package exec

import (
	"errors"
	"fmt"
	"slices"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/sysvars"
	"locus/proxy/txn"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// statusReadOnly is SERVER_STATUS_IN_TRANS_READONLY.
const statusReadOnly = 0x2000

// statusAnsiQuotes is a flag that only MariaDB has.
const statusAnsiQuotes = 1 << 15

// Status returns the flags of answers that come from no shard.
func (e *Engine) Status() uint16 {
	var flags uint16
	if e.Vars.Autocommit {
		flags |= mysql.SERVER_STATUS_AUTOCOMMIT
	}
	if e.Conns.Active() {
		flags |= mysql.SERVER_STATUS_IN_TRANS
		if e.readsOnly() {
			flags |= statusReadOnly
		}
	}
	if e.Vars.Mode&stmt.NoBackslash != 0 { // clients escape quotes according to it
		flags |= mysql.SERVER_STATUS_NO_BACKSLASH_ESCAPED
	}
	if e.Vars.Mode&stmt.AnsiQuotes != 0 && e.Flavor().TellsAnsiQuotes() {
		flags |= statusAnsiQuotes
	}
	if e.Client.More {
		flags |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	return flags
}

// ofSession contains the flags that describe the session, and not the answer.
const ofSession = mysql.SERVER_STATUS_AUTOCOMMIT | mysql.SERVER_STATUS_IN_TRANS | statusReadOnly | mysql.SERVER_STATUS_NO_BACKSLASH_ESCAPED | statusAnsiQuotes

// WithSessionStatus implements [reply.Ending] for the answer of a connection that doesn't have the session's state. It replaces the
// connection's flags by the session's.
func (e *Engine) WithSessionStatus(dst, packet []byte) ([]byte, error) {
	at := len(dst)
	dst = append(dst, packet...)
	if wire.IsERR(packet[wire.HeaderSize:]) {
		return dst, nil
	}
	return dst, wire.PatchStatus(dst[at:], ofSession, e.Status())
}

// readsOnly reports whether servers refuse writes in the current transaction, or in the one that a statement would begin.
func (e *Engine) readsOnly() bool {
	access := e.Conns.Access()
	return access == stmt.ReadOnly || access == stmt.AnyAccess && e.Vars.ReadsOnly()
}

// flags returns flags to set in an answer of a connection that doesn't have the session's transaction: it takes no part in it, or
// the transaction was not begun there.
func (x *Execution) flags() uint16 {
	if x.Outside && x.Conns.Running() || x.Conns.BegunUnderLocks() && x.Facts.Statement.Effects&stmt.Commits == 0 {
		return x.Status()
	}
	return 0
}

// transactionState returns the state of the transaction in the form in which it is reported to the client.
func (e *Engine) transactionState() string {
	switch {
	case e.Conns.Reserved(txn.GlobalTransaction):
		return sysvars.Begun
	case !e.Conns.Begun():
		return sysvars.NotBegun
	case e.Conns.How().Snapshot:
		return sysvars.BegunReading
	}
	return sysvars.Begun
}

// transactionEnding returns an ending that reports in the OK packet of a shard whether a transaction is open after the statement.
// It returns nil if the client knows the state.
func (x *Execution) transactionEnding() reply.Ending {
	xa := x.Facts.Statement.Kind == stmt.XA
	if !x.Vars.ReportsTransactions() || x.Conns.Begun() && x.Vars.InTransaction() && !xa {
		return nil // the client knows of this transaction
	}
	state := x.transactionState()
	if xa {
		state = stateOfXA(x.Facts.Statement.Branch.Verb, state)
	}
	if x.Vars.Reported(state) {
		return nil
	}
	return func(dst, packet []byte) ([]byte, error) {
		payload := packet[wire.HeaderSize:]
		if payload[0] != mysql.OK_HEADER {
			return append(dst, packet...), nil
		}
		ok, err := wire.ParseOK(payload, 0)
		if err != nil {
			return nil, err
		}
		ok.Changes = x.Vars.AppendState(nil, state)
		_, seq := wire.Header(packet)
		dst, _ = wire.AppendOK(dst, seq, ok, x.Client.Capabilities)
		return dst, nil
	}
}

// stateOfXA returns the state after an XA statement, given the state before.
func stateOfXA(verb, from string) string {
	switch verb {
	case "start":
		return sysvars.Begun
	case "prepare", "commit", "rollback":
		return sysvars.NotBegun
	}
	return from
}

// ending returns the change of the end of a statement's answer on one shard; nil: there is none.
func (x *Execution) ending() reply.Ending {
	if x.Client.Capabilities&mysql.CLIENT_SESSION_TRACK == 0 || x.Outside && x.Conns.Running() {
		return nil
	}
	return x.transactionEnding()
}

// staleWarning is the code of the warning that an answer may be stale. It begins the text.
const staleWarning = "locus-1401"

// markStale warns the client that rows come from the last known primary of a shard, which etcd does not confirm. A statement without
// tables reads no rows.
func (x *Execution) markStale(l txn.Lease) {
	if len(x.Facts.Statement.Tables) == 0 || slices.Contains(x.stale, l.Shard) {
		return
	}
	x.stale = append(x.stale, l.Shard)
	x.Client.Added = len(x.stale)
	l.CountStale()
	x.Vars.WarnAs(staleWarning, fmt.Sprintf("the rows of shard %s may be stale, or lack what was written or moved meanwhile: etcd does not confirm that %s is still its primary (stale_reads)",
		l.Shard, l.Conn.Addr()))
}

// ClearStale clears the marks after the statement has ended.
func (e *Engine) ClearStale() {
	if len(e.stale) > 0 {
		e.stale, e.Client.Added = e.stale[:0], 0
	}
}

// Unbegun reports whether a statement was refused before it began a transaction of its own, so that SET TRANSACTION still applies
// to the next one.
func (x *Execution) Unbegun(err error) bool {
	code := x.Code
	switch {
	case txn.IsRefusal(err):
		code = txn.CodeOf(err)
	case err != nil:
		return !mayHaveBegun(err)
	}
	if x.Snapshot.Flavor.BeginsBeforeColumns() && x.Prepared == nil && code == mysql.ER_BAD_FIELD_ERROR {
		return false // the server opened its tables; a prepared statement is refused before that
	}
	return x.Facts.Statement.Effects&stmt.Commits == 0 && beforeBeginning(code)
}

// mayHaveBegun reports whether an error may come from a server that had begun to run the statement.
func mayHaveBegun(err error) bool {
	_, lost := errors.AsType[*backend.LostError](err)
	return lost
}

// beforeBeginning reports whether servers return an error code while they parse a statement or open its tables: no database,
// unknown tables and columns, syntax, rights, tables that are not locked, and writes in a read-only transaction.
func beforeBeginning(code uint16) bool { return slices.Contains(refusedAtOnce, code) }

var refusedAtOnce = []uint16{1044, 1046, 1049, 1050, 1051, 1052, 1054, 1064, 1066, 1099, 1100, 1109, 1136, 1142, 1143, 1146, 1192, 1305, 1792}
