package stmt

import (
	"math/rand/v2"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"
)

// decorations separate tokens, and have no meaning.
var decorations = []string{" /* x */ ", " -- x'\n", " # \"x\n", "\t\n ", " /* into @x ( */ ", " "}

// decorated returns the text with a blank or a comment between any two tokens that may be separated.
func decorated(l *Lexed, r *rand.Rand) string {
	var b strings.Builder
	b.WriteString(strings.TrimSpace(decorations[r.IntN(len(decorations))]) + "\n")
	list := l.lexemes(len(l.Text))
	for i, x := range list {
		if i > 0 {
			between := string(l.Text[list[i-1].end:x.start])
			switch {
			case strings.Trim(between, " \t\n") != "", between == "" && !partable(l, list, i):
				b.WriteString(between)
			default:
				b.WriteString(decorations[r.IntN(len(decorations))])
			}
		}
		b.Write(l.Text[x.start:x.end])
	}
	return b.String()
}

// partable reports whether blanks may be added before a lexeme that has none: next to commas, after an opening
// parenthesis, and before a closing one.
func partable(l *Lexed, list []lexeme, i int) bool {
	before, after := list[i-1], list[i]
	return before.char == ',' || after.char == ',' || before.char == '(' || after.char == ')'
}

func TestDecorationsChangeNothing(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	read := 0
	for _, text := range append(corpus, "select a into @x from t", "select a from t into @x, @y for update", "table t into @x", "select version(), connection_id()",
		"explain (select 1) union select 2", "set @@session.sql_mode = ''", "set names utf8mb3", "select is_used_lock( 'a' )", "rollback work", "savepoint a", "use s", "kill query 5", "show local status") {
		plain := lexText(text)
		want, err := Parse(plain)
		if err != nil {
			continue
		}
		read++
		for range 3 {
			other := decorated(plain, r)
			l := lexText(other)
			got, err := Parse(l)
			if err != nil {
				t.Errorf("%s\n%q: %v", text, other, err)
				break
			}
			if !sameButPlaces(want, got) || valued(plain, want) != valued(l, got) {
				t.Errorf("%s\n%q is another statement\n%s\n%s", text, other, valued(plain, want), valued(l, got))
				break
			}
		}
	}
	if read < 50 {
		t.Errorf("%d texts were read", read)
	}
}

// valued returns the picture of a statement with literals in the place of slots. Comments have slots too, which
// it leaves out.
func valued(l *Lexed, s *Statement) string {
	return slotNumber.ReplaceAllStringFunc(picture(s), func(number string) string {
		n, _ := strconv.Atoi(number[1:])
		var values []string
		for _, literal := range l.Literals[l.Slots[n].First : l.Slots[n].First+l.Slots[n].Count] {
			if literal.Kind != CommentLiteral {
				values = append(values, string(l.Text[literal.Start:literal.End]))
			}
		}
		return strings.Join(values, ",")
	})
}

var slotNumber = regexp.MustCompile(`\$\d+`)

// sameButPlaces compares the fields that don't depend on positions or on the text.
func sameButPlaces(a, b *Statement) bool {
	same := func(x, y any) bool { return reflect.DeepEqual(x, y) }
	return same(a.Kind, b.Kind) && same(a.Features, b.Features) && same(a.Facts, b.Facts) && same(a.Tables, b.Tables) && same(a.Assigns, b.Assigns) &&
		same(a.ReadVariables, b.ReadVariables) && same(a.Schema, b.Schema) && same(a.Called, b.Called) && same(a.Hints, b.Hints) && same(a.Verbatim, b.Verbatim) &&
		len(a.Owned) == len(b.Owned) && len(a.Unnamed) == len(b.Unnamed) && len(a.Variables) == len(b.Variables) && same(a.LockTables, b.LockTables) && same(a.Counter, b.Counter)
}
