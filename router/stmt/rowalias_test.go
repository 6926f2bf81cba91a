package stmt

import (
	"fmt"
	"strings"
	"testing"
)

// TestRowAlias checks the names and places of row aliases, also in other texts of the same key.
func TestRowAlias(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"insert into t (a, b) values (1, 2) as new on duplicate key update b = new.b", `"s new", then " on ": [], update b`},
		{"insert into t (a, b) values (1, 2), (3, 4) /* x */ AS /* y */ `ne``w` ( `a` , b ) on duplicate key update b = b + 1", "\" `a` , b \", then \") on\": [a b], update b"},
		{"insert into t (a, b) values (1, (2 + 3)), (3, 'as x') as n(c, d)", `"c, d", then ")": [c d]`},
		{"insert into t values () as n -- x", `" as n", then " -- ": [], empty`},
		{"insert into t set a = 1, b = cast(2 as char) as new(x, y) on duplicate key update b = cast(y as char)", `"x, y", then ") on": [x y], update b`},
		{"insert into t set a = 1, b = cast(2 as char) on duplicate key update b = cast(2 as char)", "none, update b"},
		{"insert into t set a = 1, returning = cast(2 as char) as new on duplicate key update b = 2", `"s new", then " on ": [], update b`},
		{"insert into t set a = 1 returning a as b", "none"},
		{"insert into t set a = 1 on duplicate key update b = 2 returning *, a as b", "none, update b"},
		{"insert into t (a) values (1) returning a as b", "none"},
		{"insert into t select 1 as a, 2 as b on duplicate key update b = 3", "none, update b"},
		{"insert into t (a) values (1) on duplicate key update a = (select 1 as b)", "none, update a"},
	} {
		l, s := parsed(t, test.text)
		got := aliasPicture(l, s)
		if got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.text, got, test.want)
		}
		longer := lexed(strings.Replace(test.text, "(1, 2)", "(1, 2), (100, 200), (300, 'as n')", 1), 0)
		if string(longer.Key) != string(l.Key) {
			t.Errorf("%s and %s have two keys", test.text, longer.Text)
		}
		if got := aliasPicture(longer, s); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", longer.Text, got, test.want)
		}
	}
}

// aliasPicture returns the list of a row alias, or the text before the position of a row alias, and the assignments of ON
// DUPLICATE KEY UPDATE.
func aliasPicture(l *Lexed, s *Statement) string {
	out := "none"
	if as := s.Insert.As; as != nil {
		first, last := l.Offset(as.First), l.Offset(as.Last)
		if first == last {
			first -= 5
		}
		out = fmt.Sprintf("%q, then %q: %v", l.Text[first:last], l.Text[last:min(len(l.Text), last+4)], as.Columns)
	}
	if s.Insert.Empty {
		out += ", empty"
	}
	for _, a := range s.Insert.Update {
		out += ", update " + a.Column.Name
	}
	return out
}

// TestNoRowAlias checks texts that no server accepts as a row alias.
func TestNoRowAlias(t *testing.T) {
	for _, text := range []string{
		"insert into t (a) values (1) as new foo on duplicate key update a = 1",
		"insert into t (a) values (1) as 'new' on duplicate key update a = 1",
		"insert into t (a) values (1) as new() on duplicate key update a = 1",
		"insert into t (a) values (1) as new(a on duplicate key update a = 1",
		"insert into t (a) values (1) as new(a,) on duplicate key update a = 1",
		"insert into t (a) values (1) as",
		"insert into t (a) values (1) new on duplicate key update a = 1",
	} {
		if s, err := Parse(lexed(text, 0)); err == nil {
			t.Errorf("%s was read: %+v", text, s.Insert)
		}
	}
}

// TestAssignedSame checks which assignments leave a column unchanged.
func TestAssignedSame(t *testing.T) {
	for text, want := range map[string]bool{
		"insert into t (a) values (1) on duplicate key update a = a":                          true,
		"insert into t (a) values (1) on duplicate key update a = t.a":                        true,
		"insert into t (a) values (1) as n on duplicate key update a = t.a":                   true,
		"insert into t (a) values (1) as n on duplicate key update a = last_insert_id(t.a)":   true,
		"insert into t (a) values (1) as n on duplicate key update a = n.a":                   false,
		"insert into t (a) values (1) as n on duplicate key update a = last_insert_id(n.a)":   false,
		"insert into t (a) values (1) as n(b) on duplicate key update a = b":                  false,
		"insert into t (a) select 1 from other.t on duplicate key update a = t.a":             false,
		"insert into t (a) values (1) on duplicate key update a = values(a)":                  false,
		"insert into t (a) values (1) on duplicate key update a = value(a)":                   false,
		"insert into t (a) values (1) on duplicate key update a = last_insert_id(values(a))":  false,
		"insert into t (a) values (1) on duplicate key update a = last_insert_id(value ( a))": false,
	} {
		if _, s := parsed(t, text); s.Insert.Update[0].Same != want {
			t.Errorf("%s: same %v, want %v", text, !want, want)
		}
	}
}
