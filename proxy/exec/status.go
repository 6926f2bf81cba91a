package exec

import (
	"github.com/go-mysql-org/go-mysql/mysql"

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
		if e.ReadsOnly() {
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

// Retold implements [reply.Ending] for the answer of a connection that doesn't have the session's state. It replaces the
// connection's flags by the session's.
func (e *Engine) Retold(dst, packet []byte) ([]byte, error) {
	at := len(dst)
	dst = append(dst, packet...)
	if wire.IsERR(packet[wire.HeaderSize:]) {
		return dst, nil
	}
	return dst, wire.PatchStatus(dst[at:], ofSession, e.Status())
}

// ReadsOnly reports whether servers refuse writes in the current transaction, or in the one that a statement would begin.
func (e *Engine) ReadsOnly() bool {
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

// TransactionState returns the state of the transaction in the form in which it is reported to the client.
func (e *Engine) TransactionState() string {
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
	if !x.Vars.TellsTransactions() || x.Conns.Begun() && x.Vars.InTransaction() && !xa {
		return nil // the client knows of this transaction
	}
	state := x.TransactionState()
	if xa {
		state = stateOfXA(x.Facts.Statement.Branch.Verb, state)
	}
	if x.Vars.Knows(state) {
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

// Ending returns the change of the end of a statement's answer on one shard; nil: there is none.
func (x *Execution) Ending() reply.Ending {
	if x.Client.Capabilities&mysql.CLIENT_SESSION_TRACK == 0 || x.Outside && x.Conns.Running() {
		return nil
	}
	return x.transactionEnding()
}
