package stmt

import (
	"strings"
	"testing"
)

// An alias follows a table's name behind blanks, comments and hints, in any quotes that
// names have; a clause does not.
func TestAliased(t *testing.T) {
	for _, c := range []struct {
		text string
		mode Mode
		want bool
	}{
		{"FROM t a", 0, true},
		{"FROM t AS a", 0, true},
		{"FROM t", 0, false},
		{"FROM t, u", 0, false},
		{"FROM t WHERE 1", 0, false},
		{"FROM t /* WHERE */ a", 0, true},
		{"FROM t -- WHERE\n a", 0, true},
		{"FROM t /*+ NO_ICP(x) */ AS a", 0, true},
		{"FROM t /* x */ /*+ y */ # z\n WHERE 1", 0, false},
		{"FROM t /*+ y */", 0, false},
		{"FROM t `where`", 0, true},
		{"FROM t \"a\"", AnsiQuotes, true},
		{"FROM t/*+ y */\"a\"", AnsiQuotes, true},
	} {
		var l Lexed
		l.Lex([]byte("SELECT 1 "+c.text), c.mode)
		if got := l.Aliased(strings.Index(string(l.Text), "FROM t") + len("FROM t")); got != c.want || l.Err != nil {
			t.Errorf("%s: %v (%v), want %v", c.text, got, l.Err, c.want)
		}
	}
}
