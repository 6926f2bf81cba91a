package table

import (
	"fmt"
	"strconv"
	"strings"

	"locus/migrate/link"
	"locus/router/catalog"
)

// class determines how values of a column are read, written and compared.
type class uint8

const (
	unknown class = iota // refused
	integer
	decimal
	floating
	year
	temporal
	bits // BIT, ENUM, SET
	text
	octets
	json
	geometry
)

// Column is a column of a moving table.
type Column struct {
	catalog.Column
	FullType string // COLUMN_TYPE, such as "enum('a','b')" or "decimal(10,2) unsigned"
	// Bytes is the length to which a BINARY column pads its values, 0 for other types.
	Bytes int
	class class
	// virtual reports that the table doesn't store the column.
	virtual bool
}

var classes = map[string]class{
	"tinyint": integer, "smallint": integer, "mediumint": integer, "int": integer, "bigint": integer,
	"decimal": decimal,
	"float":   floating, "double": floating,
	"year": year,
	"date": temporal, "datetime": temporal, "timestamp": temporal, "time": temporal,
	"bit": bits, "enum": bits, "set": bits,
	"char": text, "varchar": text, "tinytext": text, "text": text, "mediumtext": text, "longtext": text,
	"binary": octets, "varbinary": octets, "tinyblob": octets, "blob": octets, "mediumblob": octets, "longblob": octets,
	"json":     json,
	"geometry": geometry, "point": geometry, "linestring": geometry, "polygon": geometry, "multipoint": geometry,
	"multilinestring": geometry, "multipolygon": geometry, "geometrycollection": geometry, "geomcollection": geometry,
}

func (c *Column) classify(flavor link.Flavor) {
	c.class = classes[c.DataType]
	switch {
	case c.class == json && flavor == link.MariaDB:
		c.class = unknown // MariaDB's JSON is reported as longtext
	case strings.Contains(c.FullType, "compressed"): // MariaDB's, which has its own format in the binary log
		c.class = unknown
	}
}

// Carried reports whether the column's values can be moved without loss.
func (c *Column) Carried() bool { return c.class != unknown }

// Orders reports whether the column may be part of the key by which a table is traversed. Its values must
// compare in SQL as they are written.
func (c *Column) Orders() bool {
	switch c.class {
	case integer, decimal, year, temporal, text, octets:
		return !strings.Contains(c.DataType, "blob")
	case unknown, floating, bits, json, geometry:
	}
	return false
}

// appendRead appends the expression that returns the column's value as text.
func (c *Column) appendRead(b []byte) []byte {
	name := link.Name(c.Name)
	switch c.class {
	case floating:
		return append(b, "CAST("+name+" AS DOUBLE)"...) // a plain FLOAT shows six digits
	case bits:
		return append(b, "CAST("+name+" AS UNSIGNED)"...) // SET+0 would be a double
	case json:
		return append(b, "CONCAT(IF("+typedInside(name)+",'"+typedMark+"',''),CAST("+name+" AS CHAR CHARACTER SET utf8mb4))"...)
	case unknown, integer, decimal, year, temporal, text, octets, geometry:
	}
	return append(b, name...)
}

// typedMark begins the text of a JSON value of MySQL that contains SQL types, such as a DECIMAL or a time, which its
// text doesn't show. No JSON text begins with it.
const typedMark = "!"

// typedInside returns a condition that finds such JSON values of MySQL.
func typedInside(name string) string {
	return "(SELECT COUNT(*) FROM JSON_TABLE(JSON_EXTRACT(" + name + ",_utf8mb4'$',_utf8mb4'$**.*',_utf8mb4'$**[*]')," +
		"_utf8mb4'$[*]' COLUMNS (inside JSON PATH _utf8mb4'$')) value_of" +
		" WHERE JSON_TYPE(value_of.inside) NOT IN ('OBJECT','ARRAY','STRING','INTEGER','UNSIGNED INTEGER','DOUBLE','BOOLEAN','NULL'))>0"
}

// TypedRemedy converts such values to the values that their text shows. It takes two steps, because MySQL
// doesn't replace a JSON value by one that compares equal.
const TypedRemedy = "store them by their text: UPDATE … SET c = JSON_ARRAY(CAST(c AS CHAR)), then UPDATE … SET c = JSON_UNQUOTE(c->'$[0]') of the same rows"

// TypedError is about a JSON value that its text doesn't represent completely.
type TypedError struct{ Column string }

func (e *TypedError) Error() string {
	return fmt.Sprintf("column %s: a JSON value has a DECIMAL, a time or bytes inside, which its text does not tell", e.Column)
}

// AppendDigest appends an expression for the value's bytes. It is distinct for distinct values and for NULL, and never
// much longer than the row.
func (c *Column) AppendDigest(b []byte) []byte {
	read := "CAST(" + string(c.appendRead(nil)) + " AS BINARY)"
	if c.large() {
		return append(b, "IFNULL(SHA2("+read+",256),'-')"...)
	}
	return append(b, "IFNULL(CONCAT(LENGTH("+read+"),':',"+read+"),'-')"...)
}

// large reports whether a value may exceed a page's row size.
func (c *Column) large() bool {
	return c.class == json || c.class == geometry || strings.HasSuffix(c.DataType, "text") || strings.HasSuffix(c.DataType, "blob")
}

// Canonical returns the canonical form of a server's answer to the read expression.
func (c *Column) Canonical(v []byte) ([]byte, error) {
	if c.class == json && strings.HasPrefix(string(v[:min(len(v), len(typedMark))]), typedMark) {
		return nil, &TypedError{c.Name}
	}
	if v == nil || c.class != floating {
		return v, nil
	}
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil {
		return nil, fmt.Errorf("column %s: %w", c.Name, err)
	}
	return AppendFloat(nil, f), nil
}

// AppendFloat formats a floating-point number so that a server reads it as the same one. Without the exponent it would
// be a DECIMAL, which has no negative zero.
func AppendFloat(b []byte, f float64) []byte { return strconv.AppendFloat(b, f, 'e', -1, 64) }

// AppendLiteral appends the value as a literal for an INSERT.
func (c *Column) AppendLiteral(b, v []byte) []byte {
	if v == nil {
		return append(b, "NULL"...)
	}
	switch c.class {
	case integer, decimal, floating, bits:
		return append(b, v...)
	case json:
		return appendQuoted(append(b, "_utf8mb4"...), v)
	case unknown, year, temporal, text, octets, geometry:
	}
	return appendQuoted(b, v)
}

// AppendOperand appends the value as an operand to compare with the column, under the column's own collation.
func (c *Column) AppendOperand(b, v []byte) []byte {
	if c.class == text && v != nil {
		b = append(append(b, '_'), c.Charset...)
	}
	return c.AppendLiteral(b, v)
}

// appendQuoted quotes bytes for a session with the binary character set. It escapes bytewise. A 0x5c within a gbk
// character is escaped too, which is right because the session doesn't use gbk.
func appendQuoted(b, v []byte) []byte {
	b = append(b, '\'')
	from := 0
	for i, x := range v {
		var escaped byte
		switch x {
		case 0:
			escaped = '0'
		case '\'', '\\':
			escaped = x
		default:
			continue
		}
		b = append(append(b, v[from:i]...), '\\', escaped)
		from = i + 1
	}
	return append(append(b, v[from:]...), '\'')
}
