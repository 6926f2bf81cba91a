package stmt

import (
	"slices"
	"testing"
)

func TestVariablesIn(t *testing.T) {
	for body, want := range map[string][]string{
		"BEGIN SET @a = 1, @`b ``c` := 2; SELECT 3 INTO @'d e', @\"F\"; END": {"a", "b `c", "d e", "f"},
		`SET @'it''s' = 1, @"a\"b" = 2, @'c\\d' = 3`:                         {"it's", `a"b`, `c\d`},
		"SET @@global.x = 1":                   {"global.x"},
		"SET @text = 'SET @hidden = 9'":        {"text", "hidden"},
		"SELECT 1 -- nothing":                  nil,
		"SET @größe = @a.b$c_9 /* @comment */": {"größe", "a.b$c_9", "comment"},
	} {
		if got := VariablesIn(body); !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}
