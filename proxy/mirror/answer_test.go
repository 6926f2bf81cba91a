package mirror

import (
	"math/rand/v2"
	"testing"

	"github.com/go-mysql-org/go-mysql/mysql"
	"pgregory.net/rapid"

	"locus/proxy/wire"
)

// packets returns a server's answer with one text column, and one row for each value.
func packets(column wire.Column, rows ...string) (out []byte) {
	seq := byte(1)
	out, seq = wire.AppendPacket(out, seq, []byte{1})
	out, seq = wire.AppendColumn(out, seq, column)
	eof := []byte{mysql.EOF_HEADER, 0, 0, 2, 0}
	out, seq = wire.AppendPacket(out, seq, eof)
	for _, r := range rows {
		out, seq = wire.AppendPacket(out, seq, wire.AppendLenBytes(nil, []byte(r)))
	}
	out, _ = wire.AppendPacket(out, seq, eof)
	return out
}

var amount = wire.Column{Name: []byte("amount"), Charset: 45, Type: mysql.MYSQL_TYPE_VAR_STRING}

// read passes an answer to a Reader in pieces whose lengths cut returns.
func read(t testing.TB, b []byte, cut func(left int) int) Answer {
	var r Reader
	r.Begin()
	for len(b) > 0 {
		n := cut(len(b))
		r.Saw(b[:n])
		b = b[n:]
	}
	a, whole := r.Answer()
	if !whole {
		t.Fatal("it was not read to its end")
	}
	a.Took = 0
	return a
}

func whole(left int) int { return left }

// TestAnyOrderIsTheSameSet: neither the order of the rows nor the places where the bytes are split change the hash of the set.
func TestAnyOrderIsTheSameSet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.StringN(0, 300, 300), 0, 40).Draw(rt, "rows")
		shuffled := rapid.Permutation(rows).Draw(rt, "shuffled")
		one := read(t, packets(amount, rows...), whole)
		other := read(t, packets(amount, shuffled...), func(left int) int { return rapid.IntRange(1, left).Draw(rt, "cut") })
		if one.Rows != uint64(len(rows)) || one.Rows != other.Rows || one.Set != other.Set || one.Columns != other.Columns {
			rt.Fatalf("%+v and %+v", one, other)
		}
		in := read(t, packets(amount, rows...), func(int) int { return 1 })
		if in != one {
			rt.Fatalf("%+v byte by byte, and %+v at once", in, one)
		}
	})
}

// TestOneByteIsAnotherSet: a changed byte changes the hash of the set, and so do two more copies of a row.
func TestOneByteIsAnotherSet(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rows := rapid.SliceOfN(rapid.StringN(1, 100, 100), 1, 20).Draw(rt, "rows")
		before := read(t, packets(amount, rows...), whole)
		i := rapid.IntRange(0, len(rows)-1).Draw(rt, "row")
		changed := append([]string(nil), rows...)
		b := []byte(changed[i])
		b[rapid.IntRange(0, len(b)-1).Draw(rt, "byte")] ^= byte(1 << rapid.IntRange(0, 7).Draw(rt, "bit"))
		changed[i] = string(b)
		if after := read(t, packets(amount, changed...), whole); after.Set == before.Set {
			rt.Fatalf("%q and %q", rows, changed)
		}
		doubled := read(t, packets(amount, append(rows, rows[i], rows[i])...), whole)
		if doubled.Set == before.Set {
			rt.Fatalf("%q is there three times", rows[i])
		}
	})
}

// TestOrder: rows in another order have another Order.
func TestOrder(t *testing.T) {
	a, b := read(t, packets(amount, "1", "2", "3"), whole), read(t, packets(amount, "1", "3", "2"), whole)
	if a.Set != b.Set || a.Order == b.Order {
		t.Errorf("%+v and %+v", a, b)
	}
}

// TestColumns: the hash of the columns depends on name, type, character set and sign, and not on their table or length.
func TestColumns(t *testing.T) {
	same := func(c wire.Column) bool {
		return read(t, packets(c, "1"), whole).Columns == read(t, packets(amount, "1"), whole).Columns
	}
	longer := amount
	longer.Length, longer.Schema, longer.Flags = 4711, []byte("shop"), mysql.NOT_NULL_FLAG
	named, typed, unsigned := amount, amount, amount
	named.Name, typed.Type, unsigned.Flags = []byte("total"), mysql.MYSQL_TYPE_LONG, mysql.UNSIGNED_FLAG
	if !same(longer) || same(named) || same(typed) || same(unsigned) {
		t.Error(same(longer), same(named), same(typed), same(unsigned))
	}
}

// TestNoAnswer: an answer that has no rows, has an error after rows, is incomplete, or is too long, can't be compared.
func TestNoAnswer(t *testing.T) {
	refusal, _ := wire.AppendERR(nil, 1, &mysql.MyError{Code: 1146, State: "42S02", Message: "no such table"}, mysql.CLIENT_PROTOCOL_41)
	ok, _ := wire.AppendOK(nil, 1, wire.OK{}, mysql.CLIENT_PROTOCOL_41)
	long := packets(amount, string(make([]byte, 70_000)), string(make([]byte, 1<<20)))
	amid := packets(amount, "1")
	amid = append(amid[:len(amid)-9], refusal...)
	for name, b := range map[string][]byte{"an error": refusal, "an OK": ok, "too long": long, "an error amid rows": amid, "half": packets(amount, "1")[:30]} {
		var r Reader
		r.Begin()
		for len(b) > 0 {
			n := 1 + rand.IntN(len(b))
			r.Saw(b[:n])
			b = b[n:]
		}
		if _, whole := r.Answer(); whole || r.Long() != (name == "too long") {
			t.Errorf("%s: %v, long: %v", name, whole, r.Long())
		}
		r.Begin() // another answer
		r.Saw(packets(amount, "1"))
		if a, whole := r.Answer(); !whole || a.Rows != 1 {
			t.Errorf("after %s: %+v", name, a)
		}
	}
}
