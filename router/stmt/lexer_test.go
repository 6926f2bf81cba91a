package stmt

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func lexed(text string, mode Mode) *Lexed {
	var l Lexed
	l.Lex([]byte(text), mode)
	return &l
}

// marked shows the key with a letter for each mark.
func marked(l *Lexed) string {
	names := map[byte]string{
		zeroKind: "<zero>", byte(IntLiteral): "<int>", byte(DecimalLiteral): "<dec>", byte(FloatLiteral): "<float>",
		byte(StringLiteral): "<str>", byte(IntroducedLiteral): "<intro>", byte(HexLiteral): "<hex>", byte(BitLiteral): "<bit>",
		byte(ParamLiteral): "<par>", byte(CommentLiteral): "<note>",
	}
	var b strings.Builder
	for i := 0; i < len(l.Key); i++ {
		if l.Key[i] == keyMark {
			i++
			b.WriteString(names[l.Key[i]])
			continue
		}
		b.WriteByte(l.Key[i])
	}
	return b.String()
}

func TestKey(t *testing.T) {
	for _, c := range []struct{ text, key string }{
		{"select 1", "select <int>"},
		{"select .5, 5., 1.5e-3, 1e5, 2.e3", "select <dec>, <dec>, <float>, <float>, <float>"},
		{"select 0x4D, X'4d', x'4D', 0b1, b'01', B'1'", "select <hex>, <hex>, <hex>, <bit>, <bit>, <bit>"},
		{"select 1abc, t.0xZZ, t.1e, `0b2`", "select 1abc, t.0xZZ, t.1e, `0b2`"},
		{"select t.1x, t.1, `t`.1, t . x", "select t.1x, t.1, `t`.1, t . x"},
		{"select -1, - 1, a-1, a--1", "select -<int>, - <int>, a-<int>, a--<int>"},
		{"select 'it''s', 'a\\'b', \"q\"\"q\"", "select <str>, <str>, <str>"},
		{"select N'x', n'x', _utf8mb4'x', _UTF8MB4 \"x\", _binary X'41'", "select <intro>, <intro>, <intro>, <intro>, <intro>"},
		{"select N 'x', _koi8r'x', _name 'x', t._utf8'x', _utf8 `x`, _binary 0x41", "select N <str>, _koi8r<str>, _name <str>, t._utf8<str>, _utf8 `x`, _binary <hex>"},
		{"a in (_binary'a', _utf8'b', 'c')", "a in (<intro>, <str>)"},
		{"select 'a' 'b'", "select <str> <str>"},
		{"select @x, @@version, @'x', @`x`", "select @x, @@version, @<str>, @`x`"},
		{"select ?, ? + ?", "select <par>, <par> + <par>"},
		{"select a -- c\n, b # d\n, /* e */ f --", "select a <note>\n, b <note>\n, <note> f <note>"},
		{"select 5--3, 5 --3", "select <int>--<int>, <int> --<int>"},
		{"select /*+ HINT(1) */ 1", "select /*+ HINT(1) */ <int>"},
		{"select '\x00', `\x00`", "select <str>, `<zero>`"},
		{"select t.b'x', t.x'41', a.b'01'", "select t.b<str>, t.x<str>, a.b<str>"},
		{"a in (1)", "a in (<int>)"},
		{"a in (1, 2 , 3,4)", "a in (<int>)"},
		{"a in (1, 'x', 2)", "a in (<int>, <str>, <int>)"},
		{"a in ('x', 'y', ?)", "a in (<str>, <par>)"},
		{"a in (1, -2, 3)", "a in (<int>, -<int>, <int>)"},
		{"a in (1, 2 + 3, 4)", "a in (<int>, <int> + <int>, <int>)"},
		{"a in (1 + 2)", "a in (<int> + <int>)"},
		{"a in ('a', 'b' 'c')", "a in (<str>, <str> <str>)"},
		{"a in (1, /* x */ 2)", "a in (<int>, <note> <int>)"},
		{"a in (1, 2 /* x */)", "a in (<int>, <int> <note>)"},
		{"a in (1, 2", "a in (<int>, <int>"},
		{"a in ((1, 2), (3, 4))", "a in ((<int>, <int>), (<int>, <int>))"},
		{"f(1, 2)", "f(<int>, <int>)"},
		{"order by 1, a, 2 desc limit 5, 10", "order by 1, a, 2 desc limit <int>, <int>"},
		{"group by 1 having x > 5 order by 2", "group by 1 having x > <int> order by 2"},
		{"order by 1 + x, f(5, 6), 2", "order by 1 + x, f(<int>, <int>), 2"},
		{"(select 1 order by 1) union (select 2, 3)", "(select <int> order by 1) union (select <int>, <int>)"},
		{"order by x, 'a', 1.5", "order by x, <str>, <dec>"},
		{"insert into t values (1, 'a')", "insert into t values (<int>, <str>)"},
		{"insert into t values (1, 'a'), (2, 'b'),\n(3, 'c')", "insert into t values (<int>, <str>)"},
		{"insert into t values (1, 'a'), (NULL, -2.5), (default, ?)", "insert into t values (<int>, <str>)"},
		{"insert into t values (1, 'a'), (2)", "insert into t values (<int>, <str>), (<int>)"},
		{"insert into t values (1, 'a'), (2, NOW()), (3, NOW()), (4, null)", "insert into t values (<int>, <str>), (<int>, NOW()), (<int>, null)"},
		{"insert into t values (1, 'a'), (2, x)", "insert into t values (<int>, <str>), (<int>, x)"},
		{"insert into t values (1), (2 /* x */)", "insert into t values (<int>), (<int> <note>)"},
		{"insert into t values (1), /* x */ (2)", "insert into t values (<int>), <note> (<int>)"},
		{"insert into t values (1) (2)", "insert into t values (<int>) (<int>)"},
		{"insert into t values (1),, (2)", "insert into t values (<int>),, (<int>)"},
		{"insert into t (a) values (1), (2) on duplicate key update a = 3", "insert into t (a) values (<int>) on duplicate key update a = <int>"},
		{"/* x */ REPLACE t VALUE (1), (2)", "<note> REPLACE t VALUE (<int>)"},
		{"insert into t values (1, x in (1, 2)), (3, x in (4))", "insert into t values (<int>, x in (<int>))"},
		{"select * from t values (1), (2)", "select * from t values (<int>), (<int>)"},
	} {
		l := lexed(c.text, 0)
		if l.Err != nil {
			t.Errorf("%s: %v", c.text, l.Err)
		}
		if got := marked(l); got != c.key {
			t.Errorf("%s\n   key %s\n  want %s", c.text, got, c.key)
		}
	}
}

func TestModes(t *testing.T) {
	for _, c := range []struct {
		text string
		mode Mode
		key  string
	}{
		{`select "a", 'b'`, 0, "select <str>, <str>"},
		{`select "a", 'b'`, AnsiQuotes, `select "a", <str>`},
		{`select "a\", 'b'`, AnsiQuotes, `select "a\", <str>`},
		{`select 'a\', 'b'`, NoBackslash, `select <str>, <str>`},
		{`select 'a\', b'`, 0, `select <str>`},
	} {
		if got := marked(lexed(c.text, c.mode)); got != c.key {
			t.Errorf("%s in mode %d\n   key %s\n  want %s", c.text, c.mode, got, c.key)
		}
	}
	for s, want := range map[string]Mode{
		"": 0, "STRICT_TRANS_TABLES,NO_ZERO_DATE": 0, "ansi_quotes": AnsiQuotes, "ANSI": AnsiQuotes | PipesConcat | IgnoreSpace,
		"PIPES_AS_CONCAT, NO_BACKSLASH_ESCAPES": PipesConcat | NoBackslash,
	} {
		if got := ModeOf(s); got != want {
			t.Errorf("ModeOf(%q) = %d, want %d", s, got, want)
		}
	}
}

func TestUnreadable(t *testing.T) {
	for _, text := range []string{"select 'a", `select "a`, "select `a", "select /* a", "select x'4", "select _binary'4", "select N'4", "select /*", "select 'a\\'", "/*+ x"} {
		if l := lexed(text, 0); l.Err == nil {
			t.Errorf("%s: read as %s", text, marked(l))
		}
	}
}

func TestUncacheable(t *testing.T) {
	for text, want := range map[string]bool{
		"select 1": false, "select /* x */ 1": false, "select 1;": false, "select 1; ": false,
		"select N'x'": false, "select @'x'": true, "select @`x`": false, "select 1; select 2": true,
	} {
		if l := lexed(text, 0); l.Uncacheable != want {
			t.Errorf("%s: uncacheable %v", text, l.Uncacheable)
		}
	}
}

// rowsOf shows each row of an INSERT with its cells: the text of each, and
// whether it is wholly one literal.
func rowsOf(l *Lexed) string {
	var b strings.Builder
	for _, row := range l.Rows {
		fmt.Fprintf(&b, "%s:", l.Text[row.Open:row.Close+1])
		for _, c := range l.Cells[row.First : row.First+row.Count] {
			fmt.Fprintf(&b, " %s", bytes.TrimSpace(l.Text[c.Start:c.End]))
			if c.Literal >= 0 {
				literal := l.Literals[c.Literal]
				fmt.Fprintf(&b, "=%s", l.Text[literal.Start:literal.End])
			}
			if c.Negative {
				b.WriteString(" negative")
			}
			b.WriteByte(';')
		}
		b.WriteByte('\n')
	}
	return b.String()
}

func TestCells(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"insert into t values (1, 'a,)', NULL)", "(1, 'a,)', NULL): 1=1; 'a,)'='a,)'; NULL;\n"},
		{"insert into t values (-5, - 5, +5, - -5, -x)", "(-5, - 5, +5, - -5, -x): -5=5 negative; - 5=5 negative; +5; - -5; -x;\n"},
		{"insert into t values ((1), 1 + 1, f(1, 2), 'a' 'b')", "((1), 1 + 1, f(1, 2), 'a' 'b'): (1); 1 + 1; f(1, 2); 'a' 'b';\n"},
		{"insert into t values (?, DEFAULT), (2, 3)", "(?, DEFAULT): ?=?; DEFAULT;\n(2, 3): 2=2; 3=3;\n"},
		{"insert into t values ()", "():\n"},
		{"insert into t values (1 /* x */, /* y */ 2)", "(1 /* x */, /* y */ 2): 1 /* x */=1; /* y */ 2=2;\n"},
		{"insert into t values (1), (2) as new (a)", "(1): 1=1;\n(2): 2=2;\n"},
		{"insert into t values row(1)", ""},
		{"insert into t set a = 1", ""},
		{"insert into t select (1), (2)", ""},
		{"insert into value values (1)", "(1): 1=1;\n"},
		{"insert into t (`values`, a) values (1, 2)", "(1, 2): 1=1; 2=2;\n"},
		{"insert into t values (1) on duplicate key update a = values(a), b = (2)", "(1): 1=1;\n"},
		{"insert into t values (N'x', x'41', _utf8'y')", "(N'x', x'41', _utf8'y'): N'x'=N'x'; x'41'=x'41'; _utf8'y'=_utf8'y';\n"},
		{"select * from insert values (1)", ""},
	} {
		if got := rowsOf(lexed(c.text, 0)); got != c.want {
			t.Errorf("%s\n got %q\nwant %q", c.text, got, c.want)
		}
	}
}

// rebuilt inserts the literals into the key. The result must be the text without the parts that the key
// collapses: this proves that two texts with one key differ in nothing else.
func rebuilt(l *Lexed) string {
	var b strings.Builder
	slot := 0
	for i := 0; i < len(l.Key); i++ {
		if l.Key[i] != keyMark {
			b.WriteByte(l.Key[i])
			continue
		}
		i++
		if l.Key[i] == zeroKind {
			b.WriteByte(0)
			continue
		}
		literal := l.Literals[l.Slots[slot].First]
		if byte(literal.Kind) != l.Key[i] {
			return fmt.Sprintf("slot %d is of kind %d, the key says %d", slot, literal.Kind, l.Key[i])
		}
		b.Write(l.Text[literal.Start:literal.End])
		slot++
	}
	if slot != len(l.Slots) {
		return fmt.Sprintf("%d slots, %d in the key", len(l.Slots), slot)
	}
	return b.String()
}

// uncollapsed returns the text without the parts that the key leaves out.
func uncollapsed(l *Lexed) string {
	keep := slices.Repeat([]bool{true}, len(l.Text))
	drop := func(start, end int32) {
		for i := start; i < end; i++ {
			keep[i] = false
		}
	}
	for _, s := range l.Slots {
		drop(l.Literals[s.First].End, l.Literals[s.First+s.Count-1].End)
	}
	for i, r := range l.Rows {
		if r.dropped {
			drop(l.Rows[i-1].Close+1, r.Close+1)
		}
	}
	var b strings.Builder
	for i, c := range l.Text {
		if keep[i] {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// verify holds a reading to everything that must be true of every text.
func verify(text []byte, mode Mode) error {
	l := lexed(string(text), mode)
	want, ok := slowLiterals(string(text), mode)
	if ok != (l.Err == nil) {
		return fmt.Errorf("read to the end %v, want %v", l.Err == nil, ok)
	}
	if !ok {
		return nil
	}
	if got := withPositions(l, want); !slices.Equal(got, want) {
		return fmt.Errorf("literals %v, want %v", got, want)
	}
	if got, want := rebuilt(l), uncollapsed(l); got != want {
		return fmt.Errorf("the key and the literals make %q", got)
	}
	for i, r := range l.Rows {
		if r.Close <= r.Open {
			continue // never closed
		}
		for _, c := range l.Cells[r.First : r.First+r.Count] {
			if c.Start <= r.Open || c.End > r.Close || c.Start > c.End {
				return fmt.Errorf("row %d has a cell outside of it", i)
			}
		}
	}
	return nil
}

// withPositions adds the integers of ORDER BY and GROUP BY to the literals of the lexer. The key contains them,
// but the slow lexer counts them as literals.
func withPositions(l *Lexed, slow []Literal) []Literal {
	out := slices.Clone(l.Literals)
	for _, s := range slow {
		known := slices.ContainsFunc(out, func(o Literal) bool { return o.Start == s.Start })
		if !known && s.Kind == IntLiteral && slowByItem.MatchString(latin1(string(stripped(l.Text[:s.Start], slow)))) {
			out = append(out, s)
		}
	}
	slices.SortFunc(out, func(a, b Literal) int { return int(a.Start - b.Start) })
	return out
}

// stripped blanks the comments out.
func stripped(text []byte, literals []Literal) []byte {
	text = slices.Clone(text)
	for _, l := range literals {
		if l.Kind == CommentLiteral && int(l.End) <= len(text) {
			blank(text, l.Start, l.End)
		}
	}
	return text
}

var nasty = []string{
	"'", "\"", "`", "\\", "-", "--", "-- ", "#", "/*", "*/", "/*!", "/*+", "\n", " ", ",", "(", ")", ".", ";", "?", "\x00", "\xff",
	"0", "1", "9", "0x", "0b", "x'", "b'", "N'", "e", "E5", "a", "_", "@", "$", "in", " in (", "by ", " by ", "insert ", " values ", "'a'",
	"select", ", ", "1, 2", "(1)", "=", "+", "limit ", "é",
}

func TestAgainstSlowLexer(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 24).Draw(t, "pieces")
		mode := Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
		text := strings.Join(pieces, "")
		if err := verify([]byte(text), mode); err != nil {
			t.Fatalf("%q in mode %d: %v", text, mode, err)
		}
	})
}

func FuzzLex(f *testing.F) {
	for _, s := range corpus {
		f.Add([]byte(s), uint8(0))
	}
	f.Add([]byte(strings.Join(nasty, "")), uint8(3))
	f.Fuzz(func(t *testing.T, text []byte, mode uint8) {
		if len(text) > 256 { // the slow lexer is
			return
		}
		if err := verify(text, Mode(mode&3)); err != nil {
			t.Fatalf("%q in mode %d: %v", text, mode&3, err)
		}
		l := lexed(string(text), Mode(mode&3))
		l.Words(func([]byte) {})
		if readable := l.readable(); len(readable) != len(text) {
			t.Fatalf("the parser would read %d bytes of %d", len(readable), len(text))
		}
		if l.Err == nil {
			_, _ = Parse(l)
		}
	})
}
