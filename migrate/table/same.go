package table

import (
	"bytes"
	stdjson "encoding/json"
	"io"
	"strconv"
	"strings"
)

// Same reports whether two rows are equal, as values of their columns' types. A log writes some values in another form than a server's
// answer. Values computed from equal values are equal, and may be known for only one of the rows.
func (t *Table) Same(a, b Row) bool { return t.sameExcept(a, b, t.Computes) }

// SameBesideLoop is Same without the columns that a cascade from the table to itself changes.
func (t *Table) SameBesideLoop(a, b Row) bool {
	return t.sameExcept(a, b, func(column int) bool { return t.Computes(column) || t.loops(column) })
}

// sameExcept reports whether two rows are equal in all columns that are not ignored.
func (t *Table) sameExcept(a, b Row, ignored func(column int) bool) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !t.Columns[i].same(a[i], b[i]) && !ignored(i) {
			return false
		}
	}
	return true
}

// same reports whether two values of the column are equal.
func (c *Column) same(a, b []byte) bool {
	switch {
	case (a == nil) != (b == nil):
		return false
	case bytes.Equal(a, b):
		return true
	}
	switch c.class {
	case integer, decimal, year:
		return bytes.Equal(plainNumber(a), plainNumber(b))
	case floating:
		x, errX := strconv.ParseFloat(string(a), 64)
		y, errY := strconv.ParseFloat(string(b), 64)
		return errX == nil && errY == nil && x == y
	case temporal:
		return bytes.Equal(plainTime(a), plainTime(b))
	case json:
		return sameJSON(a, b)
	case unknown, bits, text, octets, geometry:
	}
	return false
}

// plainNumber removes the zeros that ZEROFILL and a DECIMAL's scale add, and the sign of zero.
func plainNumber(v []byte) []byte {
	digits, negative := bytes.CutPrefix(v, []byte("-"))
	digits = bytes.TrimLeft(digits, "0")
	if bytes.IndexByte(digits, '.') >= 0 {
		digits = bytes.TrimSuffix(bytes.TrimRight(digits, "0"), []byte("."))
	}
	if len(digits) == 0 || !negative {
		return digits
	}
	return append([]byte("-"), digits...)
}

// plainTime removes a fraction of zeros, and zeros after a fraction.
func plainTime(v []byte) []byte {
	if bytes.IndexByte(v, '.') < 0 {
		return v
	}
	return bytes.TrimSuffix(bytes.TrimRight(v, "0"), []byte("."))
}

// sameJSON reports whether MySQL takes two JSON texts for equal. A log writes members in another order, and numbers in another form.
func sameJSON(a, b []byte) bool {
	x, okX := parseJSON(a)
	y, okY := parseJSON(b)
	return okX && okY && equalJSON(x, y)
}

func parseJSON(text []byte) (v any, ok bool) {
	d := stdjson.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		return nil, false
	}
	_, err := d.Token()
	return v, err == io.EOF
}

func equalJSON(a, b any) bool {
	switch x := a.(type) {
	case map[string]any:
		y, ok := b.(map[string]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for name, value := range x {
			if other, has := y[name]; !has || !equalJSON(value, other) {
				return false
			}
		}
		return true
	case []any:
		y, ok := b.([]any)
		if !ok || len(x) != len(y) {
			return false
		}
		for i := range x {
			if !equalJSON(x[i], y[i]) {
				return false
			}
		}
		return true
	case stdjson.Number:
		y, ok := b.(stdjson.Number)
		return ok && equalNumbers(string(x), string(y))
	}
	return a == b
}

// equalNumbers compares integers by their digits, since a DOUBLE doesn't hold all of them.
func equalNumbers(a, b string) bool {
	if a == b {
		return true
	}
	if whole(a) && whole(b) && len(a) < digitsOfBig && len(b) < digitsOfBig {
		return false
	}
	x, errX := strconv.ParseFloat(a, 64)
	y, errY := strconv.ParseFloat(b, 64)
	return errX == nil && errY == nil && x == y
}

// digitsOfBig is more than the length of any integer of MySQL's JSON; such a number is a DOUBLE.
const digitsOfBig = 21

func whole(number string) bool { return !strings.ContainsAny(number, ".eE") }
