package stmt

import "testing"

// TestConstant checks which values of an INSERT's row are computed.
func TestConstant(t *testing.T) {
	known := map[string]Value{"a": IntValue(49), "s": {Kind: String, Text: []byte("x")}, "n": {Kind: Null}, "f": FloatValue(1.5), "most": IntValue(1<<63 - 1)}
	variable := func(name string) Value { return known[name] }
	for text, want := range map[string]string{
		"1 + 2 * 3": "7", "(1 + 2) * 3": "9", "-(-50)": "50", "- - 5": "5", "+5": "5", "100 - 50 - 7": "43", "7 DIV 2": "3", "-7 div 2": "-3", "-7 % 3": "-1", "7 mod -3": "1",
		"1 + true": "2", "@a": "49", "@A + 1": "50", "(@a)": "49", "@a /* x */ + -- y\n 1": "50", "5-4": "1", "5--4": "9", "@s": "'x'", "@n": "NULL", "@f": "1.5",
		"'a' 'b'": "'ab'", "'a'\n'b' /* x */ 'c'": "'abc'", `'a\n' 'it''s'`: "'a\nit's'", "((((1))))": "1", "2 * -3": "-6", "9223372036854775807 + 0": "9223372036854775807",
		"-9223372036854775807 - 1": "-9223372036854775808", "(-9223372036854775807 - 1) % -1": "0",
		// Expressions that a server computes differently, or refuses.
		"9223372036854775807 + 1": "", "-9223372036854775807 - 2": "", "4611686018427387904 * 2": "", "(-9223372036854775807 - 1) DIV -1": "", "-(-9223372036854775807 - 1)": "",
		"18446744073709551615 - 1": "", "1 / 1": "", "1 DIV 0": "", "1 % 0": "", "1.5 + 1": "", "1e0 + 1": "", "'1' + 1": "", "@n + 1": "", "@f + 1": "", "@most + 1": "", "@s 'b'": "",
		"id + 1": "", "abs(1)": "", "1 +": "", "(1": "", "1 1": "", "'a' 1": "", "'a' x'62'": "", "_utf8mb4'a' 'b'": "", "a": "", "@@x": "", "@unknown": "", "(select 1)": "", "~1": "", "1 | 2": "", "1 = 1": "",
		"-'5'": "", "1, 2": "", "(1, 2)": "", "@`a`": "", "1 + @a := 5": "", "null + 1": "",
	} {
		l := lexed("insert into t (id) values ("+text+")", 0)
		if len(l.Cells) != 1 {
			if want != "" {
				t.Errorf("%s: %d cells", text, len(l.Cells))
			}
			continue
		}
		args := &Args{Lexed: l}
		got := args.Constant(l.Cells[0], variable)
		if got.Kind == Unknown && want == "" {
			continue
		}
		if got.String() != want {
			t.Errorf("%s is %s, want %q", text, got, want)
		}
	}
	l := lexed("insert into t (id) values (@a)", 0)
	if got := (&Args{Lexed: l}).Constant(l.Cells[0], nil); got.Kind != Unknown {
		t.Errorf("a variable is %s where none is known", got)
	}
	bound := &Args{Lexed: lexed("insert into t (id) values (? + 1)", 0), Bound: []Value{IntValue(6)}}
	if got := bound.Constant(bound.Cells[0], nil); got.String() != "7" {
		t.Errorf("? + 1 is %s", got)
	}
}

// TestStoredNumber checks the text that a number becomes in a column of text.
func TestStoredNumber(t *testing.T) {
	for _, v := range []struct {
		value Value
		want  string
	}{
		{IntValue(-5), "-5"}, {UintValue(1 << 63), "9223372036854775808"}, {Value{Kind: Decimal, Text: []byte("50.50")}, "50.50"}, {Value{Kind: Decimal, Text: []byte("0.5")}, "0.5"},
		{Value{Kind: Decimal, Text: []byte(".5")}, ""}, {Value{Kind: Decimal, Text: []byte("00.5")}, ""}, {Value{Kind: Decimal, Text: []byte("-0.0")}, ""}, {Value{Kind: Decimal, Text: []byte("5.")}, ""},
		{Value{Kind: Decimal, Text: []byte("99999999999999999999")}, ""}, {FloatValue(1), ""}, {Value{}, ""},
	} {
		text, ok := v.value.Stored()
		if ok != (v.want != "") || ok && string(text) != v.want {
			t.Errorf("%s is stored as %q (%v), want %q", v.value, text, ok, v.want)
		}
	}
}
