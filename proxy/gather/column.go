package gather

import (
	"fmt"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/proxy/wire"
	"locus/router/plan"
)

// kind is how a column's values travel.
type kind uint8

const (
	number   kind = iota // as it is read
	double               // with an exponent, so that it is no decimal
	instant              // seconds since 1970, written in UTC
	bits                 // as a number
	member               // of ENUM, by its number; 0 is a value that was none
	temporal             // in quotes
	text                 // its bytes, whatever they mean
	octets               // bytes without a character set
	json                 // text that must be said to be UTF-8
)

// Column is one column of a gathered table.
type Column struct {
	Name string
	// Key: it is part of the primary key.
	Key  bool
	kind kind
	// keyable: it can stand in a key by its whole length.
	keyable bool
}

const binaryCharset = 63

// TypeError is a column of a type that isn't known to travel unchanged.
type TypeError struct {
	Column string
	Type   byte
}

func (e *TypeError) Error() string {
	return fmt.Sprintf("column %s is of a type (%d) that is not gathered from several shards", e.Column, e.Type)
}

// OfAll is Of of several.
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

// Of says how the column of a definition travels.
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

// Selected is the expression that reads the column, of the table of an alias.
func (c Column) Selected(alias string) string { return c.Read(alias + "." + plan.Quote(c.Name)) }

// Read is the expression that reads the column's values from another expression.
func (c Column) Read(name string) string {
	switch c.kind {
	case double: // as they are shown, FLOAT is rounded
		return name + " * 1e0" // + 0 would lose the sign of -0
	case instant: // as text it depends on the time zone, and is ambiguous in autumn
		return "UNIX_TIMESTAMP(" + name + ")"
	case bits, member:
		return name + " + 0"
	case text: // and not in the client's character set
		return "CAST(" + name + " AS BINARY)"
	case json:
		return "CAST(CAST(" + name + " AS CHAR CHARACTER SET utf8mb4) AS BINARY)"
	case number, temporal, octets:
	}
	return name
}

// PrimaryKey gives the columns of the whole primary key, of which there are so
// many; nil if some are missing or can't stand in one.
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
