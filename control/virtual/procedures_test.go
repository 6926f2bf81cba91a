package virtual

import (
	"testing"
	"time"

	"locus/router/stmt"
)

// TestNumbers distinguishes an argument that is left out, or NULL, from an empty text, which is not a number.
func TestNumbers(t *testing.T) {
	text := func(s string) stmt.Value { return stmt.Value{Kind: stmt.String, Text: []byte(s)} }
	number := func(n float64) *float64 { return &n }
	job := text("split-1")
	for what, test := range map[string]struct {
		args []stmt.Value
		want *float64
		bad  bool
	}{
		"not given":    {[]stmt.Value{job}, nil, false},
		"NULL":         {[]stmt.Value{job, {Kind: stmt.Null}}, nil, false},
		"a text":       {[]stmt.Value{job, text("40")}, number(40), false},
		"a percentage": {[]stmt.Value{job, text(" 40% ")}, number(40), false},
		"an empty one": {[]stmt.Value{job, text("")}, nil, true},
		"a word":       {[]stmt.Value{job, text("all")}, nil, true},
	} {
		c := &call{args: test.args}
		got := c.number(1)
		if (c.bad != "") != test.bad || !test.bad && (got == nil) != (test.want == nil) || test.want != nil && *got != *test.want {
			t.Errorf("%s: %v, %q", what, got, c.bad)
		}
	}
}

// TestProceduresThatCopyRowsHaveMoreTime than others.
func TestProceduresThatCopyRowsHaveMoreTime(t *testing.T) {
	for name, want := range map[string]time.Duration{
		"rebalance": copyPatience, "shard_fill": copyPatience, "shard_remove": copyPatience, "routes_rollback": copyPatience, "drain": callPatience, "split": callPatience,
	} {
		if got := procedures[name].patience(); got != want {
			t.Errorf("%s has %v", name, got)
		}
	}
}
