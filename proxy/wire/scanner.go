package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// State is the result of a Scan.
type State uint8

const (
	// NeedBytes: the response goes on after the bytes consumed so far. Any bytes not consumed begin a packet that must be read
	// whole. Pass them again with more bytes after them.
	NeedBytes State = iota
	// ResultEnd: one of several results ends here and the next one begins. Call Scan again with the remaining bytes before waiting
	// for more.
	ResultEnd
	// FileRequest: the server requests a file's contents (LOAD DATA LOCAL INFILE). LastPacket names the file. The response goes on
	// after the client has sent it.
	FileRequest
	// Done: the response ends here.
	Done
	// DefinitionsEnd: LastPacket is the EOF packet between a result set's column definitions and its rows. Call Scan again as after
	// ResultEnd. Only a Scanner with StopBeforeRows returns it.
	DefinitionsEnd
)

func (s State) String() string {
	return [...]string{"need bytes", "result end", "file request", "done", "definitions end"}[s]
}

// Scanner finds the end of a response in a stream of bytes and reads its OK, EOF and ERR packets. It keeps no bytes, allocates
// nothing and isn't safe for concurrent use. The zero value expects a QueryResponse.
type Scanner struct {
	// DeprecateEOF reports whether CLIENT_DEPRECATE_EOF was negotiated. It must not change within a response.
	DeprecateEOF bool
	// StopBeforeRows makes Scan stop with DefinitionsEnd, for a client that expects no EOF there.
	StopBeforeRows bool

	kind    ResponseKind
	phase   phase
	numbers sequence
	rest    int  // bytes still to come of the current packet, none of which need reading
	long    bool // the last packet was MaxPayload long, so the next one continues it
	left    int  // column definitions still to come in the current list
	second  int  // column definitions in the next list
	last    int  // length of the last packet read whole
	// promised reports that the EOF before a procedure's OUT parameters announced a further result. MySQL omits that flag in the EOF
	// after them.
	promised  bool
	outParams bool // the current or last result holds OUT parameters

	found findings
}

// findings collects the contents of the packets read.
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

// Reset prepares for a new response.
func (s *Scanner) Reset(kind ResponseKind) {
	*s = Scanner{DeprecateEOF: s.DeprecateEOF, StopBeforeRows: s.StopBeforeRows, kind: kind, phase: kind.first()}
}

// Scan examines the bytes that follow those consumed so far. The first n of them belong to the response and can be forwarded as they
// are. They are whole packets, or parts of row packets. After an error the position in the stream is lost, and so is the connection.
// n then counts the bytes before the offending packet. After Done, Scan consumes nothing more.
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

// skip consumes the rest of the current packet.
func (s *Scanner) skip(b []byte, n int) int {
	k := min(s.rest, len(b)-n)
	s.rest -= k
	return n + k
}

// verdict classifies a packet of which perhaps only the beginning has arrived.
type verdict uint8

const (
	readWhole verdict = iota
	pass
	unknown
)

// passes reports whether the packet at the start of b can be passed on unread because it is a row or continues one. At least its
// header has arrived.
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

// endsRows distinguishes the EOF, OK or ERR after the last row from a row. A row that begins with 0xfe begins with a string of 16
// MiB or more. No row begins with 0xff.
func (s *Scanner) endsRows(first byte, length int) bool {
	switch first {
	case mysql.ERR_HEADER:
		return true
	case mysql.EOF_HEADER:
		return length < 9 || s.DeprecateEOF && length < MaxPayload
	}
	return false
}

// passOver begins to pass a row packet on unread.
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

// sequence checks that packets are numbered consecutively. The first may have any number, since it follows the command's.
type sequence struct {
	next  byte
	begun bool
}

func (q *sequence) follows(seq byte) bool { return !q.begun || seq == q.next }
func (q *sequence) saw(seq byte)          { q.next, q.begun = seq+1, true }

// LastPacket returns the length in bytes of the packet at which Scan stopped, header included. The packet is complete, and is
// the last of the consumed bytes. So a caller can hold it back and replace it.
func (s *Scanner) LastPacket() int { return s.last }

// NextSeq returns the sequence number of the response's next packet.
func (s *Scanner) NextSeq() byte { return s.numbers.next }

// Status returns the status flags of the last OK or EOF packet, or 0 if there was none. An ERR packet has no flags, so after
// it the state of the transaction is unknown.
func (s *Scanner) Status() uint16 { return s.found.status }

// Warnings returns the warning count of the last OK or EOF packet.
func (s *Scanner) Warnings() uint16 { return s.found.warn }

// OK returns the numbers of the last OK packet, without its strings, and reports whether there was one. The answer to
// COM_STMT_PREPARE has none.
func (s *Scanner) OK() (OK, bool) { return s.found.ok, s.found.hasOK }

// ErrCode returns the code of the ERR packet that ended the response, and reports whether there was one.
func (s *Scanner) ErrCode() (uint16, bool) { return s.found.code, s.found.isErr }

// ErrState returns the SQLSTATE of that ERR packet. It returns "" if the packet had none.
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

// read handles a packet that has arrived whole.
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

// readERR ends the response. Nothing follows an ERR packet.
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
