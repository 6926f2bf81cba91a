package catalog

import (
	"fmt"
	"math"
	"strconv"
	"testing"

	"pgregory.net/rapid"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/stmt"
)

// constant is a value as SQL text, with the argument of a prepared statement if it is a placeholder, and as locus reads it.
type constant struct {
	sql   string
	arg   any
	value stmt.Value
}

// understood sets the value that locus reads in the SQL text.
func (c *constant) understood() {
	if c.arg != nil {
		return
	}
	var l stmt.Lexed
	l.Lex([]byte("insert into t values ("+c.sql+")"), 0)
	var a stmt.Args
	a.Reset(&l, nil)
	c.value = a.Cell(l.Cells[0])
}

// reading returns the value of an SQL literal; `?` is a parameter with an unknown value.
func reading(text string) stmt.Value {
	c := constant{sql: text}
	c.understood()
	return c.value
}

func text(s string) stmt.Value { return stmt.Value{Kind: stmt.String, Text: []byte(s)} }

func matched(g gene.Gene, m Match) string {
	switch m {
	case Here:
		return g.String()
	case Nowhere:
		return "nowhere"
	case Anywhere:
	}
	return "anywhere"
}

var (
	bigint        = &Column{Name: "c", DataType: "bigint"}
	unsigned      = &Column{Name: "c", DataType: "bigint", Unsigned: true}
	smallint      = &Column{Name: "c", DataType: "smallint"}
	varchar       = &Column{Name: "c", DataType: "varchar", Length: 10, Charset: "utf8mb4", Collation: "utf8mb4_bin", PadSpace: true}
	varcharNoPad  = &Column{Name: "c", DataType: "varchar", Length: 10, Charset: "utf8mb4", Collation: "utf8mb4_0900_bin"}
	charNoPad     = &Column{Name: "c", DataType: "char", Length: 10, Charset: "utf8mb4", Collation: "utf8mb4_0900_bin"}
	asciiVarchar  = &Column{Name: "c", DataType: "varchar", Length: 10, Charset: "ascii", Collation: "ascii_bin", PadSpace: true}
	utf8mb3       = &Column{Name: "c", DataType: "varchar", Length: 10, Charset: "utf8mb3", Collation: "utf8mb3_bin", PadSpace: true}
	varbinary     = &Column{Name: "c", DataType: "varbinary", Length: 10}
	binary16      = &Column{Name: "c", DataType: "binary", Length: 16}
	owner         = Key{Role: Owner, Column: bigint, width: gene.W16}
	unsignedOwner = Key{Role: Owner, Column: unsigned, width: gene.W16}
	smallOwner    = Key{Role: Owner, Column: smallint, width: gene.W16}
	narrowOwner   = Key{Role: Owner, Column: bigint, width: gene.W14}
	textOwner     = Key{Role: Owner, Column: varchar, width: gene.W16}
	noPadOwner    = Key{Role: Owner, Column: varcharNoPad, width: gene.W16}
	charOwner     = Key{Role: Owner, Column: charNoPad, width: gene.W16}
	asciiOwner    = Key{Role: Owner, Column: asciiVarchar, width: gene.W16}
	mb3Owner      = Key{Role: Owner, Column: utf8mb3, width: gene.W16}
	byteOwner     = Key{Role: Owner, Column: varbinary, width: gene.W16}
	id            = Key{Role: ID, Column: bigint, Layout: layoutNamed("int64"), width: gene.W16}
	narrowID      = Key{Role: ID, Column: bigint, Layout: layoutNamed("int64"), width: gene.W14}
	plainID       = Key{Role: ID, Column: bigint, Layout: layoutNamed("plain64"), width: gene.W16}
	plainUnsigned = Key{Role: ID, Column: unsigned, Layout: layoutNamed("plain64"), width: gene.W16}
	shortID       = Key{Role: Parent, Column: bigint, Layout: layoutNamed("js53"), width: gene.W16}
	wideID        = Key{Role: ID, Column: binary16, Layout: layoutNamed("bytes16"), width: gene.W16}
	bareGene      = Key{Role: Gene, Column: &Column{Name: "c", DataType: "int", Unsigned: true}, width: gene.W16}
)

// idOf is an int64 ID of gene 0x3eab.
const idOf = 0x3eab<<47 | 12345

func TestOf(t *testing.T) {
	for _, c := range []struct {
		key   *Key
		value stmt.Value
		want  string
	}{
		// The reference genes of the specification, in all forms of the value.
		{&owner, reading("42"), "0x3eab"},
		{&owner, reading("0042"), "0x3eab"},
		{&owner, reading("'42'"), "0x3eab"},
		{&owner, reading("42.0"), "0x3eab"},
		{&owner, reading("42e0"), "0x3eab"},
		{&owner, stmt.FloatValue(42), "0x3eab"},
		{&owner, text("42"), "0x3eab"},
		{&owner, reading("-1"), "0x2bba"},
		{&owner, reading("'-1'"), "0x2bba"},
		{&owner, reading("-1.0"), "0x2bba"},
		{&owner, stmt.FloatValue(-1), "0x2bba"},
		{&narrowOwner, reading("10001"), "0x03fe"},
		{&smallOwner, reading("42"), "0x3eab"},
		{&unsignedOwner, reading("42"), "0x3eab"},
		// Values that a server converts, or may find equal to other values too.
		{&owner, reading("' 42'"), "anywhere"},
		{&owner, reading("'42abc'"), "anywhere"},
		{&owner, reading("'042'"), "anywhere"},
		{&owner, reading("''"), "anywhere"},
		{&owner, reading("42.5"), "anywhere"},
		{&owner, reading("42.5e0"), "anywhere"},
		{&owner, reading("0x2A"), "anywhere"},
		{&owner, reading("b'101'"), "anywhere"},
		{&owner, reading("now()"), "anywhere"},
		{&owner, stmt.Value{Kind: stmt.Temporal}, "anywhere"},
		{&owner, stmt.FloatValue(math.NaN()), "anywhere"},
		{&owner, stmt.FloatValue(math.Inf(-1)), "anywhere"},
		{&owner, reading("null"), "nowhere"},
		// Doubles and integers are equal below 2^53 only.
		{&owner, reading("'9007199254740991'"), gene.OfInt(1<<53-1, gene.W16).String()},
		{&owner, reading("'9007199254740993'"), gene.OfInt(1<<53+1, gene.W16).String()}, // a single value is converted to the column's type
		{&owner, reading("9007199254740993"), gene.OfInt(1<<53+1, gene.W16).String()},
		{&owner, reading("9007199254740993.0"), gene.OfInt(1<<53+1, gene.W16).String()},
		{&owner, reading("9007199254740992e0"), "anywhere"},
		{&owner, reading("'9223372036854775808'"), "anywhere"}, // the double next to 2^63-1
		// Values out of the column's range. In lists of mixed types, MySQL ignores the sign.
		{&owner, reading("18446744073709551615"), "0x2bba"},
		{&unsignedOwner, reading("-1"), "0x2bba"},
		{&unsignedOwner, reading("-1.0"), "0x2bba"},
		{&unsignedOwner, reading("18446744073709551615"), "0x2bba"},
		{&unsignedOwner, reading("18446744073709551615.0"), "anywhere"},
		{&owner, reading("18446744073709551616"), "anywhere"},
		{&smallOwner, reading("32768"), "nowhere"},
		{&smallOwner, reading("'32768'"), "nowhere"},
		{&smallOwner, reading("'9007199254740993'"), "anywhere"},
		{&smallOwner, reading("18446744073709551615"), "0x2bba"},
		{&smallOwner, reading("18446744073709518847"), "nowhere"},

		// Text is hashed as the column compares it.
		{&textOwner, text("42"), "0x0dd5"},
		{&textOwner, text("alice"), "0x35e3"},
		{&textOwner, text("alice  "), "0x35e3"},
		{&textOwner, text("买家-7"), "0x1498"},
		{&textOwner, text("Alice"), gene.OfBytes([]byte("Alice"), gene.W16).String()},
		{&noPadOwner, text("alice  "), gene.OfBytes([]byte("alice  "), gene.W16).String()},
		{&byteOwner, text("alice "), gene.OfBytes([]byte("alice "), gene.W16).String()},
		{&byteOwner, reading("X'616c696365'"), "0x35e3"},
		{&textOwner, reading("42"), "anywhere"}, // '42', '042', '42.0', …
		{&textOwner, reading("42.0"), "anywhere"},
		{&textOwner, stmt.FloatValue(42), "anywhere"},
		{&textOwner, reading("X'616c696365'"), "anywhere"},
		{&textOwner, text("\xff"), "anywhere"},
		{&textOwner, reading("null"), "nowhere"},

		// IDs carry their gene in the top bits.
		{&id, reading(strconv.Itoa(idOf)), "0x3eab"},
		{&id, reading(fmt.Sprintf("'%d'", idOf)), "0x3eab"},
		{&id, stmt.FloatValue(idOf), "0x3eab"}, // rounded, as JavaScript drivers do
		{&narrowID, reading(strconv.Itoa(0x7eab << 47)), "0x3eab"},
		{&id, reading(fmt.Sprintf("'%d'", 0x3eab<<47)), "0x3eab"},
		{&id, stmt.FloatValue(0x3eab << 47), "anywhere"}, // an ID of the previous gene may be rounded to this value
		{&id, reading(strconv.Itoa(0x3eab << 47)), "0x3eab"},
		{&id, reading("-5"), "nowhere"},
		{&id, reading("'-5'"), "nowhere"},
		{&id, reading("18446744073709551615"), "nowhere"},
		{&shortID, reading(strconv.Itoa(0x3eab<<37 + 5)), "0x3eab"},
		{&shortID, reading(strconv.Itoa(1 << 53)), "nowhere"},
		{&plainID, reading("-4611686018427387904"), "0xc000"},
		{&plainID, reading("13835058055282163712"), "0xc000"}, // the same 64 bits
		{&plainUnsigned, reading("13835058055282163712"), "0xc000"},
		{&plainUnsigned, reading("-4611686018427387904"), "0xc000"},
		{&plainID, reading("'-4611686018427387904'"), "0xc000"},
		{&plainID, stmt.FloatValue(-4611686018427387904), "anywhere"}, // the boundary of 0xbfff.. and 0xc000..
		{&plainID, stmt.FloatValue(-4611686018427000000), "0xc000"},
		{&plainID, reading("'13835058055282550000'"), "anywhere"}, // out of range
		{&plainUnsigned, reading("'13835058055282550000'"), "0xc000"},
		{&wideID, reading("X'003EAB00000000000000000000000001'"), "0x3eab"},
		{&wideID, text("\x00\x3e\xab\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x01"), "0x3eab"},
		{&wideID, reading("X'803EAB00000000000000000000000001'"), "nowhere"}, // the top bit is 0
		{&wideID, reading("X'1F55'"), "nowhere"},
		{&wideID, reading("5"), "anywhere"},

		{&bareGene, reading("16043"), "0x3eab"},
		{&bareGene, reading("'16043'"), "0x3eab"},
		{&bareGene, reading("65536"), "nowhere"},
		{&bareGene, reading("-1"), "nowhere"},
	} {
		if got := matched(c.key.Of(c.value)); got != c.want {
			t.Errorf("%s %s of %s (kind %d): %s, want %s", c.key.Role, c.key.Column.SQLType(), c.value, c.value.Kind, got, c.want)
		}
	}
}

func TestOfListed(t *testing.T) {
	for _, c := range []struct {
		key   *Key
		value stmt.Value
		want  string
	}{
		{&owner, text("42"), "0x3eab"},
		{&owner, text("9007199254740992"), "anywhere"},
		{&owner, text("-9007199254740992"), "anywhere"},
		{&owner, reading("9007199254740993"), gene.OfInt(1<<53+1, gene.W16).String()},
		{&id, text(strconv.Itoa(idOf)), "0x3eab"},
		{&id, text(strconv.Itoa(0x3eab << 47)), "anywhere"}, // the double may be an ID of the previous gene
		{&id, text(strconv.Itoa(0x3eac<<47 - 1)), "anywhere"},
		{&plainID, text("-4611686018427387904"), "anywhere"},
		{&textOwner, text("alice"), "0x35e3"},
	} {
		if got := matched(c.key.OfListed(c.value)); got != c.want {
			t.Errorf("%s %s of %s: %s, want %s", c.key.Role, c.key.Column.SQLType(), c.value, got, c.want)
		}
	}
}

func TestOfInRows(t *testing.T) {
	for _, c := range []struct {
		key   *Key
		value stmt.Value
		want  string
	}{
		{&owner, reading("42"), "0x3eab"},
		{&owner, reading("9007199254740992"), "anywhere"},
		{&owner, reading("9007199254740993.0"), "anywhere"},
		{&id, reading(strconv.Itoa(idOf)), "0x3eab"},
		{&id, reading(strconv.Itoa(0x3eab << 47)), "anywhere"},
		{&plainUnsigned, reading("13835058055282550000"), "0xc000"},
		{&plainUnsigned, reading("13835058055282550000.0"), "anywhere"},
		{&textOwner, text("alice"), "0x35e3"},
		{&owner, reading("null"), "nowhere"},
	} {
		if got := matched(c.key.OfInRows(c.value)); got != c.want {
			t.Errorf("%s %s of %s: %s, want %s", c.key.Role, c.key.Column.SQLType(), c.value, got, c.want)
		}
	}
}

func TestOfAllocatesNothing(t *testing.T) {
	for _, c := range []struct {
		key   *Key
		value stmt.Value
	}{{&owner, stmt.IntValue(42)}, {&owner, text("42")}, {&textOwner, text("alice ")}, {&id, stmt.IntValue(idOf)}, {&wideID, text("0123456789abcdef")}} {
		if n := testing.AllocsPerRun(100, func() { c.key.Of(c.value) }); n != 0 {
			t.Errorf("%s of %s: %v allocations", c.key.Role, c.value, n)
		}
	}
}

func TestStored(t *testing.T) {
	for _, c := range []struct {
		key   *Key
		value stmt.Value
		want  string
	}{
		{&owner, reading("42"), "0x3eab"},
		{&owner, reading("'42'"), "0x3eab"},
		{&owner, reading("42.0"), "0x3eab"},
		{&owner, stmt.FloatValue(42), "0x3eab"},
		{&owner, reading("0"), "0xd870"},
		{&owner, reading("9007199254740993"), gene.OfInt(1<<53+1, gene.W16).String()},
		{&owner, reading("42.5"), "is no plain integer (42.5)"},
		{&owner, stmt.FloatValue(1 << 53), "is no plain integer (9.007199254740992e+15)"},
		{&owner, reading("'42abc'"), "is no plain integer ('42abc')"},
		{&owner, reading("' 42'"), "is no plain integer (' 42')"},
		{&owner, reading("0x2A"), "is no plain integer (0x2A)"},
		{&owner, reading("null"), "is NULL"},
		{&owner, reading("default"), "is NULL"},
		{&owner, reading("now()"), "is an expression that only a server can compute; give a value"},
		{&owner, reading("18446744073709551615"), "is out of the column's range"},
		{&unsignedOwner, reading("-1"), "is out of the column's range"},
		{&smallOwner, reading("32768"), "is out of the column's range"},
		{&textOwner, text("alice"), "0x35e3"},
		{&textOwner, text("alice   "), "0x35e3"},
		{&noPadOwner, text("alice "), gene.OfBytes([]byte("alice "), gene.W16).String()},
		{&charOwner, text("alice "), "0x35e3"}, // CHAR returns it without the space
		{&byteOwner, reading("X'616c696365'"), "0x35e3"},
		{&textOwner, reading("42"), gene.OfBytes([]byte("42"), gene.W16).String()},
		{&textOwner, reading("4.20"), gene.OfBytes([]byte("4.20"), gene.W16).String()},
		{&textOwner, reading("4e2"), "is a number for a varchar column; quote it"},
		{&textOwner, text("12345678901"), "is longer than the column's 10 characters"},
		{&textOwner, text("买家买家买家买家买家"), gene.OfBytes([]byte("买家买家买家买家买家"), gene.W16).String()},
		{&byteOwner, text("买家买家"), "is longer than the column's 10 characters"},
		{&textOwner, text("a\xff"), "is not text in utf8mb4"},
		{&byteOwner, text("a\xff"), gene.OfBytes([]byte("a\xff"), gene.W16).String()},
		{&asciiOwner, text("é"), "has the character 'é', which character set ascii does not have"},
		{&mb3Owner, text("a😀"), "has the character '😀', which character set utf8mb3 does not have"},
		{&id, reading(strconv.Itoa(idOf)), "0x3eab"},
		{&id, reading("-5"), "is not an ID of layout int64"},
		{&plainID, reading("-4611686018427387904"), "0xc000"},
		{&plainID, reading("13835058055282163712"), "is out of the column's range"},
		{&wideID, reading("X'003EAB00000000000000000000000001'"), "0x3eab"},
		{&wideID, reading("X'1F55'"), "2 bytes are not an ID of layout bytes16, which has 16"},
		{&bareGene, reading("16043"), "0x3eab"},
		{&bareGene, reading("65536"), "is no gene of 16 bits"},
		{&bareGene, reading("-1"), "is out of the column's range"},
	} {
		g, err := c.key.Stored(c.value)
		got := g.String()
		if err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%s %s of %s: %s, want %s", c.key.Role, c.key.Column.SQLType(), c.value, got, c.want)
		}
	}
	if g, err := owner.StoredAs(stmt.IntValue(42), gene.W23); err != nil || g != 0x033eab {
		t.Errorf("the gene of 23 bits is %s (%v)", g, err)
	}
}

func TestBetween(t *testing.T) {
	null := stmt.Value{Kind: stmt.Null}
	for _, c := range []struct {
		key       *Key
		low, high stmt.Value
		want      string
	}{
		{&id, reading(strconv.Itoa(idOf)), reading(strconv.Itoa(idOf + 1<<47)), "0x3eab-0x3eac"},
		{&id, reading(strconv.Itoa(idOf)), null, "0x3eab-0xffff"},
		{&id, null, reading(strconv.Itoa(idOf)), "0x0000-0x3eab"},
		{&id, reading("-5"), reading("5"), "0x0000"},
		{&id, reading("5"), reading("-5"), "anywhere"},
		{&id, reading(strconv.Itoa(idOf + 1<<47)), reading(strconv.Itoa(idOf)), "empty"},
		{&id, reading("'5'"), reading("6"), "anywhere"},
		{&id, reading("5"), reading("18446744073709551615"), "anywhere"},
		{&shortID, reading(strconv.Itoa(5 << 37)), reading(strconv.Itoa(1 << 60)), "0x0005-0xffff"},
		{&shortID, reading(strconv.Itoa(1 << 60)), null, "anywhere"},
		{&plainID, reading("5"), reading("6"), "anywhere"},
		{&narrowID, reading("5"), reading("6"), "anywhere"},
		{&owner, reading("5"), reading("6"), "anywhere"},
		{&wideID, reading("5"), reading("6"), "anywhere"},
		{&bareGene, reading("5"), reading("6"), "anywhere"},
	} {
		r, ok := c.key.Between(c.low, c.high)
		got := "anywhere"
		if ok {
			got = r.String()
		}
		if ok && r.Len() == 0 {
			got = "empty"
		}
		if got != c.want {
			t.Errorf("%s %s between %s and %s: %s, want %s", c.key.Role, c.key.Layout, c.low, c.high, got, c.want)
		}
	}
}

// TestBetweenHoldsAll checks that no ID within the bounds has a gene outside of the range.
func TestBetweenHoldsAll(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.SampledFrom([]*Key{&id, &shortID}).Draw(t, "key")
		low, high := rapid.Int64().Draw(t, "low"), rapid.Int64().Draw(t, "high")
		genes, ok := key.Between(stmt.IntValue(low), stmt.IntValue(high))
		if !ok || low > high {
			return
		}
		for _, n := range []int64{low, high, low + 1, high - 1, rapid.Int64Range(low, high).Draw(t, "id")} {
			if g, match := key.Of(stmt.IntValue(n)); match == Here && low <= n && n <= high && !genes.Contains(g) {
				t.Fatalf("%d of gene %s is between %d and %d, which gives %s", n, g, low, high, genes)
			}
		}
	})
}

func TestDomains(t *testing.T) {
	for _, c := range []struct {
		a, b *Key
		same bool
	}{
		{&owner, &unsignedOwner, true},
		{&owner, &smallOwner, true},
		{&owner, &textOwner, false},
		{&textOwner, &noPadOwner, false},
		{&textOwner, &asciiOwner, false},
		{&owner, &id, false},
		{&id, &plainID, false},
		{&id, &shortID, false},
		{&bareGene, &owner, false},
		{&id, &Key{Role: Parent, Column: bigint, Layout: layoutNamed("int64"), width: gene.W16}, true},
	} {
		if got := c.a.Domain() == c.b.Domain(); got != c.same {
			t.Errorf("%s and %s: comparable %v", c.a.Domain(), c.b.Domain(), got)
		}
	}
}

func layoutNamed(name string) orderid.Layout {
	l, err := orderid.ByName(name)
	if err != nil {
		panic(err)
	}
	return l
}
