package wire

import (
	"math"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// ResponseKind is the form of a response. It depends on the command.
type ResponseKind uint8

const (
	// QueryResponse answers COM_QUERY and COM_STMT_EXECUTE: any number of results, each an OK packet or a result set.
	QueryResponse ResponseKind = iota
	// SimpleResponse is one OK, EOF or ERR packet: COM_PING, COM_INIT_DB, COM_STMT_RESET, COM_RESET_CONNECTION, COM_SET_OPTION, ….
	SimpleResponse
	// PrepareResponse answers COM_STMT_PREPARE.
	PrepareResponse
	// FieldListResponse answers COM_FIELD_LIST: column definitions up to an EOF packet.
	FieldListResponse
	// RowsResponse answers COM_STMT_FETCH: rows up to an EOF packet.
	RowsResponse
	// TextResponse answers COM_STATISTICS: one packet of text or an ERR packet. Scanner doesn't distinguish the two.
	TextResponse
	// CursorResponse answers a COM_STMT_EXECUTE that requests a cursor. It is a QueryResponse that ends after the column definitions
	// if a cursor was opened. In other responses the cursor flag may belong to a cursor within a procedure.
	CursorResponse
)

// phase is the kind of packet expected next. An ERR packet may come in place of any of them.
type phase uint8

const (
	queryStart   phase = iota // OK, column count, or request for a file
	simpleStart               // OK or EOF
	prepareStart              // Prepared
	columns                   // a column definition
	columnsEnd                // the EOF after column definitions
	fieldList                 // a column definition, or the EOF after them
	rows                      // a row, or the EOF after them
	anyPacket
	finished
)

func (p phase) String() string {
	return [...]string{
		"a result", "OK", "a prepared statement", "a column definition", "EOF after column definitions", "a field", "a row",
		"a packet", "nothing",
	}[p]
}

func (k ResponseKind) first() phase {
	return [...]phase{
		QueryResponse: queryStart, SimpleResponse: simpleStart, PrepareResponse: prepareStart,
		FieldListResponse: fieldList, RowsResponse: rows, TextResponse: anyPacket, CursorResponse: queryStart,
	}[k]
}

func (s *Scanner) readQueryStart(payload []byte) (State, error) {
	switch payload[0] {
	case mysql.OK_HEADER:
		if err := s.readOK(payload); err != nil {
			return NeedBytes, err
		}
		return s.resultEnd(), nil
	case mysql.LocalInFile_HEADER:
		s.numbers.begun = false // the client's packets come in between
		return FileRequest, nil
	}
	count, n := LenInt(payload)
	if n == 0 || n != len(payload) || count > math.MaxUint16 {
		return NeedBytes, malformed("column count")
	}
	s.found.columns = int(count)
	s.left = int(count)
	s.phase = columns
	return NeedBytes, nil
}

func (s *Scanner) readSimple(payload []byte) (State, error) {
	read := s.readOK
	if IsEOF(payload) && !s.DeprecateEOF {
		read = s.readEOF
	}
	if err := read(payload); err != nil {
		return NeedBytes, err
	}
	return s.done(), nil
}

func (s *Scanner) readPrepared(payload []byte) (State, error) {
	p, err := ParsePrepared(payload)
	if err != nil {
		return NeedBytes, err
	}
	s.found.columns = int(p.Columns)
	s.found.warn = p.Warnings
	s.left, s.second = int(p.Params), int(p.Columns)
	if s.left == 0 {
		return s.listEnd(), nil
	}
	s.phase = columns
	return NeedBytes, nil
}

func (s *Scanner) readColumn() (State, error) {
	if s.left--; s.left > 0 {
		return NeedBytes, nil
	}
	if s.DeprecateEOF {
		return s.listEnd(), nil
	}
	s.phase = columnsEnd
	return NeedBytes, nil
}

func (s *Scanner) readColumnsEnd(payload []byte) (State, error) {
	if err := s.readEOF(payload); err != nil {
		return NeedBytes, err
	}
	if s.kind == CursorResponse && s.found.status&mysql.SERVER_STATUS_CURSOR_EXISTS != 0 {
		return s.done(), nil // COM_STMT_FETCH returns the rows
	}
	const outParams = mysql.SERVER_PS_OUT_PARAMS | mysql.SERVER_MORE_RESULTS_EXISTS
	s.promised = s.found.status&outParams == outParams
	s.outParams = s.promised
	state := s.listEnd()
	if s.StopBeforeRows && s.phase == rows {
		return DefinitionsEnd, nil
	}
	return state, nil
}

// listEnd advances to the phase after a list of column definitions.
func (s *Scanner) listEnd() State {
	switch {
	case s.kind != PrepareResponse:
		s.phase = rows
	case s.second > 0:
		s.left, s.second = s.second, 0
		s.phase = columns
	default:
		return s.done()
	}
	return NeedBytes
}

func (s *Scanner) readField(payload []byte) (State, error) {
	if !s.endsRows(payload[0], len(payload)) {
		s.found.columns++
		return NeedBytes, nil
	}
	if err := s.readEnd(payload); err != nil {
		return NeedBytes, err
	}
	return s.done(), nil
}

func (s *Scanner) readRowsEnd(payload []byte) (State, error) {
	if err := s.readEnd(payload); err != nil {
		return NeedBytes, err
	}
	if s.kind == RowsResponse {
		return s.done(), nil
	}
	return s.resultEnd(), nil
}

// resultEnd checks the status flags for a further result.
func (s *Scanner) resultEnd() State {
	if s.found.status&mysql.SERVER_MORE_RESULTS_EXISTS == 0 && !s.promised {
		return s.done()
	}
	s.promised = false
	s.phase = queryStart
	return ResultEnd
}

// readEnd reads the packet that ends rows or fields.
func (s *Scanner) readEnd(payload []byte) error {
	if s.DeprecateEOF {
		return s.readOK(payload)
	}
	return s.readEOF(payload)
}

func (s *Scanner) readEOF(payload []byte) error {
	eof, err := ParseEOF(payload)
	if err == nil {
		s.found.status, s.found.warn = eof.Status, eof.Warnings
	}
	return err
}

// readOK reads the numbers of an OK packet. It ignores the strings, whose encoding depends on the capabilities.
func (s *Scanner) readOK(payload []byte) error {
	ok, err := ParseOK(payload, 0)
	if err == nil {
		ok.Info = nil // a view that would outlive its bytes
		s.found.ok, s.found.hasOK = ok, true
		s.found.status, s.found.warn = ok.Status, ok.Warnings
	}
	return err
}

// OutParams reports whether the result that just ended holds a procedure's OUT parameters. Only the EOF before the rows
// reliably has this flag, not the EOF after them.
func (s *Scanner) OutParams() bool { return s.outParams }
