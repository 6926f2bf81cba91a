package wire

import (
	"bytes"
	"encoding/binary"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/go-mysql-org/go-mysql/mysql"
)

// Wide is an encoding in which a server sends texts, names, decimals, and in part numbers and times, if character_set_results is a
// character set whose units have two or four bytes. Every other character set has ASCII's bytes for ASCII.
type Wide uint8

// The encodings.
const (
	NotWide Wide = iota
	UCS2         // big-endian, without surrogate pairs
	UTF16
	UTF16LE
	UTF32
)

var wides = map[string]Wide{"ucs2": UCS2, "utf16": UTF16, "utf16le": UTF16LE, "utf32": UTF32}

// WideOf returns the encoding of a character set, whose name is in lower case.
func WideOf(charset string) Wide { return wides[charset] }

// collations are the default collations of the character sets, and their units' sizes in bytes as servers count lengths by them.
var collations = [...]struct {
	id    uint16
	bytes uint32
}{NotWide: {}, UCS2: {35, 2}, UTF16: {54, 4}, UTF16LE: {56, 4}, UTF32: {60, 4}}

// binaryCollation is the collation of numbers, times and byte strings.
const binaryCollation = 63

// wideOf detects the encoding of a name that begins with ASCII. No name contains a zero character.
func wideOf(name []byte) Wide {
	switch {
	case len(name) < 2 || len(name)%2 != 0:
		return NotWide
	case name[0] != 0 && name[1] == 0:
		return UTF16LE
	case name[0] == 0 && name[1] == 0 && len(name)%4 == 0:
		return UTF32
	case name[0] == 0:
		return UTF16
	}
	return NotWide
}

// Decode returns a text as UTF-8.
func (w Wide) Decode(text []byte) []byte {
	if w == NotWide || text == nil {
		return text
	}
	out := make([]byte, 0, len(text))
	for len(text) > 0 {
		r, n := w.next(text)
		out, text = utf8.AppendRune(out, r), text[n:]
	}
	return out
}

// next decodes a character.
func (w Wide) next(text []byte) (r rune, size int) {
	if w == UTF32 {
		if len(text) < 4 {
			return utf8.RuneError, len(text)
		}
		return rune(binary.BigEndian.Uint32(text)), 4
	}
	if len(text) < 2 {
		return utf8.RuneError, len(text)
	}
	order := w.order()
	r = rune(order.Uint16(text))
	if utf16.IsSurrogate(r) && len(text) >= 4 {
		return utf16.DecodeRune(r, rune(order.Uint16(text[2:]))), 4
	}
	return r, 2
}

// order returns the order of the bytes in a unit of two bytes.
func (w Wide) order() interface {
	binary.ByteOrder
	binary.AppendByteOrder
} {
	if w == UTF16LE {
		return binary.LittleEndian
	}
	return binary.BigEndian
}

// Encode encodes a text in UTF-8. Like servers, it writes question marks for characters that the character set lacks.
func (w Wide) Encode(text []byte) []byte {
	if w == NotWide || text == nil {
		return text
	}
	out := make([]byte, 0, 2*len(text))
	for _, r := range string(text) {
		switch {
		case w == UTF32:
			out = binary.BigEndian.AppendUint32(out, uint32(r))
		case r <= 0xffff:
			out = w.order().AppendUint16(out, uint16(r))
		case w == UCS2:
			out = binary.BigEndian.AppendUint16(out, '?')
		default:
			high, low := utf16.EncodeRune(r)
			out = w.order().AppendUint16(w.order().AppendUint16(out, uint16(high)), uint16(low))
		}
	}
	return out
}

// EncodeColumn encodes the names in a definition. A text column gets the collation of the encoding unless it has one of a wide
// character set.
func (w Wide) EncodeColumn(c Column) Column {
	if w == NotWide {
		return c
	}
	for _, name := range c.names() {
		*name = w.Encode(*name)
	}
	if to := collations[w]; c.Charset != binaryCollation && c.Charset != to.id {
		c.Length, c.Charset = c.Length/4*to.bytes, to.id // from utf8mb4
	}
	return c
}

func (c *Column) names() []*[]byte {
	return []*[]byte{&c.Schema, &c.Table, &c.OrgTable, &c.Name, &c.OrgName}
}

// Bytes reports whether a column has byte strings, which servers send as they are.
func (c *Column) Bytes() bool { return c.Charset == binaryCollation && byteTypes[c.Type] }

var byteTypes = [256]bool{
	mysql.MYSQL_TYPE_VARCHAR: true, mysql.MYSQL_TYPE_VAR_STRING: true, mysql.MYSQL_TYPE_STRING: true,
	mysql.MYSQL_TYPE_TINY_BLOB: true, mysql.MYSQL_TYPE_MEDIUM_BLOB: true, mysql.MYSQL_TYPE_LONG_BLOB: true, mysql.MYSQL_TYPE_BLOB: true,
	mysql.MYSQL_TYPE_GEOMETRY: true, mysql.MYSQL_TYPE_BIT: true,
}

// Narrow decodes the names of an answer's columns and its values in the text protocol, in place, if they are in a wide encoding.
// One of the names must begin with ASCII.
func Narrow(columns []Column, rows [][][]byte) {
	w := NotWide
	for i := 0; i < len(columns) && w == NotWide; i++ {
		w = wideOf(columns[i].Name)
	}
	if w == NotWide {
		return
	}
	for i := range columns {
		for _, name := range columns[i].names() {
			*name = w.Decode(*name)
		}
	}
	for _, row := range rows {
		for i, v := range row {
			row[i] = w.narrow(&columns[i], v)
		}
	}
}

func (w Wide) narrow(c *Column, v []byte) []byte {
	switch {
	case c.Bytes():
		return v
	case c.Charset != binaryCollation || c.Type == mysql.MYSQL_TYPE_JSON:
		return w.Decode(v)
	}
	return NarrowNumber(v)
}

// NarrowNumber returns a number or a time in the text protocol in ASCII, whatever character set it was sent in. Servers differ in
// which of them they convert.
func NarrowNumber(v []byte) []byte {
	if bytes.IndexByte(v, 0) < 0 {
		return v
	}
	return bytes.ReplaceAll(v, []byte{0}, nil)
}

// WidenNumber encodes a number in ASCII as a server has encoded another one.
func WidenNumber(number, like []byte) []byte { return wideOf(like).Encode(number) }
