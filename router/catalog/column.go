package catalog

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"locus/idgen/orderid"
	"locus/router/stmt"
)

// Column is one column of a live table, as information_schema describes it.
type Column struct {
	Name string
	// DataType is information_schema's DATA_TYPE in lower case: "bigint", "varchar".
	DataType string
	Unsigned bool
	Nullable bool
	// AutoIncrement and Generated are read from EXTRA.
	AutoIncrement bool
	Generated     bool
	// Invisible columns are not part of an INSERT without a column list.
	Invisible bool
	// HasDefault: in strict mode, an INSERT may omit the column.
	HasDefault bool
	// Default is the origin of the value that a row gets if its INSERT omits the column. DefaultsToNull: the column has no default other than NULL.
	Default        Origin
	DefaultsToNull bool
	// OnUpdate: an UPDATE that omits the column sets it to the current time.
	OnUpdate bool
	// Length is in characters for text, in bytes for binary types.
	Length int
	// Charset and Collation are empty unless the column is text.
	Charset, Collation string
	// PadSpace: trailing spaces do not count in comparisons.
	PadSpace bool
}

// integerBytes returns the number of value bytes of one of MySQL's integer types, or 0 for another type. It is a switch, not a map, because it is
// called for each key of each statement.
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

// IsInteger reports whether the column contains integers.
func (c *Column) IsInteger() bool { return integerBytes(c.DataType) != 0 }

// IsBinary reports whether the column contains bytes that are compared as bytes.
func (c *Column) IsBinary() bool { return c.DataType == "binary" || c.DataType == "varbinary" }

// IsText reports whether the column contains short text in some collation.
func (c *Column) IsText() bool { return c.DataType == "char" || c.DataType == "varchar" }

// SQLType returns the type for messages, without the collation.
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

// Spelled returns SQLType and the collation, which also determines which values are equal.
func (c *Column) Spelled() string {
	if c.Collation == "" {
		return c.SQLType()
	}
	return c.SQLType() + " COLLATE " + c.Collation
}

// FitsType reports whether a type can store every value of the column and distinguishes the same values. The type of a text must name its collation.
// Otherwise the server uses the table's default, which may differ from the column's.
func (c *Column) FitsType(t *stmt.ColumnType) bool {
	if c.IsInteger() {
		return t.Unsigned == c.Unsigned && integerBytes(t.DataType) >= integerBytes(c.DataType)
	}
	return t.DataType == c.DataType && t.Length >= c.Length &&
		(t.Charset == "" || strings.EqualFold(t.Charset, c.Charset)) && strings.EqualFold(t.Collation, c.Collation)
}

// holds reports whether n is in the range of the integer column.
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

// LastInteger returns the greatest value that the integer column can store.
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

// length returns the number of characters of a value for text columns, and of bytes for binary ones.
func (c *Column) length(b []byte) int {
	if c.IsBinary() {
		return len(b)
	}
	return utf8.RuneCount(b)
}

// Origin is the origin of a value that the statement doesn't contain.
type Origin uint8

const (
	// Constant: the value is the same on every server.
	Constant Origin = iota
	// Clock: the value depends on the statement's time alone.
	Clock
	// Anew is true if servers generate different values, as by UUID(), RAND() or CONNECTION_ID().
	Anew
)

// ReadsClock reports whether a row may get the statement's time in the column. A TIMESTAMP may get it for NULL.
func (c *Column) ReadsClock() bool {
	return c.Default == Clock || c.OnUpdate || c.DataType == "timestamp"
}
