package session

import (
	"errors"
	"slices"

	"locus/proxy/exec"
	"locus/proxy/reply"
	"locus/proxy/wire"
)

// binaryCollation is the collation of numbers and bytes.
const binaryCollation = 63

// writeOK writes an OK with the session's status flags and the changes that the client tracks. It sets ROW_COUNT().
func (s *Session) writeOK(ok wire.OK) error {
	ok.Status |= s.engine.Status()
	if s.vars.TellsTransactions() {
		s.vars.TrackTransaction(s.engine.TransactionState())
	}
	ok.Changes = s.vars.TakeChanges()
	s.vars.RowCount = int64(ok.AffectedRows)
	return s.client.OK(ok)
}

// done writes the OK of a finished statement.
func (s *Session) done(ok wire.OK) error {
	if err := s.writeOK(ok); err != nil {
		return &reply.GoneError{Err: err}
	}
	return nil
}

// writeError writes an error to the client. If the transaction was lost with the failed statement, the session ends. With MySQL
// the transaction ends with its connection too. No later statement of the client may run as if the transaction were open.
func (s *Session) writeError(err error) error {
	e := s.clientError(err)
	var end error
	if s.conns.Lost() {
		e = wire.Errorf(e.Code, e.State, "%s; the transaction was rolled back and this connection is closed", e.Message)
		end = exec.ErrTransactionLost
	}
	if state := s.conns.LostState(); state != "" {
		e = wire.Errorf(e.Code, e.State, "%s; with it the session lost what it had there (%s), and this connection is closed", e.Message, state)
		end = exec.ErrTransactionLost
	}
	if s.engine.Unreadable != nil {
		e = wire.Errorf(e.Code, e.State, "%s; this connection is closed", e.Message)
		end = exec.ErrTransactionLost
	}
	s.engine.NoteError(e)
	s.observer.Failed = true
	s.vars.TakeChanges()
	s.vars.RowCount = -1
	return errors.Join(s.client.Error(e), end)
}

// writeTexts answers with a small table of texts and of unsigned numbers.
func (s *Session) writeTexts(columns []wire.Column, rows [][]string) error {
	all := make([][][]byte, len(rows))
	for i, row := range rows {
		for _, v := range row {
			all[i] = append(all[i], []byte(v))
		}
	}
	return s.writeRows(columns, all)
}

// writeRows is writeTexts for values that may be NULL, which is nil.
func (s *Session) writeRows(columns []wire.Column, rows [][][]byte) error {
	return s.writeRowsWarned(columns, rows, 0)
}

// writeRowsWarned is writeRows with the number of warnings.
func (s *Session) writeRowsWarned(columns []wire.Column, rows [][][]byte, warnings uint16) error {
	if w := s.vars.Results(); w != wire.NotWide {
		columns, rows = s.definitions(columns), s.encodeWide(w, columns, rows)
	}
	return s.client.RowsWarned(columns, rows, wire.OK{Status: s.engine.Status(), Warnings: warnings})
}

// definitions returns definitions of the session's own columns, encoded in the client's character set if that is a wide one.
func (s *Session) definitions(columns []wire.Column) []wire.Column {
	out := make([]wire.Column, len(columns))
	for i, c := range columns {
		out[i] = s.vars.Results().EncodeColumn(c)
	}
	return out
}

// encodeWide returns values in a wide character set, encoded as the servers do.
func (s *Session) encodeWide(w wire.Wide, columns []wire.Column, rows [][][]byte) [][][]byte {
	out := make([][][]byte, len(rows))
	for n, row := range rows {
		out[n] = slices.Clone(row)
		for i, v := range row {
			c := &columns[i]
			number := c.Charset == binaryCollation && !c.Bytes()
			if number && (s.client.Binary || !s.flavor().ConvertsNumbers()) || c.Bytes() {
				continue
			}
			out[n][i] = w.Encode(v)
		}
	}
	return out
}
