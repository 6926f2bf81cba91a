package wire

import "github.com/go-mysql-org/go-mysql/mysql"

// Encodings of values in binary rows and in COM_STMT_EXECUTE that have no fixed size.
const (
	lengthByte = -1 // dates and times: one length byte, 0 to 12
	lenEncoded = -2 // everything but numbers and times
)

// layout returns the number of bytes of a type's values, or lengthByte or lenEncoded.
func layout(typ byte) int {
	switch typ {
	case mysql.MYSQL_TYPE_NULL:
		return 0
	case mysql.MYSQL_TYPE_TINY:
		return 1
	case mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_YEAR:
		return 2
	case mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_FLOAT:
		return 4
	case mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_DOUBLE:
		return 8
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_TIME, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP:
		return lengthByte
	}
	return lenEncoded
}

// value returns a view of the next value, without its length.
func (c *cursor) value(typ byte) []byte {
	switch n := layout(typ); n {
	case lengthByte:
		return c.take(int(c.u8()))
	case lenEncoded:
		return c.lenBytes()
	default:
		return c.take(n)
	}
}

// appendValue appends a value in its type's encoding. A value of a fixed-size type must have that size.
func appendValue(dst []byte, typ byte, v []byte) []byte {
	switch layout(typ) {
	case lengthByte:
		return append(append(dst, byte(len(v))), v...)
	case lenEncoded:
		return AppendLenBytes(dst, v)
	default:
		return append(dst, v...)
	}
}

// Uint reads an unsigned integer of 1, 2, 4 or 8 bytes from a binary row or parameter.
func Uint(value []byte) uint64 {
	var v uint64
	for i := min(len(value), 8) - 1; i >= 0; i-- {
		v = v<<8 | uint64(value[i])
	}
	return v
}

// Int reads a signed integer from a binary row or parameter.
func Int(value []byte) int64 {
	unused := 64 - 8*min(len(value), 8)
	return int64(Uint(value)<<unused) >> unused
}
