package orderid

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

// FromInt reads an ID from a signed integer. A negative one is the plain64 ID with the same 64 bits, and invalid in
// other layouts.
func (l Layout) FromInt(v int64) (ID, error) {
	if !l.ValidUint(uint64(v)) {
		return ID{}, l.notAnID(strconv.FormatInt(v, 10))
	}
	return ID{Lo: uint64(v)}, nil
}

// FromUint reads an ID from an unsigned integer.
func (l Layout) FromUint(v uint64) (ID, error) {
	if !l.ValidUint(v) {
		return ID{}, l.notAnID(strconv.FormatUint(v, 10))
	}
	return ID{Lo: v}, nil
}

// FromBytes reads an ID from its big-endian bytes, of length Bytes(). A column with both lengths has two layouts, which
// len(b) distinguishes.
func (l Layout) FromBytes(b []byte) (ID, error) {
	if len(b) != l.Bytes() {
		return ID{}, fmt.Errorf("%d bytes are not an ID of layout %s, which has %d", len(b), l.name, l.bytes)
	}
	var id ID
	if l.bytes == 16 {
		id.Hi, b = binary.BigEndian.Uint64(b), b[8:]
	}
	id.Lo = binary.BigEndian.Uint64(b)
	if !l.valid(id) {
		return ID{}, l.notAnID(id.String())
	}
	return id, nil
}

// AppendBytes appends the ID as Bytes() big-endian bytes. Their order is the order of the IDs.
func (l Layout) AppendBytes(dst []byte, id ID) []byte {
	if l.bytes == 16 {
		dst = binary.BigEndian.AppendUint64(dst, id.Hi)
	}
	return binary.BigEndian.AppendUint64(dst, id.Lo)
}

// AppendSQL appends the ID as an SQL literal: decimal, or X'..' for 16 bytes.
func (l Layout) AppendSQL(dst []byte, id ID) []byte {
	if l.bytes == 8 {
		return strconv.AppendUint(dst, id.Lo, 10)
	}
	return l.AppendHexSQL(dst, id)
}

// AppendHexSQL appends the ID's bytes as an SQL literal, X'..', for a binary column.
func (l Layout) AppendHexSQL(dst []byte, id ID) []byte {
	return append(l.appendHex(append(dst, "X'"...), id), '\'')
}

// AppendSignedSQL is AppendSQL for a BIGINT column without UNSIGNED. It differs for half of plain64's IDs, which are
// negative in such a column.
func (l Layout) AppendSignedSQL(dst []byte, id ID) []byte {
	if l.bytes == 8 {
		return strconv.AppendInt(dst, int64(id.Lo), 10)
	}
	return l.AppendSQL(dst, id)
}

func (l Layout) appendHex(dst []byte, id ID) []byte {
	var raw [16]byte
	return hex.AppendEncode(dst, l.AppendBytes(raw[:0], id))
}

// Parse reads the formats of AppendSQL, AppendSignedSQL and AppendHexSQL. They are decimal for 64-bit layouts, and
// X'..' or 0x.. with two hexadecimal digits per byte.
func (l Layout) Parse(text string) (ID, error) {
	if l.bytes == 16 || hexadecimal(text) {
		return l.parseHex(text)
	}
	if v, err := strconv.ParseInt(text, 10, 64); err == nil {
		return l.FromInt(v)
	}
	v, err := strconv.ParseUint(text, 10, 64)
	if err != nil {
		return ID{}, l.notAnID(strconv.Quote(text))
	}
	return l.FromUint(v)
}

func hexadecimal(text string) bool {
	return len(text) > 2 && (text[:2] == "0x" || text[:2] == "X'" || text[:2] == "x'")
}

func (l Layout) parseHex(text string) (ID, error) {
	digits, ok := strings.CutPrefix(text, "0x")
	if !ok && len(text) > 2 && (text[:2] == "X'" || text[:2] == "x'") {
		digits, ok = strings.CutSuffix(text[2:], "'")
	}
	raw, err := hex.DecodeString(digits)
	if !ok || err != nil {
		return ID{}, l.notAnID(strconv.Quote(text))
	}
	return l.FromBytes(raw)
}

func (l Layout) notAnID(what string) error {
	return fmt.Errorf("%s is not an ID of layout %s", what, l.name)
}
