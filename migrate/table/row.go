package table

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
)

// Row is the values of a row by the order of Table.Columns; nil is NULL.
type Row [][]byte

// Size is about how much memory the row takes.
func (r Row) Size() int {
	n := 24 * len(r)
	for _, v := range r {
		n += len(v)
	}
	return n
}

// Key is the values of a primary key, in its order.
type Key [][]byte

// KeyOf takes the primary key's values out of a row.
func (t *Table) KeyOf(r Row) Key {
	k := make(Key, len(t.PrimaryKey))
	for i, c := range t.PrimaryKey {
		k[i] = r[c]
	}
	return k
}

// Encode makes bytes of a key that tell it from any other; DecodeKey reads them.
func (k Key) Encode() []byte {
	var b []byte
	for _, v := range k {
		b = binary.AppendUvarint(b, uint64(len(v)))
		b = append(b, v...)
	}
	return b
}

// DecodeKey reads a key of n values; nothing is no key, nil.
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

// Short spells a key for people.
func (k Key) Short() string {
	texts := make([]string, len(k))
	for i, v := range k {
		texts[i] = short(v, nil)
	}
	return strings.Join(texts, "/")
}
