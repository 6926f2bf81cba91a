package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"
)

func drawValue(t *rapid.T, typ byte) []byte {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil
	}
	var v []byte
	switch n := layout(typ); n {
	case lengthByte:
		v = make([]byte, rapid.SampledFrom([]int{0, 4, 7, 8, 11, 12}).Draw(t, "time length"))
	case lenEncoded:
		v = make([]byte, rapid.SampledFrom([]int{0, 1, 250, 251, 300, 0x10000}).Draw(t, "length"))
	default:
		v = make([]byte, n)
	}
	for i := range v {
		v[i] = byte(i*31 + len(v))
	}
	return v
}

// Every type with its own layout, and some types that share one.
var typesOfRows = []byte{
	mysql.MYSQL_TYPE_TINY, mysql.MYSQL_TYPE_SHORT, mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_FLOAT, mysql.MYSQL_TYPE_DOUBLE,
	mysql.MYSQL_TYPE_TIMESTAMP, mysql.MYSQL_TYPE_LONGLONG, mysql.MYSQL_TYPE_INT24, mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_TIME,
	mysql.MYSQL_TYPE_DATETIME, mysql.MYSQL_TYPE_YEAR, mysql.MYSQL_TYPE_VARCHAR, mysql.MYSQL_TYPE_BIT, mysql.MYSQL_TYPE_JSON,
	mysql.MYSQL_TYPE_NEWDECIMAL, mysql.MYSQL_TYPE_ENUM, mysql.MYSQL_TYPE_SET, mysql.MYSQL_TYPE_BLOB, mysql.MYSQL_TYPE_VAR_STRING,
	mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_GEOMETRY, mysql.MYSQL_TYPE_VECTOR,
}

func sameValues(a, b [][]byte) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if (a[i] == nil) != (b[i] == nil) || !bytes.Equal(a[i], b[i]) {
			return false
		}
	}
	return true
}

func TestRowsRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		types := rapid.SliceOfN(rapid.SampledFrom(typesOfRows), 1, 20).Draw(t, "types")
		var values [][]byte
		for _, typ := range types {
			values = append(values, drawValue(t, typ))
		}
		text, _ := AppendTextRow(nil, 0, values)
		if got, err := SplitTextRow(nil, text[HeaderSize:], len(types)); err != nil || !sameValues(got, values) {
			t.Fatalf("text row read as %x, %v", got, err)
		}
		binary, _ := AppendBinaryRow(nil, 0, values, types)
		if got, err := SplitBinaryRow(nil, binary[HeaderSize:], types); err != nil || !sameValues(got, values) {
			t.Fatalf("binary row read as %x, %v", got, err)
		}
		if _, err := SplitTextRow(nil, text[HeaderSize:], len(types)-1); !errors.Is(err, ErrMalformed) {
			t.Fatalf("a text row with a value too many: %v", err)
		}
		if got, err := SplitBinaryRow(nil, binary[HeaderSize:len(binary)-1], types); err == nil {
			t.Fatalf("a truncated binary row was read as %x", got)
		}
	})
}

// The client's rows don't contain columns that only the merge needed.
func TestBinaryRowWithFewerColumns(t *testing.T) {
	types := []byte{mysql.MYSQL_TYPE_LONG, mysql.MYSQL_TYPE_STRING, mysql.MYSQL_TYPE_DATE, mysql.MYSQL_TYPE_TINY}
	row, _ := AppendBinaryRow(nil, 5, [][]byte{{1, 0, 0, 0}, nil, {}, {9}}, types)
	if want := "080000050008010000000009"; hex.EncodeToString(row) != want {
		t.Fatalf("whole row %x, want %s", row, want)
	}
	values, err := SplitBinaryRow(nil, row[HeaderSize:], types)
	if err != nil {
		t.Fatal(err)
	}
	row, seq := AppendBinaryRow(nil, 6, values[1:3], types[1:3])
	if want := "03000006000400"; hex.EncodeToString(row) != want || seq != 7 {
		t.Errorf("row of two columns %x, want %s", row, want)
	}
}

func TestSplittingAllocatesNothing(t *testing.T) {
	types := bytes.Repeat([]byte{mysql.MYSQL_TYPE_STRING}, 10)
	values := bytes.SplitAfter([]byte("0123456789"), nil)[:10]
	text, _ := AppendTextRow(nil, 0, values)
	binary, _ := AppendBinaryRow(nil, 0, values, types)
	room := make([][]byte, 0, 10)
	if n := testing.AllocsPerRun(100, func() {
		_, err1 := SplitTextRow(room, text[HeaderSize:], 10)
		_, err2 := SplitBinaryRow(room, binary[HeaderSize:], types)
		if err1 != nil || err2 != nil {
			t.Error(err1, err2)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		bytes    []byte
		signed   int64
		unsigned uint64
	}{
		{[]byte{0xff}, -1, 255},
		{[]byte{0x7f}, 127, 127},
		{[]byte{0x00, 0x80}, -32768, 32768},
		{[]byte{1, 2, 3, 4}, 0x04030201, 0x04030201},
		{[]byte{0xfe, 0xff, 0xff, 0xff}, -2, 0xfffffffe},
		{[]byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}, -1, 1<<64 - 1},
		{nil, 0, 0},
	} {
		if got := Int(c.bytes); got != c.signed {
			t.Errorf("% x is %d, want %d", c.bytes, got, c.signed)
		}
		if got := Uint(c.bytes); got != c.unsigned {
			t.Errorf("% x is %d, want %d", c.bytes, got, c.unsigned)
		}
	}
}
