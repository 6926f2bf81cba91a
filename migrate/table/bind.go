package table

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/go-mysql-org/go-mysql/mysql"

	"locus/migrate/link"
)

const (
	// boundRows is the number of rows of a prepared INSERT. It saves the server from parsing the rows, which is a
	// quarter of its cost of a copy. More rows save little more.
	boundRows = 100
	// mostParams is MySQL's limit.
	mostParams = math.MaxUint16
)

// bound describes how rows are written as values of a prepared INSERT.
type bound struct {
	rows   int // of one execution
	insert string
	params []link.Param // of a row
}

// bind sets t.bound, unless some column's values can only be sent as text.
func (t *Table) bind() {
	var params []link.Param
	for i := range t.Columns {
		c := &t.Columns[i]
		switch {
		case c.Generated:
			continue
		case c.class == json: // MySQL doesn't convert a binary string to JSON
			return
		}
		params = append(params, c.param())
	}
	rows := min(boundRows, mostParams/len(params))
	row := "(" + strings.Repeat(",?", len(params))[1:] + ")"
	t.bound = bound{
		rows: rows, params: params,
		insert: string(t.AppendInsert(nil)) + strings.Repeat(","+row, rows)[1:],
	}
}

// BoundRows returns how many rows [Table.BoundInsert] writes. 0 means that rows must be written as text.
func (t *Table) BoundRows() int { return t.bound.rows }

// BoundInsert returns an INSERT to prepare.
func (t *Table) BoundInsert() string { return t.bound.insert }

// BoundParams returns the types of a row's values.
func (t *Table) BoundParams() []link.Param { return t.bound.params }

// Bind appends a row's values.
func (t *Table) Bind(v *link.Values, r Row) error {
	for i := range t.Columns {
		if t.Columns[i].Generated {
			continue
		}
		if err := t.Columns[i].bind(v, r[i]); err != nil {
			return fmt.Errorf("table %s: column %s: %w", t.Name, t.Columns[i].Name, err)
		}
	}
	return nil
}

func (c *Column) unsigned() bool { return c.class == bits || strings.Contains(c.FullType, "unsigned") }

func (c *Column) param() link.Param {
	switch c.class {
	case integer, bits:
		return link.Param{Type: mysql.MYSQL_TYPE_LONGLONG, Unsigned: c.unsigned()}
	case floating:
		return link.Param{Type: mysql.MYSQL_TYPE_DOUBLE}
	case decimal:
		return link.Param{Type: mysql.MYSQL_TYPE_NEWDECIMAL}
	case unknown, year, temporal, text, octets, json, geometry:
	}
	return link.Param{Type: mysql.MYSQL_TYPE_VAR_STRING}
}

// bind appends a value as [Column.AppendLiteral] does.
func (c *Column) bind(v *link.Values, value []byte) error {
	if value == nil {
		v.Null()
		return nil
	}
	var fixed uint64
	var err error
	switch c.class {
	case integer, bits:
		if c.unsigned() {
			fixed, err = strconv.ParseUint(string(value), 10, 64)
		} else {
			var signed int64
			signed, err = strconv.ParseInt(string(value), 10, 64)
			fixed = uint64(signed)
		}
	case floating:
		var f float64
		f, err = strconv.ParseFloat(string(value), 64)
		fixed = math.Float64bits(f)
	case unknown, decimal, year, temporal, text, octets, json, geometry:
		v.Bytes(value)
		return nil
	}
	v.Fixed(fixed)
	return err
}
