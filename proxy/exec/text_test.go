package exec

import (
	"testing"

	"locus/proxy/wire"
	"locus/router/plan"
	"locus/router/stmt"
)

// planned returns the values of a text, and a merge with its LIMIT.
func planned(t *testing.T, text string, bound ...stmt.Value) (*plan.Values, *plan.Merge) {
	t.Helper()
	var l stmt.Lexed
	l.Lex([]byte(text), 0)
	s, err := stmt.Parse(&l)
	if err != nil {
		t.Fatal(err)
	}
	var args stmt.Args
	args.Reset(&l, bound)
	return &plan.Values{Args: &args}, &plan.Merge{Limit: s.Blocks[0].Limit, Columns: []plan.Splice{plan.Splice{At: s.Blocks[0].From, Text: ", b "}}}
}

// TestForMerge: each shard is sent a LIMIT that begins at its first row and ends at the end of the client's.
func TestForMerge(t *testing.T) {
	for _, c := range []struct {
		text, want string
		limit      plan.Window
		kind       plan.MergeKind
	}{
		{"select a from t", "select a from t", plan.Window{}, plan.Concat},
		{"select a from t limit 5", "select a from t limit 5", plan.Window{Count: 5, Set: true}, plan.Concat},
		{"select a from t limit 7, 5", "select a from t limit 0, 12", plan.Window{Offset: 7, Count: 5, Set: true}, plan.Concat},
		{"select a from t limit 5 offset 7", "select a from t limit 12 offset 0", plan.Window{Offset: 7, Count: 5, Set: true}, plan.Ordered},
		{"select count(*) from t limit 5", "select count(*) from t limit 1", plan.Window{Count: 5, Set: true}, plan.Aggregated},
		{
			"select a from t limit 18446744073709551615 offset 2", "select a from t limit 18446744073709551615 offset 0",
			plan.Window{Offset: 2, Count: 1<<64 - 1, Set: true},
			plan.Concat,
		},
	} {
		v, m := planned(t, c.text)
		m.Kind = c.kind
		limit, edits, ok := m.Edits(v)
		if got := string(stmt.AppendEdited(nil, v.Text, edits)); !ok || got != c.want || limit != c.limit {
			t.Errorf("%s: %s, %+v, %t; want %s, %+v", c.text, got, limit, ok, c.want, c.limit)
		}
	}
}

// TestHiddenColumns: hidden columns are inserted before the edits of LIMIT.
func TestHiddenColumns(t *testing.T) {
	v, m := planned(t, "select a from t limit 5 offset 1")
	m.Hidden = 1
	_, edits, ok := m.Edits(v)
	if got, want := string(stmt.AppendEdited(nil, v.Text, edits)), "select a , b from t limit 6 offset 0"; !ok || got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// TestBind: the numbers of a prepared statement's LIMIT become parameters, and its text stays the same.
func TestBind(t *testing.T) {
	const text = "select a from t where b = ? limit ? offset ?"
	v, m := planned(t, text, stmt.IntValue(1), stmt.IntValue(5), stmt.UintValue(7))
	limit, edits, ok := m.Edits(v)
	if want := (plan.Window{Offset: 7, Count: 5, Set: true}); !ok || limit != want {
		t.Errorf("%+v", limit)
	}
	params := make([]wire.Param, 3)
	kept := bindNumbers(v.Lexed, append([]stmt.Edit{{Text: "x"}}, edits...), params)
	if len(kept) != 1 || kept[0].Text != "x" {
		t.Errorf("%v are not parameters", kept)
	}
	if params[0].Value != nil || wire.Uint(params[1].Value) != 12 || wire.Uint(params[2].Value) != 0 || !params[1].Unsigned() {
		t.Errorf("%+v", params)
	}
}

func TestNoLimitNumber(t *testing.T) {
	for _, bound := range [][]stmt.Value{
		{stmt.IntValue(-1), stmt.IntValue(1)}, {stmt.IntValue(1), stmt.IntValue(-1)}, {{Kind: stmt.Null}, stmt.IntValue(1)},
	} {
		v, m := planned(t, "select a from t limit ? offset ?", bound...)
		if _, _, ok := m.Edits(v); ok {
			t.Errorf("LIMIT takes %v", bound)
		}
	}
}
