package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// eofSize is the length of an EOF packet's payload. A packet of nine bytes or more that begins with 0xfe is a row.
const eofSize = 5

// EOF is the content of an EOF packet.
type EOF struct {
	Warnings uint16
	Status   uint16 // SERVER_STATUS_… flags
}

// IsEOF reports whether a payload among rows or column definitions is an EOF packet.
func IsEOF(payload []byte) bool {
	return len(payload) > 0 && len(payload) < 9 && payload[0] == mysql.EOF_HEADER
}

// ParseEOF reads an EOF packet.
func ParseEOF(payload []byte) (EOF, error) {
	if len(payload) < eofSize || payload[0] != mysql.EOF_HEADER {
		return EOF{}, malformed("EOF packet")
	}
	return EOF{Warnings: binary.LittleEndian.Uint16(payload[1:]), Status: binary.LittleEndian.Uint16(payload[3:])}, nil
}

// AppendEOF appends an EOF packet.
func AppendEOF(dst []byte, seq byte, eof EOF) ([]byte, byte) {
	dst = append(dst, eofSize, 0, 0, seq, mysql.EOF_HEADER)
	dst = binary.LittleEndian.AppendUint16(dst, eof.Warnings)
	return binary.LittleEndian.AppendUint16(dst, eof.Status), seq + 1
}

// OKOverEOF is the number of bytes by which EOFToOK lengthens a packet.
const OKOverEOF = 2

// EOFToOK appends the OK packet that replaces an EOF packet for a client with CLIENT_DEPRECATE_EOF. The EOF packet is given
// with its header. It may lie in the memory that dst grows into.
func EOFToOK(dst, eof []byte) []byte {
	seq, warnings, status := eof[3], binary.LittleEndian.Uint16(eof[5:]), binary.LittleEndian.Uint16(eof[7:])
	dst = append(dst, eofSize+OKOverEOF, 0, 0, seq, mysql.EOF_HEADER, 0, 0)
	dst = binary.LittleEndian.AppendUint16(dst, status)
	return binary.LittleEndian.AppendUint16(dst, warnings)
}
