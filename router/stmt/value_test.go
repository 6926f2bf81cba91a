package stmt

import (
	"math"
	"strings"
	"testing"
)

func readingOf(text string, mode Mode) Value {
	l := lexed("select "+text, mode)
	var a Args
	a.Reset(l, nil)
	return a.Value(0)
}

func TestLiterals(t *testing.T) {
	for _, c := range []struct {
		text string
		mode Mode
		want Value
	}{
		{"42", 0, IntValue(42)},
		{"0042", 0, IntValue(42)},
		{"000", 0, IntValue(0)},
		{"9223372036854775807", 0, IntValue(math.MaxInt64)},
		{"9223372036854775808", 0, UintValue(1 << 63)},
		{"18446744073709551615", 0, UintValue(math.MaxUint64)},
		{"18446744073709551616", 0, Value{Kind: Decimal, Text: []byte("18446744073709551616")}},
		{"1.50", 0, Value{Kind: Decimal, Text: []byte("1.50")}},
		{".5", 0, Value{Kind: Decimal, Text: []byte(".5")}},
		{"1.5e3", 0, FloatValue(1500)},
		{"1e999", 0, Value{}},
		{"'abc'", 0, Value{Kind: String, Text: []byte("abc")}},
		{"''", 0, Value{Kind: String, Text: []byte("")}},
		{"'it''s'", 0, Value{Kind: String, Text: []byte("it's")}},
		{`"say ""x"" 'y'"`, 0, Value{Kind: String, Text: []byte(`say "x" 'y'`)}},
		{`'\0\b\n\r\t\Z\\\'\"\a\%\_'`, 0, Value{Kind: String, Text: []byte("\x00\b\n\r\t\x1a\\'\"a\\%\\_")}},
		{`'a\n'`, NoBackslash, Value{Kind: String, Text: []byte(`a\n`)}},
		{"0x4D", 0, Value{Kind: Bytes, Text: []byte("M")}},
		{"0x44D", 0, Value{Kind: Bytes, Text: []byte("\x04M")}},
		{"X'4d4E'", 0, Value{Kind: Bytes, Text: []byte("MN")}},
		{"x''", 0, Value{Kind: Bytes, Text: []byte("")}},
		{"x'4'", 0, Value{}},
		{`_binary'a\0\\\''`, 0, Value{Kind: Bytes, Text: []byte("a\x00\\'")}},
		{"_binary '\xff\\'", NoBackslash, Value{Kind: Bytes, Text: []byte("\xff\\")}},
		{"_BINARY X'ff00'", 0, Value{Kind: Bytes, Text: []byte("\xff\x00")}},
		{"_binary X'f'", 0, Value{}},
		{"_utf8mb4'買😀'", 0, Value{Kind: String, Text: []byte("買😀")}},
		{"_utf8mb4 X'c3a9'", 0, Value{Kind: String, Text: []byte("é")}},
		{"N'買'", 0, Value{Kind: String, Text: []byte("買")}},
		{"_utf8'😀'", 0, Value{}},
		{"_latin1'a b'", 0, Value{Kind: String, Text: []byte("a b")}},
		{"_latin1'\xe9'", 0, Value{}},
		{"_ascii'a'", 0, Value{Kind: String, Text: []byte("a")}},
		{"x'zz'", 0, Value{}},
		{"b'101'", 0, Value{}},
		{"?", 0, Value{}},
	} {
		got := readingOf(c.text, c.mode)
		if got.Kind != c.want.Kind || got.Int != c.want.Int || got.Uint != c.want.Uint || got.Float != c.want.Float || string(got.Text) != string(c.want.Text) {
			t.Errorf("%s: %d %s, want %d %s", c.text, got.Kind, got, c.want.Kind, c.want)
		}
	}
}

func TestIntegers(t *testing.T) {
	for _, c := range []struct {
		v    Value
		want string
	}{
		{IntValue(-5), "-5"},
		{UintValue(1 << 63), "9223372036854775808"},
		{FloatValue(42), "42"},
		{FloatValue(-42), "-42"},
		{FloatValue(42.5), ""},
		{FloatValue(math.Copysign(0, -1)), "0"},
		{FloatValue(1<<53 - 1), "9007199254740991"},
		{FloatValue(1 << 53), ""},
		{FloatValue(-1 << 53), ""},
		{FloatValue(math.Inf(1)), ""},
		{FloatValue(math.NaN()), ""},
		{Value{Kind: Decimal, Text: []byte("42.000")}, "42"},
		{Value{Kind: Decimal, Text: []byte("-42.0")}, "-42"},
		{Value{Kind: Decimal, Text: []byte("42")}, "42"},
		{Value{Kind: Decimal, Text: []byte("42.5")}, ""},
		{Value{Kind: Decimal, Text: []byte("042.0")}, ""},
		{Value{Kind: String, Text: []byte("42")}, "42"},
		{Value{Kind: String, Text: []byte("-42")}, "-42"},
		{Value{Kind: String, Text: []byte("0")}, "0"},
		{Value{Kind: String, Text: []byte("-0")}, ""},
		{Value{Kind: String, Text: []byte("+42")}, ""},
		{Value{Kind: String, Text: []byte(" 42")}, ""},
		{Value{Kind: String, Text: []byte("42 ")}, ""},
		{Value{Kind: String, Text: []byte("042")}, ""},
		{Value{Kind: String, Text: []byte("42.0")}, ""},
		{Value{Kind: String, Text: []byte("4e1")}, ""},
		{Value{Kind: String, Text: []byte("")}, ""},
		{Value{Kind: String, Text: []byte("-")}, ""},
		{Value{Kind: String, Text: []byte("18446744073709551615")}, "18446744073709551615"},
		{Value{Kind: String, Text: []byte("18446744073709551616")}, ""},
		{Value{Kind: String, Text: []byte("-9223372036854775808")}, "-9223372036854775808"},
		{Value{Kind: String, Text: []byte("-9223372036854775809")}, ""},
		{Value{Kind: Bytes, Text: []byte("42")}, ""},
		{Value{Kind: Null}, ""},
		{Value{}, ""},
	} {
		got, ok := c.v.Integer()
		text := ""
		if ok {
			text = got.String()
		}
		if text != c.want {
			t.Errorf("%s of kind %d: %q, want %q", c.v, c.v.Kind, text, c.want)
		}
	}
}

func TestNegative(t *testing.T) {
	for text, want := range map[string]string{
		"-5": "-5", "-9223372036854775808": "-9223372036854775808", "-9223372036854775809": "an expression", "-1.5": "-1.5", "-.5": "-.5", "-2e3": "-2000",
		"-'5'": "an expression", "-0x41": "an expression", "-0": "0", "null": "NULL", "Default": "DEFAULT",
		"/* a */ default -- 'b\n": "DEFAULT", "NULL/**/": "NULL", "# x\n\tnull --\n": "NULL", "null /* a */ + 1": "an expression", "null -1": "an expression", "'null' /* x */": "'null'", "TRUE": "1", "false": "0", "now()": "an expression",
	} {
		l := lexed("insert into t values ("+text+")", 0)
		var a Args
		a.Reset(l, nil)
		if got := a.Cell(l.Cells[0]).String(); got != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
	}
}

func TestParameters(t *testing.T) {
	l := lexed("select ?, -?, 'x', ?", 0)
	var a Args
	a.Reset(l, []Value{IntValue(5), IntValue(7)})
	if v := a.Value(0); v.Int != 5 {
		t.Errorf("the first is %s", v)
	}
	if v := a.Operand(&Operand{Slot: 1, Negative: true}); v.Int != -7 {
		t.Errorf("the second is %s", v)
	}
	if v := a.Value(3); v.Kind != Unknown {
		t.Errorf("a parameter that was not given is %s", v)
	}
	a.Reset(l, []Value{{}, IntValue(math.MinInt64)})
	if v := a.Operand(&Operand{Slot: 1, Negative: true}); v.Kind != Unknown {
		t.Errorf("- (-2^63) is %s", v)
	}
	a.Reset(l, []Value{{}, {Kind: Decimal, Text: []byte("-1.5")}})
	if v := a.Operand(&Operand{Slot: 1, Negative: true}); v.Kind != Unknown {
		t.Errorf("- (-1.5) is %s", v)
	}
}

// TestViews checks that values that were read don't change while others are read.
func TestViews(t *testing.T) {
	l := lexed("select 'a''b', 'c\\nd', x'4142', 0x1"+strings.Repeat(", 'x''y'", 100), 0)
	var a Args
	a.Reset(l, nil)
	var values []Value
	for i := range l.Literals {
		values = append(values, a.Value(int32(i)))
	}
	for i, want := range []string{"a'b", "c\nd", "AB", "\x01", "x'y"} {
		if string(values[i].Text) != want {
			t.Errorf("%d is %q, want %q", i, values[i].Text, want)
		}
	}
}

const (
	pointSelect = "SELECT id, amount, status, note FROM orders WHERE buyer_uid = 1234567 AND id = 4611686018427387904"
	oneInsert   = "INSERT INTO orders (buyer_uid, amount, status, note, created, a, b, c) VALUES (1234567, 10.50, 'new', 'it''s', NULL, 1, 2, 'some text')"
)

func TestLexAllocatesNothing(t *testing.T) {
	for _, text := range []string{pointSelect, oneInsert, oneInsert + ", (1, 2, 3, NULL, 5, 6, 7, '8')", "select * from t where x in (1, 2, 3) /* n */ order by 1 limit 5"} {
		var l Lexed
		var a Args
		b := []byte(text)
		l.Lex(b, 0)
		n := testing.AllocsPerRun(100, func() {
			l.Lex(b, 0)
			a.Reset(&l, nil)
			for i := range l.Literals {
				a.Value(int32(i))
			}
			for _, c := range l.Cells {
				a.Cell(c)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", text, n)
		}
	}
}

func benchmarkLex(b *testing.B, text string) {
	var l Lexed
	t := []byte(text)
	b.SetBytes(int64(len(t)))
	b.ReportAllocs()
	for b.Loop() {
		l.Lex(t, 0)
	}
}

func BenchmarkLexPointSelect(b *testing.B) { benchmarkLex(b, pointSelect) }
func BenchmarkLexInsert(b *testing.B)      { benchmarkLex(b, oneInsert) }

func BenchmarkLexInsert100(b *testing.B) {
	benchmarkLex(b, oneInsert+strings.Repeat(", (1234567, 10.50, 'new', 'it''s', NULL, 1, 2, 'some text')", 99))
}

func benchmarkParse(b *testing.B, text string) {
	var l Lexed
	l.Lex([]byte(text), 0)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(&l); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkParsePointSelect(b *testing.B) { benchmarkParse(b, pointSelect) }
func BenchmarkParseInsert1000(b *testing.B) {
	benchmarkParse(b, oneInsert+strings.Repeat(", (1234567, 10.50, 'new', 'it''s', NULL, 1, 2, 'some text')", 999))
}

// TestForeign checks that a text in another character set is not taken as the value that a column stores.
func TestForeign(t *testing.T) {
	l := lexed("select 'abc', 'é', ?, ?, 5", 0)
	var a Args
	a.Reset(l, []Value{{Kind: String, Text: []byte("x")}, {Kind: String, Text: []byte("\xe9")}})
	a.Foreign = true
	for i, want := range []ValueKind{String, Unknown, String, Unknown, Int} {
		if got := a.Value(int32(i)).Kind; got != want {
			t.Errorf("%d is of kind %d, want %d", i, got, want)
		}
	}
}
