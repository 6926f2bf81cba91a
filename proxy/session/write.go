package session

import (
	"errors"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/backend"
	"locus/proxy/reply"
	"locus/proxy/wire"
	"locus/router/stmt"
)

// statusReadOnly is SERVER_STATUS_IN_TRANS_READONLY.
const statusReadOnly = 0x2000

// binaryCollation is that of numbers and bytes.
const binaryCollation = 63

// statusAnsiQuotes is a flag of MariaDB's own.
const statusAnsiQuotes = 1 << 15

// status gives the flags of answers that no shard gave.
func (s *Session) status() uint16 {
	var flags uint16
	if s.vars.Autocommit {
		flags |= mysql.SERVER_STATUS_AUTOCOMMIT
	}
	if s.conns.Active() {
		flags |= mysql.SERVER_STATUS_IN_TRANS
	}
	if s.conns.How().Access == stmt.ReadOnly {
		flags |= statusReadOnly
	}
	if s.vars.Mode&stmt.NoBackslash != 0 { // clients escape by it
		flags |= mysql.SERVER_STATUS_NO_BACKSLASH_ESCAPED
	}
	if s.vars.Mode&stmt.AnsiQuotes != 0 && s.flavor().TellsAnsiQuotes() {
		flags |= statusAnsiQuotes
	}
	if s.client.More {
		flags |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	return flags
}

func (s *Session) writeOK(ok wire.OK) error {
	ok.Status |= s.status()
	if s.vars.TellsTransactions() {
		s.vars.TrackTransaction(s.transactionState())
	}
	ok.Changes = s.vars.Told()
	s.vars.RowCount = int64(ok.AffectedRows)
	return s.client.OK(ok)
}

// done tells the client of a statement that is done.
func (s *Session) done(ok wire.OK) error {
	if err := s.writeOK(ok); err != nil {
		return &reply.GoneError{Err: err}
	}
	return nil
}

// writeError tells the client. If the transaction was lost with what failed, the
// session ends, as it does with MySQL, whose transaction ends with its
// connection: nothing that the client sends next may run as if it were open.
func (s *Session) writeError(err error) error {
	e := s.clientError(err)
	var end error
	if s.conns.Lost() {
		e = wire.Errorf(e.Code, e.State, "%s; the transaction was rolled back and this connection is closed", e.Message)
		end = errTransactionLost
	}
	if state := s.conns.LostState(); state != "" {
		e = wire.Errorf(e.Code, e.State, "%s; with it the session lost what it had there (%s), and this connection is closed", e.Message, state)
		end = errTransactionLost
	}
	if s.unkept != nil {
		e = wire.Errorf(e.Code, e.State, "%s; this connection is closed", e.Message)
		end = errTransactionLost
	}
	s.noteError(e)
	s.failed = true
	s.vars.Told()
	s.vars.RowCount = -1
	return errors.Join(s.client.Error(e), end)
}

var errTransactionLost = errors.New("a connection that the session needs was lost")

// writeTexts answers with a small table of texts and of unsigned numbers.
func (s *Session) writeTexts(columns []wire.Column, rows [][]string) error {
	return s.client.Texts(columns, rows, s.status())
}

// relay passes a shard's answer on to the client, and notes the error that it may be.
func (s *Session) relay(c *backend.Conn, kind wire.ResponseKind, last reply.Ending) error {
	err := s.client.Relay(c, kind, last)
	if err == reply.ErrNoFile { //nolint:errorlint // it is never wrapped
		return s.flavor().NoLocalFiles()
	}
	if err == nil {
		s.timing.code, s.failed = s.client.Scanner.ErrCode()
	}
	return err
}

// withStatus is an ending that sets the flags of the session's own transaction,
// for answers from connections that have no part in it.
func (s *Session) withStatus() reply.Ending {
	return func(dst, packet []byte) ([]byte, error) {
		dst = append(dst, packet...)
		if packet[wire.HeaderSize] == mysql.ERR_HEADER {
			return dst, nil
		}
		return dst, wire.PatchStatus(dst[len(dst)-len(packet):], 0, s.status())
	}
}
