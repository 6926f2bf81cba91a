package gather

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/catalog"
)

// Literal is how the values of an answer's column are written, so that a table's column converts them as in a query. It depends on both types,
// because servers convert some fields differently from literals. Such conversions are refused.
type Literal struct {
	form     form
	typ      byte
	unsigned bool
	decimals int
}

type form uint8

const (
	asNumber   form = iota // integers and decimals
	asDouble               // with an exponent
	asYear                 // four digits, in quotes
	asBits                 // a number
	asTime                 // in quotes
	asTimeText             // in quotes, with the column's decimals
	asText                 // in quotes
	asOctets               // bytes in hexadecimal
	asBinary               // bytes in hexadecimal that the server reads as text
)

// target groups column types that convert values in the same way.
type target uint8

const (
	toNumber target = iota
	toText          // also ENUM and SET
	toOctets
	toDate // also DATETIME and TIMESTAMP
	toTime
	toJSON
	toBits
	toShape
)

func targetOf(c *catalog.Column) target {
	switch c.DataType {
	case "char", "varchar", "tinytext", "text", "mediumtext", "longtext", "enum", "set":
		return toText
	case "binary", "varbinary", "tinyblob", "blob", "mediumblob", "longblob":
		return toOctets
	case "date", "datetime", "timestamp":
		return toDate
	case "time":
		return toTime
	case "json":
		return toJSON
	case "bit":
		return toBits
	case "tinyint", "smallint", "mediumint", "int", "bigint", "decimal", "float", "double", "year":
		return toNumber
	}
	return toShape
}

// ConversionError means that a column would convert the values of an answer's column differently as literals than from
// the query itself.
type ConversionError struct {
	From string
	To   *catalog.Column
}

func (e *ConversionError) Error() string {
	return fmt.Sprintf("field %s of the query is of another kind than column %s, a %s column", e.From, e.To.Name, strings.ToUpper(e.To.DataType))
}

// Into returns how values of an answer's column are written for a table's column. It returns a *ConversionError if the literal would be converted
// differently.
func Into(from wire.Column, to *catalog.Column) (Literal, error) {
	l := Literal{typ: from.Type, unsigned: from.Flags&mysql.UNSIGNED_FLAG != 0, decimals: int(from.Decimals)}
	f, ok := formOf(from, targetOf(to))
	if !ok {
		return l, &ConversionError{string(from.Name), to}
	}
	l.form = f
	return l, nil
}

// notFixedDecimals is the decimals value of a DOUBLE without a fixed number of decimals.
const notFixedDecimals = 31

// formOf returns the form of the literals. It returns false if the column would convert them differently.
func formOf(from wire.Column, to target) (form, bool) {
	written := to == toText || to == toOctets
	switch from.Type {
	case mysql.MYSQL_TYPE_NULL:
		return asNumber, true
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_LONGLONG:
		return asNumber, to != toShape && (!written || from.Flags&mysql.ZEROFILL_FLAG == 0)
	case mysql.MYSQL_TYPE_YEAR:
		return pick(written, asYear, asNumber), written || to == toNumber
	case mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL:
		return asNumber, written || to == toNumber || to == toJSON
	case mysql.MYSQL_TYPE_FLOAT:
		return asDouble, to == toNumber
	case mysql.MYSQL_TYPE_DOUBLE:
		return asDouble, to == toNumber || to == toJSON || written && from.Decimals >= notFixedDecimals
	case mysql.MYSQL_TYPE_BIT:
		return asBits, to == toNumber || to == toBits
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_NEWDATE:
		return asTime, written || to == toDate
	case mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_DATETIME2, mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIMESTAMP2:
		return pick(written, asTimeText, asTime), written && from.Decimals <= 6 || to == toDate
	case mysql.MYSQL_TYPE_TIME, mysql.MYSQL_TYPE_TIME2:
		return pick(written, asTimeText, asTime), written && from.Decimals <= 6 || to == toTime
	case mysql.MYSQL_TYPE_JSON:
		return asText, to == toText || to == toJSON
	case mysql.MYSQL_TYPE_GEOMETRY:
		return asOctets, to == toShape
	}
	return textForm(from, to)
}

func textForm(from wire.Column, to target) (form, bool) {
	switch textual(from) {
	case member:
		return asText, to == toText
	case octets:
		return pick(to == toText, asBinary, asOctets), to == toText || to == toOctets
	default:
		return asText, to != toOctets && to != toBits && to != toShape
	}
}

func pick(first bool, a, b form) form {
	if first {
		return a
	}
	return b
}

// Append writes a value of a binary row as a literal. backslashes reports whether backslashes are escapes. If they are not, only quotes are
// doubled in a text.
func (l Literal) Append(out, value []byte, backslashes bool) ([]byte, error) {
	if value == nil {
		return append(out, "NULL"...), nil
	}
	switch l.form {
	case asNumber:
		return l.number(out, value), nil
	case asDouble:
		if l.typ == mysql.MYSQL_TYPE_FLOAT {
			return strconv.AppendFloat(out, float64(math.Float32frombits(binary.LittleEndian.Uint32(value))), 'e', -1, 64), nil
		}
		return strconv.AppendFloat(out, math.Float64frombits(binary.LittleEndian.Uint64(value)), 'e', -1, 64), nil
	case asYear:
		return fmt.Appendf(out, "'%04d'", binary.LittleEndian.Uint16(value)), nil
	case asBits:
		var n uint64
		for _, b := range value {
			n = n<<8 | uint64(b)
		}
		return strconv.AppendUint(out, n, 10), nil
	case asTime, asTimeText:
		text, err := wire.TemporalText(l.typ, value)
		if err != nil {
			return nil, err
		}
		return append(append(append(out, '\''), l.timed(text)...), '\''), nil
	case asText:
		return AppendText(out, value, backslashes), nil
	case asBinary:
		return appendHex(append(out, "_binary "...), value), nil
	case asOctets:
	}
	return appendHex(out, value), nil
}

func (l Literal) number(out, value []byte) []byte {
	switch {
	case l.typ == mysql.MYSQL_TYPE_DECIMAL || l.typ == mysql.MYSQL_TYPE_NEWDECIMAL:
		return append(out, value...)
	case l.unsigned || l.typ == mysql.MYSQL_TYPE_YEAR:
		return strconv.AppendUint(out, wire.Uint(value), 10)
	}
	return strconv.AppendInt(out, wire.Int(value), 10)
}

// timed formats a time with its column's number of decimals.
func (l Literal) timed(text string) string {
	if l.form != asTimeText {
		return text
	}
	whole, fraction, _ := strings.Cut(text, ".")
	if l.decimals == 0 {
		return whole
	}
	return whole + "." + (fraction + "000000")[:l.decimals]
}

// AppendText writes a text in quotes.
func AppendText(out, value []byte, backslashes bool) []byte {
	out = append(out, '\'')
	for _, c := range value {
		switch {
		case c == '\'', c == '\\' && backslashes:
			out = append(out, c, c)
		default:
			out = append(out, c)
		}
	}
	return append(out, '\'')
}
