package gather

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/plan"
)

// kind is how a column's values are transferred.
type kind uint8

const (
	number   kind = iota // seconds since 1970, written as a time in UTC
	double               // with an exponent, so that it isn't a DECIMAL
	instant              // the number of an ENUM value; 0 for an invalid value
	bits                 // as a number
	member               // number of an ENUM value; 0 for an invalid value
	temporal             // in quotes
	text                 // uninterpreted bytes
	octets               // bytes without a character set
	json                 // text that must be marked as UTF-8
)

// Column is one column of a gathered table.
type Column struct {
	Name string
	// Key reports whether the column is part of the primary key.
	Key  bool
	kind kind
	// keyable reports whether the column can be part of a key at its full length.
	keyable bool
}

const binaryCharset = 63

// TypeError means that the values of a column of this type might change in the copy.
type TypeError struct {
	Column string
	Type   byte
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("column %s is of a type (%d) that is not gathered from several shards", e.Column, e.Type)
}

// OfAll applies Of to several definitions.
func OfAll(list []wire.Column) ([]Column, error) {
	out := make([]Column, len(list))
	for i, d := range list {
		var err error
		if out[i], err = Of(d); err != nil {
			return nil, err
		}
	}
	return out, nil
}

// Of returns the column for a definition, which determines how its values are transferred.
func Of(d wire.Column) (Column, error) {
	c := Column{Name: string(d.Name), Key: d.Flags&mysql.PRI_KEY_FLAG != 0, keyable: true}
	switch d.Type {
	case mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_LONGLONG,
		mysql.MYSQL_TYPE_DECIMAL, mysql.MYSQL_TYPE_NEWDECIMAL, mysql.MYSQL_TYPE_YEAR:
		c.kind = number
	case mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE:
		c.kind = double
	case mysql.MYSQL_TYPE_BIT:
		c.kind = bits
	case mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_TIMESTAMP2:
		c.kind = instant
	case mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_NEWDATE, mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_DATETIME2, mysql.MYSQL_TYPE_TIME, mysql.MYSQL_TYPE_TIME2:
		c.kind = temporal
	case mysql.MYSQL_TYPE_JSON:
		c.kind, c.keyable = json, false
	case mysql.MYSQL_TYPE_GEOMETRY:
		c.kind, c.keyable = octets, false
	case mysql.MYSQL_TYPE_ENUM, mysql.MYSQL_TYPE_SET:
		c.kind = member
	case mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_VAR_STRING, mysql.MYSQL_TYPE_STRING:
		c.kind = textual(d)
	case mysql.MYSQL_TYPE_TINY_BLOB, mysql.MYSQL_TYPE_MEDIUM_BLOB, mysql.MYSQL_TYPE_LONG_BLOB, mysql.MYSQL_TYPE_BLOB:
		c.kind, c.keyable = textual(d), false
	default:
		return c, &TypeError{c.Name, d.Type}
	}
	return c, nil
}

func textual(d wire.Column) kind {
	switch {
	case d.Flags&(mysql.ENUM_FLAG|mysql.SET_FLAG) != 0:
		return member
	case d.Charset == binaryCharset:
		return octets
	}
	return text
}

// Selected returns the expression that reads the column from the table with the given alias.
func (c Column) Selected(alias string) string { return c.Read(alias + "." + plan.Quote(c.Name)) }

// Read returns the expression that reads the column's values from another expression.
func (c Column) Read(name string) string {
	switch c.kind {
	case double: // the text form of FLOAT is rounded
		return name + " * 1e0" // + 0 would lose the sign of -0
	case instant: // its text form depends on the time zone, and is ambiguous at the end of daylight saving time
		return "UNIX_TIMESTAMP(" + name + ")"
	case bits, member:
		return name + " + 0"
	case text: // bypasses the client's character set
		return "CAST(" + name + " AS BINARY)"
	case json:
		return "CAST(CAST(" + name + " AS CHAR CHARACTER SET utf8mb4) AS BINARY)"
	case number, temporal, octets:
	}
	return name
}

// PrimaryKey returns the columns of the primary key, which has the given number of parts. It returns nil if some are
// missing or can't be part of a key.
func PrimaryKey(columns []Column, parts int) []string {
	var names []string
	for _, c := range columns {
		if c.Key && c.keyable {
			names = append(names, plan.Quote(c.Name))
		}
	}
	if len(names) != parts {
		return nil
	}
	return names
}

// Number returns a column of whole numbers that no table has.
func Number(name string) Column { return Column{Name: name, kind: number} }
