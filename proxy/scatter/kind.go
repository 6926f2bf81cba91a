package scatter

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
)

// kind determines how the values of a column are read and compared.
type kind uint8

const (
	textSigned kind = iota
	textUnsigned
	textDouble
	textFloat // FLOAT as text is rounded to six digits, which suffices for MIN but not for a sort
	textTime
	textDate
	binarySigned
	binaryUnsigned
	binaryDouble
	binaryFloat
	binaryDate
	binaryTime
	exactDecimal // text in either format
	rawBytes     // values that compare bytewise: binary strings and weights
)

// binaryCharset marks byte strings, as opposed to text.
const binaryCharset = 63

// kindOf returns the kind of a column. It returns false if only the server can compare its values.
func kindOf(c column, f Format, weighted bool) (kind, bool) {
	switch c.typ {
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONG,
		mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_YEAR:
		if c.unsigned() {
			return pick(f, textUnsigned, binaryUnsigned), true
		}
		return pick(f, textSigned, binarySigned), true
	case mysql.MYSQL_TYPE_DOUBLE:
		return pick(f, textDouble, binaryDouble), true
	case mysql.MYSQL_TYPE_FLOAT:
		return pick(f, textFloat, binaryFloat), true
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL:
		return exactDecimal, true
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_NEWDATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_TIMESTAMP:
		return pick(f, textDate, binaryDate), true
	case mysql.MYSQL_TYPE_TIME:
		return pick(f, textTime, binaryTime), true
	case mysql.MYSQL_TYPE_NULL, mysql.MYSQL_TYPE_BIT:
		return rawBytes, true
	case mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_STRING,
		mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_BLOB:
		return rawBytes, weighted || c.charset == binaryCharset
	}
	return 0, false
}

// kindOf returns the kind of a column of the answers, as the function kindOf does. It returns false also for byte strings that may be texts, and
// for a TIMESTAMP: as text it goes back an hour every autumn, while servers may sort it as an instant.
func (g *merger) kindOf(column int, weighted bool) (kind, bool) {
	if g.columns[column].typ == mysql.MYSQL_TYPE_TIMESTAMP {
		return 0, false
	}
	k, ok := kindOf(g.columns[column], g.format, weighted)
	return k, ok && (k != rawBytes || weighted || !g.rawTexts)
}

func pick(f Format, text, binary kind) kind {
	if f == Binary {
		return binary
	}
	return text
}

// key is a value prepared for comparison.
type key struct {
	null bool
	n    uint64 // numbers and times, in an order-preserving form
	b    []byte // bytes and decimals; a view
}

// read prepares a value for comparison. A nil value is NULL.
func (k kind) read(v []byte) (key, error) {
	if v == nil {
		return key{null: true}, nil
	}
	switch k {
	case rawBytes:
		return key{b: v}, nil
	case exactDecimal, textDate:
		return key{b: wire.NarrowNumber(v)}, nil
	case textSigned, textUnsigned, textDouble, textFloat, textTime:
		return k.readText(wire.NarrowNumber(v))
	case binarySigned, binaryUnsigned, binaryDouble, binaryFloat, binaryDate, binaryTime:
	}
	return k.readBinary(v)
}

func (k kind) readText(v []byte) (key, error) {
	switch k {
	case textUnsigned:
		n, err := strconv.ParseUint(string(v), 10, 64)
		return key{n: n}, err
	case textDouble, textFloat:
		f, err := strconv.ParseFloat(string(v), 64)
		return key{n: orderedFloat(f)}, err
	case textTime:
		return parseTime(v)
	default:
		n, err := strconv.ParseInt(string(v), 10, 64)
		return key{n: orderedInt(n)}, err
	}
}

func (k kind) readBinary(v []byte) (key, error) {
	switch k {
	case binaryUnsigned:
		return key{n: wire.Uint(v)}, nil
	case binaryDouble:
		return key{n: orderedFloat(math.Float64frombits(wire.Uint(v)))}, nil
	case binaryFloat:
		return key{n: orderedFloat(float64(math.Float32frombits(uint32(wire.Uint(v)))))}, nil
	case binaryDate:
		return readDate(v)
	case binaryTime:
		return readTime(v)
	default:
		return key{n: orderedInt(wire.Int(v))}, nil
	}
}

// orderedInt maps signed integers to unsigned ones in the same order.
func orderedInt(n int64) uint64 { return uint64(n) ^ 1<<63 }

// orderedFloat maps floating-point numbers to integers in the same order. Both zeros map to one.
func orderedFloat(f float64) uint64 {
	if f == 0 {
		f = 0
	}
	bits := math.Float64bits(f)
	if bits>>63 != 0 {
		return ^bits
	}
	return bits | 1<<63
}

// readDate packs a binary DATE or DATETIME: year (2), month, day, hour, minute, second, microseconds (4). Missing parts
// at the end are 0.
func readDate(v []byte) (key, error) {
	var b [11]byte
	if copy(b[:], v) < len(v) {
		return key{}, errTime
	}
	n := uint64(binary.LittleEndian.Uint16(b[:]))
	for _, part := range b[2:7] {
		n = n<<6 | uint64(part)
	}
	return key{n: n<<20 | uint64(binary.LittleEndian.Uint32(b[7:]))}, nil
}

// readTime packs a binary TIME: negative, days (4), hours, minutes, seconds, microseconds (4).
func readTime(v []byte) (key, error) {
	var b [12]byte
	if copy(b[:], v) < len(v) {
		return key{}, errTime
	}
	hours := int64(binary.LittleEndian.Uint32(b[1:]))*24 + int64(b[5])
	return timeKey(b[0] != 0, hours, int64(b[6]), int64(b[7]), int64(binary.LittleEndian.Uint32(b[8:]))), nil
}

func timeKey(negative bool, hours, minutes, seconds, micros int64) key {
	n := ((hours*60+minutes)*60+seconds)*1e6 + micros
	if negative {
		n = -n
	}
	return key{n: orderedInt(n)}
}

var errTime = fmt.Errorf("date or time: %w", wire.ErrMalformed)

// parseTime reads a TIME in text form, such as -838:59:59.000000.
func parseTime(v []byte) (key, error) {
	negative := len(v) > 0 && v[0] == '-'
	var parts [3]int64
	part, micros, scale := 0, int64(0), int64(0)
	for _, c := range bytes.TrimPrefix(v, []byte("-")) {
		switch {
		case c == ':' && part < 2 && scale == 0:
			part++
		case c == '.' && part == 2 && scale == 0:
			scale = 1e5
		case c < '0' || c > '9':
			return key{}, errTime
		case part == 2 && scale > 0:
			micros, scale = micros+int64(c-'0')*scale, max(1, scale/10)
		default:
			parts[part] = parts[part]*10 + int64(c-'0')
		}
	}
	if part != 2 {
		return key{}, errTime
	}
	return timeKey(negative, parts[0], parts[1], parts[2], micros), nil
}

// compare compares two keys of one kind. NULL sorts first.
func (k kind) compare(a, b key) int {
	switch {
	case a.null || b.null:
		return cmp.Compare(notNull(a), notNull(b))
	case k == rawBytes, k == textDate:
		return bytes.Compare(a.b, b.b)
	case k == exactDecimal:
		return compareDecimals(a.b, b.b)
	}
	return cmp.Compare(a.n, b.n)
}

// isZeroDate reports whether a key is the date 0000-00-00, at any time of the day.
func (k kind) isZeroDate(v key) bool {
	switch k {
	case textDate:
		return bytes.HasPrefix(v.b, []byte("0000-00-00"))
	case binaryDate:
		return !v.null && v.n < 1<<38 // year, month and day are above the hour (6 bits), minute (6), second (6) and microseconds (20)
	default:
		return false
	}
}

func notNull(k key) int {
	if k.null {
		return 0
	}
	return 1
}
