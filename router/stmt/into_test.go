package stmt

import (
	"slices"
	"testing"
)

func TestVariablesThatAQueryFills(t *testing.T) {
	for text, want := range map[string][]string{
		"select a, b into @x, @y from t":                          {"x", "y"},
		"select a from t into @X":                                 {"x"},
		"select a from t into /* a */ @x /* b */ , -- c\n @y # d": {"x", "y"},
		"select a from t into @`a``b`, @'c''d', @e.f, @\"g\"":     {"a`b", "c'd", "e.f", "g"},
		"(select a from t into @x)":                               {"x"},
		"(select a into @x from t) for update":                    {"x"},
		"select 1 union (select 2 into @x)":                       {"x"},
		"values row(1) into @x":                                   {"x"},
		"table t into @x, @y for update":                          {"x", "y"},
		"(table t into @x)":                                       {"x"},
		"with c as (select 1) table c into @x":                    {"x"},
		"select t.into, `into` from t":                            nil,
		"select 'into @x' from t":                                 nil,
	} {
		l := lexText(text)
		s, err := Parse(l)
		if err != nil {
			s = &Statement{}
			l.Note(s)
		}
		if !slices.Equal(s.Assigns, want) || (s.Features&SetsUserVariable != 0) != (want != nil) {
			t.Errorf("%s: %q, %v", text, s.Assigns, err)
		}
	}
}

func TestUserVariablesOfATextThatIsNotRead(t *testing.T) {
	l := lexText("select @x := c, '@no', @@sql_mode /* @no */, @`y` := `@no` from (values row(4)) v(c)")
	var s Statement
	if l.Note(&s); !slices.Equal(s.Assigns, []string{"x", "y"}) {
		t.Errorf("%q", s.Assigns)
	}
}

func TestExplainedFromItsFirstParenthesis(t *testing.T) {
	for text, want := range map[string]string{
		"explain (select 1) union select 2": "(select 1) union select 2",
		"explain ((select 1))":              "((select 1))",
		"explain format=json (select 1)":    "(select 1)",
		"explain /* ( */ (select 1)":        "(select 1)",
		"explain select (1)":                "select (1)",
		"explain values row(1)":             "values row(1)",
	} {
		s, err := Parse(lexText(text))
		if err != nil {
			t.Fatal(text, err)
		}
		if s.Kind != Explain || text[s.Inner:] != want {
			t.Errorf("%s: kind %d, %q", text, s.Kind, text[max(s.Inner, 0):])
		}
	}
}

func TestHighNotPrecedence(t *testing.T) {
	for mode, known := range map[string]bool{"": false, "ANSI_QUOTES,HIGH_NOT_PRECEDENCE": true} {
		var l Lexed
		l.Lex([]byte("select a from t where a = not 5"), ModeOf(mode))
		if _, err := Parse(&l); (err == nil) != known {
			t.Errorf("%q: %v", mode, err)
		}
	}
}
