package wire

import (
	"encoding/binary"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// null is the first byte of a NULL in place of a length-encoded string.
const null = 0xfb

// LenInt reads a length-encoded integer and returns the number of bytes that it occupied. It returns 0 if b is too short or if
// its first byte starts no integer (0xfb, 0xff).
func LenInt(b []byte) (v uint64, n int) {
	if len(b) == 0 {
		return 0, 0
	}
	switch first := b[0]; {
	case first < null:
		return uint64(first), 1
	case first == 0xfc && len(b) >= 3:
		return uint64(binary.LittleEndian.Uint16(b[1:])), 3
	case first == 0xfd && len(b) >= 4:
		return uint64(b[1]) | uint64(b[2])<<8 | uint64(b[3])<<16, 4
	case first == 0xfe && len(b) >= 9:
		return binary.LittleEndian.Uint64(b[1:]), 9
	}
	return 0, 0
}

// LenBytes reads a length-encoded string. It returns a view and the number of bytes occupied, length included. It returns n = 0
// if b is too short or doesn't begin with a length. A NULL is a nil view and occupies one byte. An empty string is not nil.
func LenBytes(b []byte) (v []byte, n int) {
	if len(b) > 0 && b[0] == null {
		return nil, 1
	}
	length, n := LenInt(b)
	if n == 0 || length > uint64(len(b)-n) {
		return nil, 0
	}
	end := n + int(length)
	return b[n:end:end], end
}

// AppendLenInt appends v as a length-encoded integer.
func AppendLenInt(dst []byte, v uint64) []byte { return mysql.AppendLengthEncodedInteger(dst, v) }

// AppendLenBytes appends v as a length-encoded string.
func AppendLenBytes(dst, v []byte) []byte {
	return append(AppendLenInt(dst, uint64(len(v))), v...)
}

// AppendNullable appends v as a length-encoded string, or as NULL if it is nil.
func AppendNullable(dst, v []byte) []byte {
	if v == nil {
		return append(dst, null)
	}
	return AppendLenBytes(dst, v)
}
