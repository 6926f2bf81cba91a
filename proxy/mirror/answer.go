package mirror

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"hash"
	"math/bits"
	"time"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// Sum is a hash of 128 bits.
type Sum struct{ high, low uint64 }

// String returns the hash as 32 hexadecimal digits.
func (s Sum) String() string { return fmt.Sprintf("%016x%016x", s.high, s.low) }

// plus adds two hashes. The order doesn't matter, and equal hashes don't cancel out.
func (s Sum) plus(o Sum) Sum {
	low, carry := bits.Add64(s.low, o.low, 0)
	high, _ := bits.Add64(s.high, o.high, carry)
	return Sum{high, low}
}

// Answer is the part of a server's answer that is compared.
type Answer struct {
	Rows    uint64
	Columns Sum // the columns' names, types and character sets, in order
	Set     Sum // hash of the rows regardless of order
	Order   Sum // hash of the rows in order
	// Code is the error code that ended the answer, or 0 if it has rows.
	Code uint16
	// Long reports that the answer is longer than the part that is compared.
	Long bool
	// Took is the time from the end of the command to the last byte of the answer.
	Took time.Duration
}

// mostBytes is the longest answer in bytes that is hashed while it is relayed to the client. A longer answer is not compared.
const mostBytes = 1 << 20

// Reader computes an Answer from passing packets. The zero value ignores them until Begin. It accepts packets split at any
// point.
type Reader struct {
	// Extended reports whether columns have MariaDB's extended metadata.
	Extended bool

	began, last time.Time
	answer      Answer
	phase       phase
	bytes       int
	header      [wire.HeaderSize]byte
	have        int // bytes of the header received
	rest        int // bytes of the payload to come
	first       bool
	columns     uint64 // columns to come
	packet      []byte // a packet that is read completely before it is parsed
	columnHash  hash.Hash
	rowHash     hash.Hash
	sum         [sha256.Size]byte
}

type phase uint8

const (
	head       phase = iota
	definition       // definition of a column
	definitionsEnd
	row
	ended
	abandoned // the answer is too long, or can't be compared
)

// Begin begins an answer. Its command has just been sent.
func (r *Reader) Begin() {
	*r = Reader{Extended: r.Extended, began: time.Now(), packet: r.packet[:0], columnHash: reset(r.columnHash), rowHash: reset(r.rowHash)}
}

func reset(h hash.Hash) hash.Hash {
	if h == nil {
		return sha256.New()
	}
	h.Reset()
	return h
}

// Answer returns the answer. It returns false if the answer can't be compared.
func (r *Reader) Answer() (Answer, bool) {
	if r.phase != ended {
		return Answer{}, false
	}
	a := r.answer
	a.Took = r.last.Sub(r.began)
	return a, true
}

// Long reports whether the answer was abandoned because of its length.
func (r *Reader) Long() bool { return r.bytes > mostBytes }

// Saw processes received bytes.
func (r *Reader) Saw(b []byte) {
	if r.phase >= ended || len(b) == 0 {
		return
	}
	r.last = time.Now()
	if r.bytes += len(b); r.bytes > mostBytes {
		r.phase = abandoned
	}
	for len(b) > 0 && r.phase < ended {
		if r.have < len(r.header) {
			n := copy(r.header[r.have:], b)
			r.have, b = r.have+n, b[n:]
			if r.have == len(r.header) {
				r.beginPacket()
			}
			continue
		}
		n := min(r.rest, len(b))
		r.takePayload(b[:n])
		b = b[n:]
		if r.rest -= n; r.rest == 0 {
			r.endPacket()
		}
	}
}

// beginPacket handles a packet's header.
func (r *Reader) beginPacket() {
	r.rest, _ = wire.Header(r.header[:])
	r.first, r.packet = true, r.packet[:0]
	if r.rest == 0 {
		r.phase = abandoned // answers contain no empty packets
	}
}

// takePayload handles a part of a packet's payload.
func (r *Reader) takePayload(b []byte) {
	if r.first && r.phase == row && endsRows(b[0], r.rest) {
		r.phase = ended // ended by the packet after the rows, or by an error
		if b[0] == mysql.ERR_HEADER {
			r.phase = abandoned // an error after some rows
		}
		return
	}
	r.first = false
	if r.phase == row {
		r.rowHash.Write(b)
		return
	}
	r.packet = append(r.packet, b...)
}

// endsRows distinguishes the packet after the last row from a row. No row of at most a mebibyte begins with 0xfe, and none with
// 0xff.
func endsRows(first byte, length int) bool {
	return first == mysql.EOF_HEADER && length < 9 || first == mysql.ERR_HEADER
}

// endPacket handles the end of a packet.
func (r *Reader) endPacket() {
	r.have = 0
	switch r.phase {
	case head:
		r.readCount()
	case definition:
		r.readDefinition()
	case definitionsEnd:
		r.answer.Columns, r.phase = r.sumOf(r.columnHash), row
	case row:
		one := r.sumOf(r.rowHash)
		r.rowHash.Reset()
		r.answer.Rows++
		r.answer.Set = r.answer.Set.plus(one)
		r.answer.Order = r.chained(one)
	case ended, abandoned:
	}
}

// readCount reads the first packet of an answer, which contains the number of columns.
func (r *Reader) readCount() {
	n, length := wire.LenInt(r.packet)
	if length != len(r.packet) || n == 0 || r.packet[0] == mysql.ERR_HEADER || r.packet[0] == mysql.LocalInFile_HEADER {
		r.phase = abandoned
		return
	}
	r.columns, r.phase = n, definition
}

// readDefinition hashes the parts of a column definition that matter to a reader of rows.
func (r *Reader) readDefinition() {
	parse := wire.ParseColumn
	if r.Extended {
		parse = wire.ParseExtendedColumn
	}
	c, err := parse(r.packet)
	if err != nil {
		r.phase = abandoned
		return
	}
	about := binary.LittleEndian.AppendUint32(nil, uint32(len(c.Name)))
	about = append(about, c.Name...)
	about = binary.LittleEndian.AppendUint16(about, c.Charset)
	about = binary.LittleEndian.AppendUint16(about, c.Flags&(mysql.UNSIGNED_FLAG|mysql.BINARY_FLAG))
	r.columnHash.Write(append(about, c.Type, c.Decimals))
	if r.columns--; r.columns == 0 {
		r.phase = definitionsEnd
	}
}

func (r *Reader) sumOf(h hash.Hash) Sum {
	b := h.Sum(r.sum[:0])
	return Sum{binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])}
}

// chained returns the ordered hash with a row added. Multiplying by an odd number makes it depend on the order.
func (r *Reader) chained(one Sum) Sum {
	const odd = 0x9e3779b97f4a7c15
	o := r.answer.Order
	return Sum{o.high*odd + bits.RotateLeft64(o.low, 17), o.low*odd + 1}.plus(one)
}
