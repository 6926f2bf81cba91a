package proxy

import (
	"context"
	"errors"
	"strings"
	"testing"

	"locus/router"
	"locus/router/stmt"
)

func TestShardsReadTextsAlike(t *testing.T) {
	const usual = "STRICT_TRANS_TABLES,NO_ENGINE_SUBSTITUTION"
	for _, c := range []struct {
		modes []string
		mode  stmt.Mode
		err   string
	}{
		{[]string{usual, usual}, 0, ""},
		{[]string{usual, "", "ONLY_FULL_GROUP_BY"}, 0, ""}, // these modes have the same effect on the parsing of texts
		{[]string{"ANSI_QUOTES", "ansi_quotes," + usual, usual + ", ANSI_QUOTES"}, stmt.AnsiQuotes, ""},
		{[]string{"REAL_AS_FLOAT,PIPES_AS_CONCAT,ANSI_QUOTES,IGNORE_SPACE,ANSI"}, stmt.AnsiQuotes | stmt.PipesConcat | stmt.IgnoreSpace, ""},
		{[]string{usual, "ANSI_QUOTES"}, 0, `another way than shard s0: their global sql_mode is "ANSI_QUOTES" here and "` + usual + `" there`},
		{[]string{"ANSI_QUOTES", "ANSI_QUOTES", ""}, 0, "another way than shard s0"},
		{[]string{usual, "NO_BACKSLASH_ESCAPES"}, 0, "another way"},
		{[]string{"HIGH_NOT_PRECEDENCE", usual}, 0, "another way"},
		{[]string{"EMPTY_STRING_IS_NULL," + usual}, 0, "SET GLOBAL sql_mode without it"},
		{[]string{usual, "empty_string_is_null"}, 0, "has EMPTY_STRING_IS_NULL"},
		{nil, 0, ""},
	} {
		var common commonMode
		var err error
		for i, text := range c.modes {
			if err == nil {
				err = common.add(router.ShardName("s"+string(rune('0'+i))), text)
			}
		}
		switch {
		case c.err == "" && (err != nil || common.mode != c.mode):
			t.Errorf("%q: %v, %v, want %v", c.modes, common.mode, err, c.mode)
		case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
			t.Errorf("%q: %v, want %q", c.modes, err, c.err)
		}
	}
}

// answering is a Querier with one answer to all queries.
type answering struct {
	rows [][][]byte
	err  error
}

func (a answering) Query(context.Context, string) ([][][]byte, error) { return a.rows, a.err }

func TestGlobalModeIsRead(t *testing.T) {
	refused := errors.New("refused")
	for _, c := range []struct {
		answer answering
		mode   string
		err    error
	}{
		{answering{rows: [][][]byte{{[]byte("ANSI_QUOTES")}}}, "ANSI_QUOTES", nil},
		{answering{rows: [][][]byte{{nil}}}, "", nil},
		{answering{err: refused}, "", refused},
		{answering{}, "", errNoMode},
		{answering{rows: [][][]byte{{}}}, "", errNoMode},
		{answering{rows: [][][]byte{{nil}, {nil}}}, "", errNoMode},
	} {
		mode, err := globalMode(t.Context(), c.answer)
		if mode != c.mode || !errors.Is(err, c.err) {
			t.Errorf("%q, %v, want %q, %v", mode, err, c.mode, c.err)
		}
	}
}
