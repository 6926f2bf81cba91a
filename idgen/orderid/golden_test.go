package orderid

import (
	"encoding/hex"
	"testing"

	"locus/idgen/gene"
)

// The parts written as bits side by side and read as one number.
var golden = []struct {
	layout   string
	gene     gene.Gene
	version  uint32
	sequence Sequence
	sql      string // as an unsigned or binary literal
	signed   string // as a BIGINT literal
	bytes    string
}{
	// 0 0011111010101011 00001 0…01
	{"int64", 0x3eab, 1, Seq(1), "2257855923731038209", "2257855923731038209", "1f55840000000001"},
	{"int64", 0, 0, Seq(0), "0", "0", "0000000000000000"},
	{"int64", 0xffff, 31, Seq(1<<42 - 1), "9223372036854775807", "9223372036854775807", "7fffffffffffffff"},
	{"int64-15", 0x5ddf, 33, Seq(123456789), "6764270300992097557", "6764270300992097557", "5ddf8400075bcd15"},
	{"int64-14", 0x1ddf, 127, Seq(123456789), "4305436845843139861", "4305436845843139861", "3bbffc00075bcd15"},
	{"plain64", 0x3eab, 0, Seq(10001), "4515703051369064209", "4515703051369064209", "3eab000000002711"},
	{"plain64", 0xc3fe, 0, Seq(1), "14122725481480454145", "-4324018592229097471", "c3fe000000000001"},
	{"js53", 0xc3fe, 0, Seq(1), "6895862051504129", "6895862051504129", "00187fc000000001"},
	{"js53", 0xffff, 0, Seq(1<<37 - 1), "9007199254740991", "9007199254740991", "001fffffffffffff"},
	{
		"bytes16", 0x7ac3fe, 0x12345,
		Sequence{0xabcde, 0x123456789abcdef0},
		"X'7ac3fe12345abcde123456789abcdef0'", "X'7ac3fe12345abcde123456789abcdef0'", "7ac3fe12345abcde123456789abcdef0",
	},
}

func TestGolden(t *testing.T) {
	for _, v := range golden {
		l := layoutNamed(t, v.layout)
		id, err := l.Compose(v.gene, v.version, v.sequence)
		if err != nil {
			t.Errorf("%s: %v", v.sql, err)
			continue
		}
		if got := string(l.AppendSQL(nil, id)); got != v.sql {
			t.Errorf("%s: SQL %s, want %s", v.layout, got, v.sql)
		}
		if got := string(l.AppendSignedSQL(nil, id)); got != v.signed {
			t.Errorf("%s: signed SQL %s, want %s", v.layout, got, v.signed)
		}
		if got := hex.EncodeToString(l.AppendBytes(nil, id)); got != v.bytes {
			t.Errorf("%s: bytes %s, want %s", v.layout, got, v.bytes)
		}
		if l.Gene(id) != v.gene || l.Version(id) != v.version || l.Sequence(id) != v.sequence {
			t.Errorf("%s: taken apart: %s %d %s", v.sql, l.Gene(id), l.Version(id), l.Sequence(id))
		}
	}
}

func layoutNamed(t testing.TB, name string) Layout {
	t.Helper()
	l, err := ByName(name)
	if err != nil {
		t.Fatal(err)
	}
	return l
}
