package stmt

import (
	"fmt"
	"testing"
)

// TestFetch checks the numbers and places of FETCH and OFFSET, also in other texts of the same key.
func TestFetch(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"select a from t where b = 1 order by a fetch first 2 rows only", `"fetch first 2 rows only" count 2 filter "1 |order"`},
		{"select a from t where b = 1 fetch next row only", `"fetch next row only" count 1 at " row" filter "1 |fetch"`},
		{"select a from t offset 3 rows", `"offset 3 rows" count all offset 3 filter "t |offse"`},
		{"select a from t order by a offset /* x */ 3 row fetch /* y */ first 2 rows only for update", `"offset /* x */ 3 row fetch /* y */ first 2 rows only" count 2 offset 3 filter "t |order"`},
		{"select a from t order by a fetch first 2 rows with ties", `"fetch first 2 rows with ties" count 2 ties filter "t |order"`},
		{"select a from t order by a offset 3 rows fetch first row with  ties", `"offset 3 rows fetch first row with  ties" count 1 offset 3 at " row" ties filter "t |order"`},
		{"select a from t order by a limit 2 offset 3", `"limit 2 offset 3" count 2 offset 3 filter "t |order"`},
		{"select offset from t where offset = 1 order by offset limit 5", `"limit 5" count 5 filter "1 |order"`},
		{"select a from t where a in (select b from u fetch first 2 rows only) and c = 3", `none filter " 3|"`},
	} {
		l, s := parsed(t, test.text)
		if got := limitPicture(l, s.Blocks[0]); got != test.want {
			t.Errorf("%s:\n got %s\nwant %s", test.text, got, test.want)
		}
	}
}

// limitPicture shows the position and the numbers of a block's LIMIT, and the text around the end of its
// condition.
func limitPicture(l *Lexed, b *Block) string {
	out := "none"
	if b.Limit != nil {
		value := func(o Operand) any {
			switch {
			case o.Slot >= 0:
				literal := l.Literals[l.Slots[o.Slot].First]
				return string(l.Text[literal.Start:literal.End])
			case o.Const.Kind == Uint:
				return "all"
			}
			return o.Const
		}
		out = fmt.Sprintf("%q count %v", l.Text[l.Offset(b.Limit.Start):l.Offset(b.Limit.End)], value(b.Limit.Count))
		if b.Limit.Offset != nil {
			out += fmt.Sprint(" offset ", value(*b.Limit.Offset))
		}
		if at := b.Limit.CountAt; at != nil && b.Limit.Count.Slot < 0 {
			out += fmt.Sprintf(" at %q", l.Text[l.Offset(*at):l.Offset(*at)+4])
		}
		if b.Limit.Ties {
			out += " ties"
		}
	}
	at := l.Offset(b.Filter.Close)
	return out + fmt.Sprintf(" filter \"%s|%s\"", l.Text[at-min(2, at):at], l.Text[at:min(len(l.Text), at+5)])
}

// TestNoFetch checks texts in which FETCH or OFFSET are no clause.
func TestNoFetch(t *testing.T) {
	for _, text := range []string{
		"select a from t offset 3",
		"select a from t offset 3 fetch first 2 rows only",
		"select a from t offset (1) rows",
		"select a from t offset -1 rows",
		"select a from t fetch 2 rows only",
		"select a from t fetch first 2 rows",
		"select a from t fetch first 2 only",
		"select a from t fetch first 2 rows with tie",
		"select a from t limit 2 fetch first 1 rows only",
	} {
		if _, err := Parse(lexed(text, 0)); err == nil && text != "select a from t offset 3" {
			t.Errorf("%s was read", text)
		}
	}
}

// TestExamined checks that ROWS EXAMINED is noted, and that the rest of LIMIT is read as without it.
func TestExamined(t *testing.T) {
	for text, want := range map[string]string{
		"select a from t limit rows examined 5":                        "select a from t",
		"select a from t limit 2 rows examined 5":                      "select a from t limit 2",
		"select a from t limit 1, 2 rows /* x */ examined ?":           "select a from t limit 1, 2",
		"select a from t limit 2 offset 1 rows examined 5 for update":  "select a from t limit 2 offset 1 for update",
		"select a from (select b a from t limit rows examined 5) x":    "select a from (select b a from t) x",
		"select a from t union select b from t limit rows examined 50": "select a from t union select b from t",
	} {
		_, s := parsed(t, text)
		_, without := parsed(t, want)
		if got, want := slots.ReplaceAllString(picture(s), "$"), slots.ReplaceAllString(picture(without), "$"); got != want || s.Features != without.Features {
			t.Errorf("%s: got %s, want %s", text, got, want)
		}
		if !s.Examined || without.Examined {
			t.Errorf("%s: examined %v, and %v", text, s.Examined, without.Examined)
		}
	}
	if _, s := parsed(t, "select examined from t where examined = 1 and rows_examined = 2"); s.Examined {
		t.Error("a column's name is taken for ROWS EXAMINED")
	}
}

// TestDescribedPattern checks DESCRIBE with a pattern, which is part of no other statement.
func TestDescribedPattern(t *testing.T) {
	for text, want := range map[string]string{
		"describe t '%a'": "t", "desc s.`t` /* x */ '%'": "t", "explain t 'a'": "t", "DESC locus.jobs 'n%'": "jobs LIKE 'n%'",
	} {
		_, s := parsed(t, text)
		got := ""
		if len(s.Tables) > 0 {
			got = s.Tables[0].Name
		}
		if s.Shown != nil {
			got = s.Shown.Table + " " + s.Shown.Clause
		}
		if s.Kind != Show || got != want {
			t.Errorf("%s: kind %d, %q, want %q", text, s.Kind, got, want)
		}
	}
	for _, text := range []string{"describe t 'a' 'b'", "describe t 1", "desc t ?"} {
		if _, err := Parse(lexed(text, 0)); err == nil {
			t.Errorf("%s was read", text)
		}
	}
}
