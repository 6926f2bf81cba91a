package table

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sum returns a hash that is distinct for rows that differ in any byte, barring a collision of SHA-256. It is empty for
// no row.
func (r Row) Sum() string {
	if r == nil {
		return ""
	}
	h := sha256.New()
	var length [8]byte
	for _, v := range r {
		n := uint64(len(v)) + 1
		if v == nil {
			n = 0
		}
		binary.BigEndian.PutUint64(length[:], n)
		_, _ = h.Write(length[:]) // never fails
		_, _ = h.Write(v)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Differing returns the indexes of the values that differ between two rows.
func Differing(a, b Row) []int {
	var at []int
	for i := range min(len(a), len(b)) {
		if (a[i] == nil) != (b[i] == nil) || !bytes.Equal(a[i], b[i]) {
			at = append(at, i)
		}
	}
	return at
}

// Lengths of the displayed text of a row and of a value.
const (
	shortRow   = 300
	shortValue = 40
)

// Short describes, for display, how a row differs from another with the same key: the values that differ, or all values
// if other is nil.
func (t *Table) Short(r, other Row) string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	which := Differing(r, other)
	if other == nil {
		for i := range r {
			which = append(which, i)
		}
	}
	for n, i := range which {
		if n > 0 {
			b.WriteString(" ")
		}
		if b.Len() > shortRow {
			b.WriteString("…")
			break
		}
		var beside []byte
		if other != nil {
			beside = other[i]
		}
		b.WriteString(t.Columns[i].Name + "=" + short(r[i], beside))
	}
	return b.String()
}

// short returns a value, from shortly before where it begins to differ from another one.
func short(v, other []byte) string {
	if v == nil {
		return "NULL"
	}
	from := 0
	if len(v) > shortValue {
		for from < len(v) && from < len(other) && v[from] == other[from] {
			from++
		}
		if from = max(0, min(from, len(v))-shortValue/4); from < shortValue/2 {
			from = 0
		}
	}
	to := min(len(v), from+shortValue)
	for ; to < len(v) && to > from && !utf8.RuneStart(v[to]); to-- {
	}
	text := fmt.Sprintf("%q", v[from:to])
	switch {
	case from > 0:
		return fmt.Sprintf("…%s (from byte %d of %d)", text, from, len(v))
	case to < len(v):
		return fmt.Sprintf("%s… (%d bytes)", text, len(v))
	}
	return text
}
