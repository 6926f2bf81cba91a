package session

import (
	"encoding/binary"
	"errors"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/stmt"
)

// textCollation is utf8mb4_general_ci, which every server and client knows.
const textCollation = 45

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
	if s.more {
		flags |= mysql.SERVER_MORE_RESULTS_EXISTS
	}
	return flags
}

// flush sends packets that were built in out.
func (s *Session) flush(packets []byte) error {
	if s.more {
		s.seq = wire.NextSeq(packets, s.seq)
	}
	s.out = packets[:0]
	_, err := s.client.Write(packets)
	return err
}

func (s *Session) writeOK(ok wire.OK) error {
	ok.Status |= s.status()
	if s.vars.TellsTransactions() {
		s.vars.TrackTransaction(s.transactionState())
	}
	ok.Changes = s.vars.Told()
	s.vars.RowCount = int64(ok.AffectedRows)
	out, _ := wire.AppendOK(s.out[:0], s.seq, ok, s.capabilities)
	return s.flush(out)
}

// done tells the client of a statement that is done.
func (s *Session) done(ok wire.OK) error {
	if err := s.writeOK(ok); err != nil {
		return &clientGone{err}
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
	out, _ := wire.AppendERR(s.out[:0], s.seq, e, s.capabilities)
	return errors.Join(s.flush(out), end)
}

var errTransactionLost = errors.New("a connection that the session needs was lost")

// writeTable answers with a small table of texts.
func (s *Session) writeTable(names []string, rows [][]string) error {
	return s.writeColumns(textColumns(names, rows), rows)
}

func textColumns(names []string, rows [][]string) []wire.Column {
	columns := make([]wire.Column, len(names))
	for i, name := range names {
		columns[i] = wire.Column{Name: []byte(name), Charset: textCollation, Type: mysql.MYSQL_TYPE_VAR_STRING, Length: 4 * widest(rows, i)}
	}
	return columns
}

// writeColumns answers with a small table of texts and of unsigned numbers.
func (s *Session) writeColumns(columns []wire.Column, rows [][]string) error {
	all := make([][][]byte, len(rows))
	for i, row := range rows {
		for _, v := range row {
			all[i] = append(all[i], []byte(v))
		}
	}
	return s.writeRows(columns, all)
}

// writeRows is writeColumns of rows that may have NULL, which is nil.
func (s *Session) writeRows(columns []wire.Column, rows [][][]byte) error {
	out, seq := wire.AppendColumnCount(s.out[:0], s.seq, len(columns))
	types := make([]byte, len(columns))
	for i, c := range columns {
		types[i] = c.Type
		out, seq = s.appendColumn(out, seq, c)
	}
	if s.capabilities&mysql.CLIENT_DEPRECATE_EOF == 0 {
		out, seq = wire.AppendEOF(out, seq, wire.EOF{Status: s.status()})
	}
	for _, row := range rows {
		values := make([][]byte, len(row))
		for i, v := range row {
			if values[i] = v; s.binary && v != nil {
				values[i] = binaryValue(types[i], string(v))
			}
		}
		if s.binary {
			out, seq = wire.AppendBinaryRow(out, seq, values, types)
			continue
		}
		out, seq = wire.AppendTextRow(out, seq, values)
	}
	out, _ = wire.AppendEnd(out, seq, wire.OK{Status: s.status()}, s.capabilities)
	return s.flush(out)
}

// appendColumn defines a column of the session's own, of which there is no more to
// be said.
func (s *Session) appendColumn(out []byte, seq byte, c wire.Column) ([]byte, byte) {
	switch {
	case !s.extended:
		c.Extended = nil
	case c.Extended == nil:
		c.Extended = []byte{}
	}
	return wire.AppendColumn(out, seq, c)
}

// binaryValue is a value as a prepared statement's row has it; numbers are those
// that we wrote.
func binaryValue(columnType byte, text string) []byte {
	switch columnType {
	case mysql.MYSQL_TYPE_LONG:
		n, _ := strconv.ParseUint(text, 10, 32)
		return binary.LittleEndian.AppendUint32(nil, uint32(n))
	case mysql.MYSQL_TYPE_LONGLONG:
		n, _ := strconv.ParseUint(text, 10, 64)
		return binary.LittleEndian.AppendUint64(nil, n)
	}
	return []byte(text)
}

func widest(rows [][]string, column int) uint32 {
	n := 1
	for _, r := range rows {
		n = max(n, len(r[column]))
	}
	return uint32(n)
}
