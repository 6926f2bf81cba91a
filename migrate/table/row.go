package table

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Row holds the values of a row in the order of Table.Columns. nil is NULL.
type Row [][]byte

// Size returns the approximate memory size of the row.
func (r Row) Size() int {
	n := 24 * len(r)
	for _, v := range r {
		n += len(v)
	}
	return n
}

// Key holds the values of a row's key in order.
type Key [][]byte

// KeyOf returns a row's key.
func (t *Table) KeyOf(r Row) Key {
	k := make(Key, len(t.Key.Columns))
	for i, c := range t.Key.Columns {
		k[i] = r[c]
	}
	return k
}

// Encode returns a unique encoding of the key, which DecodeKey reads.
func (k Key) Encode() []byte {
	var b []byte
	for _, v := range k {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	return b
}

// DecodeKey reads a key of n values. It returns nil for empty input.
func DecodeKey(b []byte, n int) (Key, error) {
	if len(b) == 0 {
		return nil, nil
	}
	var k Key
	for len(b) > 0 {
		length, used := binary.Uvarint(b)
		if used <= 0 || length > uint64(len(b)-used) {
			return nil, fmt.Errorf("key % x: a value is cut off", b)
		}
		b = b[used:]
		k = append(k, slices.Clone(b[:length]))
		b = b[length:]
	}
	if len(k) != n {
		return nil, fmt.Errorf("a key of %d values, and the table's has %d", len(k), n)
	}
	return k, nil
}

// Short formats a key for display.
func (k Key) Short() string {
	texts := make([]string, len(k))
	for i, v := range k {
		texts[i] = short(v, nil)
	}
	return strings.Join(texts, "/")
}
