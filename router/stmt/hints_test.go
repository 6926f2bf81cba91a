package stmt

import (
	"slices"
	"testing"
)

func TestHintsAreFacts(t *testing.T) {
	for text, want := range map[string][]string{
		"SELECT 1":                                    nil,
		"SELECT /* x */ '/*+ y */' -- /*+ z */":       nil,
		"SELECT /*+ SET_VAR(sql_select_limit=1) */ 1": {" SET_VAR(sql_select_limit=1) "},
		"INSERT /*+SET_VAR(a=b)*/ INTO t SELECT /*+ RESOURCE_GROUP(x) */ 1": {"SET_VAR(a=b)", " RESOURCE_GROUP(x) "},
		"UPDATE /*+ \n A(b) */ t SET a = 1":                                 {" \n A(b) "},
	} {
		var l Lexed
		l.Lex([]byte(text), 0)
		s, err := Parse(&l)
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if !slices.Equal(s.Hints, want) || !slices.Equal(l.Hints(), want) {
			t.Errorf("%s: hints %q, want %q", text, s.Hints, want)
		}
	}
}
