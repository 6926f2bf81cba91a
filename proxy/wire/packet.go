package wire

import (
	"errors"
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// HeaderSize is the length of a packet's header in bytes.
const HeaderSize = 4

// MaxPayload is the longest payload of one packet, in bytes. A payload of exactly this length continues in the next packet, which
// may be empty.
const MaxPayload = mysql.MaxPayloadLen

// ErrMalformed is wrapped by every error about bytes that violate the protocol.
var ErrMalformed = errors.New("malformed packet")

func malformed(what string) error { return fmt.Errorf("%s: %w", what, ErrMalformed) }

// Header reads a packet's header. It returns the payload's length in bytes and the sequence number. b must hold at least
// HeaderSize bytes.
func Header(b []byte) (length int, seq byte) {
	_ = b[3]
	return int(b[0]) | int(b[1])<<8 | int(b[2])<<16, b[3]
}

// PutHeader writes a packet's header into the first HeaderSize bytes of b.
func PutHeader(b []byte, length int, seq byte) {
	_ = b[3]
	b[0], b[1], b[2], b[3] = byte(length), byte(length>>8), byte(length>>16), seq
}

// AppendPacket appends payload as one packet, or as several if it is MaxPayload bytes or longer.
func AppendPacket(dst []byte, seq byte, payload []byte) ([]byte, byte) {
	for {
		n := min(len(payload), MaxPayload)
		dst = append(dst, byte(n), byte(n>>8), byte(n>>16), seq)
		dst = append(dst, payload[:n]...)
		payload = payload[n:]
		seq++
		if n < MaxPayload {
			return dst, seq
		}
	}
}

// NextSeq returns the sequence number that follows whole packets. It returns seq if there are none.
func NextSeq(packets []byte, seq byte) byte {
	for at := 0; at+HeaderSize <= len(packets); {
		n, number := Header(packets[at:])
		seq = number + 1
		at += HeaderSize + n
	}
	return seq
}

// Begin makes room for a packet's header, so that a payload can be appended without another copy. Finish completes the packet:
//
//	start := len(dst)
//	dst = append(wire.Begin(dst), payload...)
//	dst, seq = wire.Finish(dst, start, seq)
func Begin(dst []byte) []byte { return append(dst, 0, 0, 0, 0) }

// Finish writes the header of the packet begun at dst[start:]. It splits the payload if it is too long for one packet.
func Finish(dst []byte, start int, seq byte) ([]byte, byte) {
	n := len(dst) - start - HeaderSize
	if n >= MaxPayload {
		return split(dst, start, seq)
	}
	PutHeader(dst[start:], n, seq)
	return dst, seq + 1
}

// split spreads an oversized payload over several packets. It works from the last piece to the first, since each piece moves to
// the right.
func split(dst []byte, start int, seq byte) ([]byte, byte) {
	payload := len(dst) - start - HeaderSize
	extra := payload / MaxPayload
	dst = append(dst, make([]byte, extra*HeaderSize)...)
	for i := extra; i >= 0; i-- {
		from := start + HeaderSize + i*MaxPayload
		to := from + i*HeaderSize
		n := min(MaxPayload, payload-i*MaxPayload)
		copy(dst[to:to+n], dst[from:from+n])
		PutHeader(dst[to-HeaderSize:], n, seq+byte(i))
	}
	return dst, seq + byte(extra) + 1
}
