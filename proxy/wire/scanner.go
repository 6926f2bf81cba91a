package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// State is what a Scanner needs or has found.
type State uint8

const (
	// NeedBytes: all that was passed on belongs to the response, and there's more to come. What wasn't passed on is the beginning of
	// a packet that must be read whole: show it again with more bytes after it.
	NeedBytes State = iota
	// ResultEnd: one of several results ends here and the next one begins. Call Scan again with what is left of the bytes, before
	// waiting for more.
	ResultEnd
	// FileRequest: the server wants the contents of a file (LOAD DATA LOCAL INFILE); LastPacket names it. The response goes on after
	// the client has sent it.
	FileRequest
	// Done: the response ends here.
	Done
	// DefinitionsEnd: LastPacket is the EOF packet between a result set's column definitions and its rows. Call Scan again as after
	// ResultEnd. Only a Scanner with StopBeforeRows says so.
	DefinitionsEnd
)

func (s State) String() string {
	return [...]string{"need bytes", "result end", "file request", "done", "definitions end"}[s]
}

// Scanner finds where a response ends in a stream of bytes, and what its OK, EOF and ERR packets say. It keeps no bytes, allocates
// nothing and isn't for concurrent use. The zero value expects a QueryResponse.
type Scanner struct {
	// DeprecateEOF is whether CLIENT_DEPRECATE_EOF was agreed on. It must not change within a response.
	DeprecateEOF bool
	// StopBeforeRows makes Scan stop with DefinitionsEnd, for whoever passes the response on to a client that wants no EOF there.
	StopBeforeRows bool

	kind    ResponseKind
	phase   phase
	numbers sequence
	rest    int  // bytes still to come of the packet under way, none of which need be read
	long    bool // the packet before was MaxPayload long, so that the next one continues it
	left    int  // column definitions still to come in this list
	second  int  // column definitions in the list after it
	last    int  // length of the last packet that was read whole
	// promised: a further result was announced by the EOF before a procedure's OUT parameters, and only there: MySQL forgets it in
	// the EOF after them.
	promised  bool
	outParams bool // the result that is read, or was read last, is of OUT parameters

	found findings
}

// findings are what the packets said.
type findings struct {
	ok      OK
	hasOK   bool
	status  uint16
	warn    uint16
	isErr   bool
	code    uint16
	state   [5]byte
	columns int
	rows    int
}

// Reset begins a response.
func (s *Scanner) Reset(kind ResponseKind) {
	*s = Scanner{DeprecateEOF: s.DeprecateEOF, StopBeforeRows: s.StopBeforeRows, kind: kind, phase: kind.first()}
}

// Scan looks at the bytes that follow those passed on so far. The first n of them belong to the response and can be forwarded as
// they are: whole packets, and of rows also parts of packets. After an error the place in the stream is lost for good, and so is
// the connection; n is then what preceded the offending packet. After Done, Scan takes nothing more.
func (s *Scanner) Scan(b []byte) (n int, state State, err error) {
	for s.phase != finished {
		n = s.skip(b, n)
		if s.rest > 0 || len(b)-n < HeaderSize {
			return n, NeedBytes, nil
		}
		length, seq := Header(b[n:])
		if !s.numbers.follows(seq) {
			return n, NeedBytes, s.misplaced(seq)
		}
		switch s.passes(b[n:], length) {
		case pass:
			n = s.passOver(n, length, seq)
			continue
		case unknown:
			return n, NeedBytes, nil
		case readWhole:
		}
		if length == MaxPayload || length == 0 {
			return n, NeedBytes, malformed(fmt.Sprintf("%d bytes in place of %s", length, s.phase))
		}
		end := n + HeaderSize + length
		if len(b) < end {
			return n, NeedBytes, nil
		}
		s.numbers.saw(seq)
		if state, err = s.read(b[n+HeaderSize : end]); err != nil {
			return n, NeedBytes, err
		}
		s.last = HeaderSize + length
		n = end
		if state != NeedBytes {
			return n, state, nil
		}
	}
	return n, Done, nil
}

// skip passes over what is left of the packet under way.
func (s *Scanner) skip(b []byte, n int) int {
	k := min(s.rest, len(b)-n)
	s.rest -= k
	return n + k
}

// verdict on a packet of which perhaps only the beginning is there.
type verdict uint8

const (
	readWhole verdict = iota
	pass
	unknown
)

// passes says whether the packet at the start of b, of which at least the header is there, needs no reading: it is a row, or the
// continuation of one.
func (s *Scanner) passes(b []byte, length int) verdict {
	switch {
	case s.long:
		return pass
	case s.phase != rows || length == 0:
		return readWhole
	case len(b) == HeaderSize:
		return unknown
	case s.endsRows(b[HeaderSize], length):
		return readWhole
	}
	return pass
}

// endsRows tells the EOF, OK or ERR after the last row from a row: a row that begins with 0xfe begins with a string of 16 MiB or
// more, and none begins with 0xff.
func (s *Scanner) endsRows(first byte, length int) bool {
	switch first {
	case mysql.ERR_HEADER:
		return true
	case mysql.EOF_HEADER:
		return length < 9 || s.DeprecateEOF && length < MaxPayload
	}
	return false
}

// passOver begins to pass over a row packet.
func (s *Scanner) passOver(n, length int, seq byte) int {
	if !s.long {
		s.found.rows++
	}
	s.long = length == MaxPayload
	s.rest = length
	s.numbers.saw(seq)
	return n + HeaderSize
}

func (s *Scanner) misplaced(seq byte) error {
	return malformed(fmt.Sprintf("sequence number %d where %d is due, in place of %s", seq, s.numbers.next, s.phase))
}

// sequence checks that packets are numbered one after the other. The first may have any number: it follows that of the command.
type sequence struct {
	next  byte
	begun bool
}

func (q *sequence) follows(seq byte) bool { return !q.begun || seq == q.next }
func (q *sequence) saw(seq byte)          { q.next, q.begun = seq+1, true }

// LastPacket is the length in bytes, header included, of the packet that ended what Scan was looking at: it stands at the end of the
// bytes passed on, whole. So it can be held back and replaced by another one.
func (s *Scanner) LastPacket() int { return s.last }

// NextSeq is the sequence number that the next packet of the response would have.
func (s *Scanner) NextSeq() byte { return s.numbers.next }

// Status returns the status flags of the last OK or EOF packet, 0 if there was none. An ERR packet has none: what became of a
// transaction can't be told from it.
func (s *Scanner) Status() uint16 { return s.found.status }

// Warnings returns the number of warnings of the last OK or EOF packet.
func (s *Scanner) Warnings() uint16 { return s.found.warn }

// OK returns the numbers of the last OK packet, without its strings, and whether there was one. In the answer to COM_STMT_PREPARE
// there is none.
func (s *Scanner) OK() (OK, bool) { return s.found.ok, s.found.hasOK }

// ErrCode returns the code of the ERR packet that ended the response, and whether there was one.
func (s *Scanner) ErrCode() (uint16, bool) { return s.found.code, s.found.isErr }

// ErrState returns the SQLSTATE of that ERR packet, or the empty text where it told none.
func (s *Scanner) ErrState() string {
	if s.found.state[0] == 0 {
		return ""
	}
	return string(s.found.state[:])
}

// Columns returns the number of columns of the last result set, or of a prepared statement.
func (s *Scanner) Columns() int { return s.found.columns }

// Rows returns the number of rows seen so far, in all results of the response.
func (s *Scanner) Rows() int { return s.found.rows }

// read takes in a packet that is there whole.
func (s *Scanner) read(payload []byte) (State, error) {
	if payload[0] == mysql.ERR_HEADER && s.phase != anyPacket {
		return s.readERR(payload)
	}
	switch s.phase {
	case queryStart:
		return s.readQueryStart(payload)
	case simpleStart:
		return s.readSimple(payload)
	case prepareStart:
		return s.readPrepared(payload)
	case columns:
		return s.readColumn()
	case columnsEnd:
		return s.readColumnsEnd(payload)
	case fieldList:
		return s.readField(payload)
	case rows:
		return s.readRowsEnd(payload)
	default: // anyPacket
		return s.done(), nil
	}
}

func (s *Scanner) done() State {
	s.phase = finished
	return Done
}

// readERR ends the response: whatever was to follow doesn't.
func (s *Scanner) readERR(payload []byte) (State, error) {
	if len(payload) < 3 {
		return NeedBytes, malformed("ERR packet")
	}
	s.found.isErr = true
	s.found.code = binary.LittleEndian.Uint16(payload[1:])
	if len(payload) >= 9 && payload[3] == '#' {
		copy(s.found.state[:], payload[4:])
	}
	return s.done(), nil
}
