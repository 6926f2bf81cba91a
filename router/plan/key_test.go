package plan

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"locus/router/stmt"
)

// others are literals that may replace one of the same kind.
var others = map[stmt.LiteralKind][]string{
	stmt.IntLiteral:        {"42", "1", "0", "-1"[1:], "2257851525684527105", "18446744073709551615", "3", "2"},
	stmt.DecimalLiteral:    {"42.0", "1.5", ".5"},
	stmt.FloatLiteral:      {"42e0", "1.5e3"},
	stmt.StringLiteral:     {"'42'", "'x'", "''", "'it''s'", "'id'", `"amount"`},
	stmt.IntroducedLiteral: {"_binary'x'", "N'x'", "_utf8mb4'42'", "_latin1'\xe9'", "_binary X'003EAB00000000000000000000000001'"},
	stmt.HexLiteral:        {"0x2A", "x'003EAB00000000000000000000000001'"},
	stmt.BitLiteral:        {"b'1'"},
	stmt.ParamLiteral:      {"?"},
	stmt.CommentLiteral:    {"/* x */", "/**/"},
}

// varied returns the text with other literals, and with lists of other lengths.
func varied(t *rapid.T, l *stmt.Lexed) string {
	var b strings.Builder
	at := 0
	for _, s := range l.Slots {
		first, last := l.Literals[s.First], l.Literals[s.First+s.Count-1]
		if int(first.Start) < at {
			continue
		}
		spell := func() string {
			if first.Kind == stmt.CommentLiteral && l.Text[first.Start] != '/' {
				return string(l.Text[first.Start:first.End])
			}
			return rapid.SampledFrom(others[first.Kind]).Draw(t, "literal")
		}
		b.Write(l.Text[at:first.Start])
		b.WriteString(spell())
		if s.Count > 1 {
			for range rapid.IntRange(0, 2).Draw(t, "more") {
				b.WriteString(", " + spell())
			}
		}
		at = int(last.End)
	}
	b.Write(l.Text[at:])
	return b.String()
}

// TestPlansHoldForTheirKey checks that a plan has the same result for every text of its key as the plan made from that text.
func TestPlansHoldForTheirKey(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil {
		t.Fatal(err)
	}
	c, m := shopCatalog(t), shopMap(t)
	cached := 0
	for _, file := range files {
		golden, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range scenes(string(golden)) {
			l := lexedText(s.text, s.session.mode)
			ctx := Context{Catalog: c, Schema: s.session.schema}
			p, err := Make(l, ctx)
			if err != nil || !p.About().Cacheable {
				continue
			}
			cached++
			rapid.Check(t, func(t *rapid.T) {
				text := varied(t, l)
				other := lexedText(text, s.session.mode)
				if string(other.Key) != string(l.Key) {
					t.Fatalf("%s\n%s\nhave two keys", s.text, text)
				}
				own, err := Make(other, ctx)
				if err != nil { // a server checks LIMIT 'x', for example
					return
				}
				s.session.bound = slices.Repeat([]stmt.Value{stmt.IntValue(42)}, other.Params)
				want := Explain(own, m, s.session.values(other), &Route{})
				got := Explain(p, m, s.session.values(other), &Route{})
				if fmt.Sprint(got) != fmt.Sprint(want) {
					t.Fatalf("planned as\n%s\nthe text\n%s\ngives\n%v\nnot\n%v", s.text, text, got, want)
				}
			})
		}
	}
	if cached < 100 {
		t.Errorf("only %d plans are cached", cached)
	}
}
