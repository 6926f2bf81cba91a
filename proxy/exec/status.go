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

// statusAnsiQuotes is a flag of MariaDB's own.
const statusAnsiQuotes = 1 << 15

// Status gives the flags of answers that no shard gave.
func (e *Environment) Status() uint16 {
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
	if e.Vars.Mode&stmt.NoBackslash != 0 { // clients escape by it
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

// ofSession are the flags that tell of a session, not of an answer.
const ofSession = mysql.SERVER_STATUS_AUTOCOMMIT | mysql.SERVER_STATUS_IN_TRANS | statusReadOnly | mysql.SERVER_STATUS_NO_BACKSLASH_ESCAPED | statusAnsiQuotes

// Retold is an ending for the answer of a connection that has not been told of the session's changes: it tells the session's flags in
// place of the connection's.
func (e *Environment) Retold(dst, packet []byte) ([]byte, error) {
	at := len(dst)
	dst = append(dst, packet...)
	if wire.IsERR(packet[wire.HeaderSize:]) {
		return dst, nil
	}
	return dst, wire.PatchStatus(dst[at:], ofSession, e.Status())
}

// ReadsOnly tells that servers refuse to write in the transaction that runs, or that a statement would begin.
func (e *Environment) ReadsOnly() bool {
	access := e.Conns.Access()
	return access == stmt.ReadOnly || access == stmt.AnyAccess && e.Vars.ReadsOnly()
}

// flags are set in the answer of a connection that does not know of the session's transaction: it has no part in it, or was not told to begin.
func (e *Environment) flags(w *Work) uint16 {
	if w.Outside && e.Conns.Running() || e.Conns.BegunUnderLocks() && w.Facts.Statement.Effects&stmt.Commits == 0 {
		return e.Status()
	}
	return 0
}

// TransactionState is how the client is told of its transaction.
func (e *Environment) TransactionState() string {
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

// telling is an ending that tells, in the OK of a shard, how a statement leaves the
// transaction; nil if the client knows.
func (e *Environment) telling(w *Work) reply.Ending {
	xa := w.Facts.Statement.Kind == stmt.XA
	if !e.Vars.TellsTransactions() || e.Conns.Begun() && e.Vars.InTransaction() && !xa {
		return nil // in a transaction that it was told of
	}
	state := e.TransactionState()
	if xa {
		state = stateOfXA(w.Facts.Statement.Branch.Verb, state)
	}
	if e.Vars.Knows(state) {
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
		ok.Changes = e.Vars.AppendState(nil, state)
		_, seq := wire.Header(packet)
		dst, _ = wire.AppendOK(dst, seq, ok, e.Client.Capabilities)
		return dst, nil
	}
}

// stateOfXA is the state that an XA statement leads to from another one.
func stateOfXA(verb, from string) string {
	switch verb {
	case "start":
		return sysvars.Begun
	case "prepare", "commit", "rollback":
		return sysvars.NotBegun
	}
	return from
}

// Ending is what changes the end of a statement's answer on one shard; nil: nothing does.
func (e *Environment) Ending(w *Work) reply.Ending {
	if e.Client.Capabilities&mysql.CLIENT_SESSION_TRACK == 0 || w.Outside && e.Conns.Running() {
		return nil
	}
	return e.telling(w)
}
