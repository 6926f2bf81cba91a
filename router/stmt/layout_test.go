package stmt

import (
	"errors"
	"math/rand/v2"
	"strings"
	"testing"
)

// The functions below find the same positions as a layout, but always search from the text's beginning.

func plainTokens(l *Lexed) (list []token) {
	for scan := (tokens{l: l}); ; {
		t, ok := scan.next()
		if !ok {
			return list
		}
		list = append(list, t)
	}
}

func plainClosing(l *Lexed, open int) int {
	depth, opened := 0, false
	for _, t := range plainTokens(l) {
		switch {
		case t.start == open:
			depth, opened = t.depth, true
		case opened && t.depth == depth && l.Text[t.start] == ')':
			return t.start
		}
	}
	return -1
}

func plainOpening(l *Lexed, from int) int {
	for _, t := range plainTokens(l) {
		if t.start >= from && l.Text[t.start] == '(' {
			return t.start
		}
	}
	return -1
}

func plainClause(l *Lexed, from int, word string) int {
	for _, t := range plainTokens(l) {
		if t.start >= from && t.depth == 0 && !t.qualified && l.is(t, word) {
			return t.start
		}
	}
	return -1
}

func plainLiteral(l *Lexed, offset int) (Literal, bool) {
	for _, literal := range l.Literals {
		if int(literal.Start) == offset {
			return literal, true
		}
	}
	return Literal{}, false
}

func plainAside(l *Lexed, offset int) (int, bool) {
	for _, a := range l.asides {
		if int(a.start) == offset {
			return int(a.end), true
		}
	}
	return 0, false
}

// TestLayoutIsPlain compares lookups in the layout with a walk from the beginning of the text.
func TestLayoutIsPlain(t *testing.T) {
	pieces := []string{
		"select", "from", "t", "where", "(", ")", "(", ")", ",", "a.", "from", "1", "'x'", "'x' 'y'", "/* c */", "/*+ h */", "/*!40000 ", "*/",
		"`(`", "-- c\n", "?", "in (1, 2, 3)", "on duplicate key", "values (1), (2)", "insert into t", "*", ";",
	}
	random := rand.New(rand.NewPCG(7, 8))
	for range 2000 {
		var text strings.Builder
		for range random.IntN(20) {
			text.WriteString(pieces[random.IntN(len(pieces))] + " ")
		}
		l := lexed(text.String(), 0)
		if l.Err != nil {
			continue
		}
		for at := range len(l.Text) + 1 {
			if got, want := l.opening(at), plainOpening(l, at); got != want {
				t.Fatalf("%q: opening(%d) = %d, want %d", l.Text, at, got, want)
			}
			if at < len(l.Text) && l.Text[at] == '(' && plainOpening(l, at) == at {
				if got, want := l.closing(at), plainClosing(l, at); got != want {
					t.Fatalf("%q: closing(%d) = %d, want %d", l.Text, at, got, want)
				}
			}
			if got, want := l.clause(at, "from"), plainClause(l, at, "from"); got != want {
				t.Fatalf("%q: clause(%d) = %d, want %d", l.Text, at, got, want)
			}
			got, ok := l.literalAt(at)
			if want, is := plainLiteral(l, at); got != want || ok != is {
				t.Fatalf("%q: literalAt(%d) = %v, want %v", l.Text, at, got, want)
			}
			end, ok := l.asideAt(at)
			if want, is := plainAside(l, at); end != want || ok != is {
				t.Fatalf("%q: asideAt(%d) = %v, want %v", l.Text, at, end, want)
			}
		}
	}
}

// TestTooLarge: a text that would take too long to parse, or too much stack, is recognised before it is parsed.
func TestTooLarge(t *testing.T) {
	tables := func(n int, sep, each string) string { return strings.TrimSuffix(strings.Repeat(each+sep, n), sep) }
	for name, text := range map[string]string{
		"parentheses": "select " + strings.Repeat("(", 1200) + "1" + strings.Repeat(")", 1200),
		"expression":  "select " + strings.Repeat("1 + ", 1<<18) + "1",
		"subqueries":  strings.Repeat("select (", 1200) + "1" + strings.Repeat(")", 1200),
		"joins":       "select 1 from " + tables(62, ", ", "t"),
		"derived":     "select 1 from " + tables(62, ", ", "(select 1) t"),
		"unions":      tables(1001, " union all ", "select 1 from t"),
		"strings":     "select " + strings.Repeat("'"+strings.Repeat("a", 1000)+"' ", 1000),
		"updates":     "update " + tables(62, ", ", "t") + " set x = 1",
		"deletes":     "delete t from " + tables(62, ", ", "t"),
	} {
		_, err := Parse(lexed(text, 0))
		if _, ok := errors.AsType[*SizeError](err); !ok {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, text := range map[string]string{
		"parentheses": "select " + strings.Repeat("(", 900) + "1" + strings.Repeat(")", 900),
		"joins":       "select 1 from " + tables(61, ", ", "t"),
		"unions":      tables(1000, " union all ", "select 1 from t"),
		"arms":        tables(5000, " union all ", "select 1"),
		"strings":     "select " + strings.Repeat("'a' ", 1000),
		"list":        "select * from t where x in (" + tables(20_000, ", ", "1") + ")",
	} {
		if _, err := Parse(lexed(text, 0)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
