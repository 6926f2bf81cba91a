package main

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// keep is how many bytes at the beginning of a packet the scanner examines: enough for an OK, the text of an
// error, and the first column of a row.
const keep = 160

const moreResults = 0x0008 // SERVER_MORE_RESULTS_EXISTS

// state is the type of an answer's next packet.
type state int

const (
	atFirst   state = iota // OK, ERR, or a number of columns
	atColumns              // a column definition
	atDivider              // the EOF between columns and rows
	atRows                 // a row, or what ends them
)

// scanner finds the end of the answer to a command, and its content, while its bytes arrive. It examines packet
// headers and the beginnings of packets, and decodes no rows.
type scanner struct {
	deprecateEOF bool // as negotiated

	header [headerSize]byte
	have   int // received bytes of the header
	left   int // bytes of the payload still to come
	head   []byte
	length int // of the current payload
	seq    byte

	state   state
	pending uint64 // column definitions still to come
	answer  answer
}

// answer is the answer to a command.
type answer struct {
	columns, rows, affected uint64
	firstRow                []byte // its beginning
}

// begin prepares for the answer to the next command.
func (s *scanner) begin() {
	s.state, s.have, s.left, s.seq = atFirst, 0, 0, 1
	s.answer = answer{firstRow: s.answer.firstRow[:0]}
}

// feed takes the next bytes and reports whether the answer is complete. After an error the connection can't be
// used any more: the error is an ERR packet or a violation of the protocol.
func (s *scanner) feed(b []byte) (done bool, err error) {
	for len(b) > 0 {
		if done {
			return false, fmt.Errorf("%d bytes follow the end of the answer", len(b))
		}
		if s.have < headerSize {
			n := copy(s.header[s.have:], b)
			s.have += n
			b = b[n:]
			if s.have < headerSize {
				break
			}
			if err := s.open(); err != nil {
				return false, err
			}
		}
		b = s.payload(b)
		if s.left > 0 {
			break
		}
		s.have = 0
		if done, err = s.packet(); err != nil {
			return false, err
		}
	}
	return done, nil
}

// open begins the packet whose header is complete.
func (s *scanner) open() error {
	s.length = int(s.header[0]) | int(s.header[1])<<8 | int(s.header[2])<<16
	s.left, s.head = s.length, s.head[:0]
	if s.header[3] != s.seq {
		return fmt.Errorf("packet number %d where %d is due", s.header[3], s.seq)
	}
	s.seq++
	if s.length == 0 || s.length == 0xffffff {
		return fmt.Errorf("a packet of %d bytes, which no statement here makes", s.length)
	}
	return nil
}

// payload consumes the bytes of the current packet and returns the rest.
func (s *scanner) payload(b []byte) []byte {
	n := min(s.left, len(b))
	if room := min(keep-len(s.head), n); room > 0 {
		s.head = append(s.head, b[:room]...)
	}
	s.left -= n
	return b[n:]
}

// packet judges a complete packet by its head.
func (s *scanner) packet() (done bool, err error) {
	switch kind := s.head[0]; {
	case kind == 0xff && s.state != atColumns:
		return false, serverError(s.head)
	case s.state == atFirst && kind == 0:
		return true, s.ok()
	case s.state == atFirst:
		return false, s.count()
	case s.state == atColumns:
		s.column()
		return false, nil
	case s.state == atDivider:
		s.state = atRows
		if kind != 0xfe {
			return false, errors.New("no EOF after the columns")
		}
		return false, nil
	case kind == 0xfe && (s.deprecateEOF || s.length < 9):
		return true, s.end()
	default:
		s.row()
		return false, nil
	}
}

// count begins a result set.
func (s *scanner) count() error {
	n, _, ok := lengthEncoded(s.head)
	if !ok || n == 0 {
		return fmt.Errorf("an answer that begins with byte %#x", s.head[0])
	}
	s.answer.columns, s.pending, s.state = n, n, atColumns
	return nil
}

func (s *scanner) column() {
	if s.pending--; s.pending > 0 {
		return
	}
	if s.state = atDivider; s.deprecateEOF {
		s.state = atRows
	}
}

func (s *scanner) row() {
	if s.answer.rows++; s.answer.rows == 1 {
		s.answer.firstRow = append(s.answer.firstRow[:0], s.head...)
	}
}

// ok reads an OK packet.
func (s *scanner) ok() error {
	affected, rest, ok1 := lengthEncoded(s.head[1:])
	_, rest, ok2 := lengthEncoded(rest) // the insert ID
	if !ok1 || !ok2 || len(rest) < 2 {
		return errors.New("an OK packet that is cut short")
	}
	s.answer.affected = affected
	return refuseMore(rest)
}

// end reads the packet after the last row: an EOF packet, or an OK in its place.
func (s *scanner) end() error {
	if s.deprecateEOF {
		return s.ok()
	}
	if s.length < 5 {
		return errors.New("an EOF packet that is cut short")
	}
	return refuseMore(s.head[3:])
}

func refuseMore(status []byte) error {
	if binary.LittleEndian.Uint16(status)&moreResults != 0 {
		return errors.New("another result is announced where one is due")
	}
	return nil
}

// serverError returns the error of an ERR packet.
func serverError(head []byte) error {
	if len(head) < 3 {
		return errors.New("an ERR packet that is cut short")
	}
	return fmt.Errorf("error %d: %s", binary.LittleEndian.Uint16(head[1:]), head[3:])
}

// lengthEncoded reads MySQL's length-encoded integer.
func lengthEncoded(b []byte) (n uint64, rest []byte, ok bool) {
	if len(b) == 0 {
		return 0, nil, false
	}
	size := 0
	switch b[0] {
	case 0xfc:
		size = 2
	case 0xfd:
		size = 3
	case 0xfe:
		size = 8
	case 0xfb, 0xff:
		return 0, nil, false
	default:
		return uint64(b[0]), b[1:], true
	}
	if len(b) <= size {
		return 0, nil, false
	}
	for i := size; i > 0; i-- {
		n = n<<8 | uint64(b[i])
	}
	return n, b[1+size:], true
}
