package catalog

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"locus/idgen/orderid"
	"locus/router/stmt"
)

// Column is one column of a live table, as information_schema tells it.
type Column struct {
	Name string
	// DataType is information_schema's DATA_TYPE in lower case: "bigint", "varchar".
	DataType string
	Unsigned bool
	Nullable bool
	// AutoIncrement and Generated are read from EXTRA.
	AutoIncrement bool
	Generated     bool
	// Invisible columns take no part in an INSERT without a column list.
	Invisible bool
	// HasDefault: an INSERT may leave the column out in strict mode.
	HasDefault bool
	// Default is where the value comes from that a row has whose INSERT leaves the
	// column out. DefaultsToNull: there is none.
	Default        Origin
	DefaultsToNull bool
	// OnUpdate: an UPDATE that leaves the column out sets it to the time.
	OnUpdate bool
	// Length is in characters for text, in bytes for binary types.
	Length int
	// Charset and Collation are empty for everything but text.
	Charset, Collation string
	// PadSpace: trailing spaces do not count in comparisons.
	PadSpace bool
}

// integerBytes is the number of value bytes of one of MySQL's integer types; 0: it is another type. No map, since each key of
// each statement asks for it.
func integerBytes(dataType string) uint {
	switch dataType {
	case "bigint":
		return 8
	case "int":
		return 4
	case "mediumint":
		return 3
	case "smallint":
		return 2
	case "tinyint":
		return 1
	}
	return 0
}

// IsInteger tells whether the column holds integers.
func (c *Column) IsInteger() bool { return integerBytes(c.DataType) != 0 }

// IsBinary tells whether the column holds bytes that compare as bytes.
func (c *Column) IsBinary() bool { return c.DataType == "binary" || c.DataType == "varbinary" }

// IsText tells whether the column holds short text in some collation.
func (c *Column) IsText() bool { return c.DataType == "char" || c.DataType == "varchar" }

// SQLType spells the type for messages.
func (c *Column) SQLType() string {
	t := strings.ToUpper(c.DataType)
	if c.IsText() || c.IsBinary() {
		t = fmt.Sprintf("%s(%d)", t, c.Length)
	}
	if c.Unsigned {
		t += " UNSIGNED"
	}
	return t
}

// Spelled is SQLType with what else decides which values are equal.
func (c *Column) Spelled() string {
	if c.Collation == "" {
		return c.SQLType()
	}
	return c.SQLType() + " COLLATE " + c.Collation
}

// KeptBy tells whether a type has every value that the column has, and tells them apart as it does. A text's collation is to be
// said: unsaid, the server takes the table's default, which may be another than the column's.
func (c *Column) KeptBy(t *stmt.ColumnType) bool {
	if c.IsInteger() {
		return t.Unsigned == c.Unsigned && integerBytes(t.DataType) >= integerBytes(c.DataType)
	}
	return t.DataType == c.DataType && t.Length >= c.Length &&
		(t.Charset == "" || strings.EqualFold(t.Charset, c.Charset)) && strings.EqualFold(t.Collation, c.Collation)
}

// holds tells whether the integer column can hold n.
func (c *Column) holds(n stmt.Value) bool {
	bits := integerBytes(c.DataType) * 8
	if c.Unsigned {
		return n.Kind == stmt.Uint && bits == 64 || n.Kind == stmt.Int && n.Int >= 0 && (bits == 64 || n.Int < 1<<bits)
	}
	if n.Kind != stmt.Int {
		return false
	}
	return bits == 64 || (n.Int >= -1<<(bits-1) && n.Int < 1<<(bits-1))
}

// LastInteger is the greatest that the integer column can hold.
func (c *Column) LastInteger() uint64 {
	bits := integerBytes(c.DataType) * 8
	if !c.Unsigned {
		bits--
	}
	return 1<<bits - 1
}

// AppendID appends an ID as an SQL literal that the column stores as that ID.
func (c *Column) AppendID(dst []byte, l orderid.Layout, id orderid.ID) []byte {
	switch {
	case c.IsBinary():
		return l.AppendHexSQL(dst, id)
	case c.Unsigned:
		return l.AppendSQL(dst, id)
	}
	return l.AppendSignedSQL(dst, id)
}

// length counts characters in text columns and bytes in binary ones.
func (c *Column) length(b []byte) int {
	if c.IsBinary() {
		return len(b)
	}
	return utf8.RuneCount(b)
}

// Origin is where a value comes from that no statement gives.
type Origin uint8

const (
	// Constant: it is the same on every server.
	Constant Origin = iota
	// Clock: it is made of the statement's time alone.
	Clock
	// Anew: UUID(), RAND(), CONNECTION_ID() …: each server makes its own.
	Anew
)

// ReadsClock tells whether a row may get the statement's time in the column. A
// TIMESTAMP may have it for NULL.
func (c *Column) ReadsClock() bool {
	return c.Default == Clock || c.OnUpdate || c.DataType == "timestamp"
}
