package stmt

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// Each byte outside of quotes has the same meaning to every server, or else the text is refused.
func TestBytesAreCertainOrRefused(t *testing.T) {
	for c := range 256 {
		b := string([]byte{byte(c)})
		blank := strings.Contains(" \t\n\v\f\r", b)
		certain := blank || c > ' ' && c < 0x7f && c != '\\' && c != '['
		for _, text := range []string{"SELECT " + b + " 1", "SELECT a" + b + "b", "SELECT 1" + b + "+1", "SELECT 1 --" + b + " '\n"} {
			certain := certain && !strings.Contains(text, "--#")
			for _, mode := range []Mode{0, NotUTF8, NotUTF8 | RawNames} {
				l := lexed(text, mode)
				var u *Uncertain
				uncertain := errors.As(l.Err, &u)
				switch {
				case uncertain && (u.At != strings.Index(text, b) || int(u.Byte) != c) && strings.Count(text, b) == 1 && certain == false:
					t.Errorf("%q: %v", text, u)
				case !certain && !uncertain:
					t.Errorf("%q in mode %d is read", text, mode)
				case certain && uncertain && strings.IndexByte(";@'.$eExXbB", byte(c)) < 0 && !strings.Contains(text, "1"+b):
					t.Errorf("%q in mode %d: %v", text, mode, u)
				}
			}
		}
	}
}

func TestCertainTexts(t *testing.T) {
	for _, c := range []struct {
		text    string
		mode    Mode
		certain bool
	}{
		{"SELECT 1 AS é, 表 FROM 表", 0, true},
		{"SELECT 1 AS a\u3000b", 0, true},
		{"SELECT 1 AS \xe5b", 0, false},
		{"SELECT 1 AS 😀", 0, false},
		{"SELECT 1 AS `😀`", 0, false},
		{"SELECT 1 AS `\xe5`", 0, false},
		{"SELECT '😀\xe5\x00', \"\xff\"", 0, true},
		{"SELECT 1 AS é", NotUTF8, false},
		{"SELECT count(*) FROM\xa0t", NotUTF8, false},
		{"SELECT 1 --\xe5\x80\x80 '\n, user FROM mysql.user -- '", NotUTF8, false},
		{"SELECT '\xe9' /* \xe9 */ # \xe9", NotUTF8, true},
		{"SELECT 1 AS `\xe9`", NotUTF8, false},
		{"SELECT 1 AS `\xe9`", NotUTF8 | RawNames, true},
		{"USE `\xe9`", NotUTF8, true},
		{"SELECT 1 /* \x01\x7f\xff */ -- \x1a", 0, true},
		{"SELECT 1 /* \x00 */", 0, false},
		{"SELECT 1 -- \x00 x", 0, false},
		{"SELECT 1\x00", 0, true},
		{"SELECT 1\x00\x00", 0, false},
		{"SELECT \\N", 0, false},
		{"SELECT 1 --; SELECT 2", 0, false},
		{"SELECT 5--/**/2 OR 1", 0, false},
		{"SELECT 5--/*+ x */2 OR 1", 0, false},
		{"SELECT 5---/**/2 OR 1", 0, false},
		{"SELECT 5--#\n2 OR 1", 0, false},
		{"SELECT 5- -/**/2, 5--2, '--'/**/, `--`/**/, 1 /*--*//**/", 0, true},
		{"SELECT 1 - -; SELECT 2", 0, true},
		{"SELECT [a] FROM t", 0, false},
		{"SELECT 1.5e,2", 0, false},
		{"SELECT now(1.5e)", 0, false},
		{"SELECT 1.5a", 0, false},
		{"SELECT .5a", 0, false},
		{"SELECT 1e5x", 0, false},
		{"SELECT 0x1G", 0, false},
		{"SELECT 0X1F", 0, false},
		{"SELECT 1e", 0, false},
		{"SELECT t.1e, t.0x1G, 1a, 2_b FROM t", 0, true},
		{"SELECT $$a$$", 0, false},
		{"SELECT $a$ 1", 0, false},
		{"SELECT $a, a$b$c, t.$a$, @$a$", 0, true},
		{"SELECT @a, @@a, @'a', @`a`, @@`a`, @a.b, @\"a\"", 0, true},
		{"SELECT @ 'a'", 0, false},
		{"SELECT @:=1", 0, false},
		{"SELECT /*+ QB_NAME(`a`) */ 1", 0, true},
		{"SELECT /*+ 'a */ 1, /*+ '*/ 2", 0, false},
		{"SELECT /*+ QB_NAME(`a*/b`) */ 1", 0, false},
		{"SELECT /*+ \x01 */ 1", 0, false},
	} {
		l := lexed(c.text, c.mode)
		var u *Uncertain
		if uncertain := errors.As(l.Err, &u); uncertain == c.certain {
			t.Errorf("%q in mode %d: %v", c.text, c.mode, l.Err)
		}
	}
}

// A digit string such as x'41' ends at the next quote, because it has no escapes. If x is a name, an ordinary
// string follows it, in which \' is an escape. The two texts must not share a key.
func TestEachDigitStringEndsAtItsQuote(t *testing.T) {
	for _, c := range []struct {
		text string
		mode Mode
		want []string
	}{
		{`SELECT _binary x'41''\' , ' FROM d -- '`, 0, []string{`_binary x'41'`, `'\' , '`, "-- '"}},
		{`SELECT "y".x'41\' , ' FROM d -- '`, AnsiQuotes, []string{`'41\' , '`, "-- '"}},
		{`SELECT x'41''\' , '`, 0, []string{"x'41'", `'\' , '`}},
	} {
		l := lexed(c.text, c.mode)
		var got []string
		for _, literal := range l.Literals {
			got = append(got, string(l.Text[literal.Start:literal.End]))
		}
		if l.Err != nil || !slices.Equal(got, c.want) {
			t.Errorf("%s: %q, want %q (%v)", c.text, got, c.want, l.Err)
		}
	}
}

// A variable begins a new word, even directly after another one.
func TestVariablesPartWords(t *testing.T) {
	var words []string
	lexed("UPDATE t SET a=1 WHERE@x=1 AND@@y OR a@b", 0).Words(func(w []byte) { words = append(words, string(w)) })
	if want := strings.Fields("UPDATE t SET a 1 WHERE @x AND @@y OR a @b"); fmt.Sprint(words) != fmt.Sprint(slices.DeleteFunc(want, func(w string) bool { return w == "1" })) {
		t.Errorf("%q", words)
	}
}

// segments returns the quoted texts and comments of a text, as segmentAt finds them.
func segments(text []byte, mode Mode) (list []Literal) {
	for i := 0; i < len(text); {
		p := segmentAt(text, i, mode)
		if p.kind == endlessSegment {
			return append(list, Literal{Start: int32(i), End: -1})
		}
		if p.kind == quotedSegment || p.kind == commentSegment {
			list = append(list, Literal{Start: int32(i), End: int32(p.end)})
		}
		i = p.end
	}
	return list
}

// The splitter and the lexer part every text alike: whatever is quoted or a comment
// to one is that to the other.
func TestOneReader(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pieces := rapid.SliceOfN(rapid.SampledFrom(nasty), 0, 24).Draw(t, "pieces")
		mode := Mode(rapid.IntRange(0, 3).Draw(t, "mode"))
		text := strings.Join(pieces, "")
		l := lexed(text, mode)
		if l.Err != nil {
			return
		}
		quoted := segments(l.Text, mode)
		for _, literal := range l.Literals {
			if !literal.isString() && literal.Kind != CommentLiteral && literal.Kind != HexLiteral && literal.Kind != BitLiteral || l.Text[literal.Start] == '0' {
				continue
			}
			if !slices.ContainsFunc(quoted, func(s Literal) bool { return s.Start >= literal.Start && s.End == literal.End }) {
				t.Fatalf("%q in mode %d: the lexer's %v is not the splitter's: %v", text, mode, literal, quoted)
			}
		}
		for _, s := range quoted {
			known := l.Text[s.Start] == '`' || l.Text[s.Start] == '"' && mode&AnsiQuotes != 0 || strings.HasPrefix(string(l.Text[s.Start:]), "/*+")
			if !known && !slices.ContainsFunc(l.Literals, func(literal Literal) bool { return literal.Start <= s.Start && literal.End == s.End }) {
				t.Fatalf("%q in mode %d: the splitter's %v is not the lexer's: %v", text, mode, s, l.Literals)
			}
		}
	})
}
