package txn

import (
	"slices"
	"testing"

	"locus/proxy/twophase"
	"locus/router/stmt"
)

func TestAShardThatJoinsIsSentXAStart(t *testing.T) {
	name := twophase.Name{Transaction: "t", Home: "s0"}
	start := name.Start()
	type list = []string
	for _, test := range []struct {
		scope string
		how   stmt.Opening
		marks list
		want  list
	}{
		{"", stmt.Opening{}, nil, list{start}},
		{"", stmt.Opening{}, list{"a"}, list{start, "SAVEPOINT `a`"}},
		{"", stmt.Opening{Access: stmt.ReadOnly}, nil, list{"SET TRANSACTION READ ONLY", start}},
		{"", stmt.Opening{Access: stmt.ReadWrite, Snapshot: true}, nil, list{"SET TRANSACTION READ WRITE", start}},
		{
			"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE",
			stmt.Opening{},
			list{"begin", "b"},
			list{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", start, "SAVEPOINT `begin`", "SAVEPOINT `b`"},
		},
	} {
		open := transaction{name: name, next: test.scope}
		open.open(test.how)
		for _, name := range test.marks {
			if err := open.mark(stmt.Mark{Verb: "savepoint", Name: name}, false); err != nil {
				t.Fatal(err)
			}
		}
		if got := open.openingXA(); !slices.Equal(got, test.want) {
			t.Errorf("%+v becomes %q, want %q", test, got, test.want)
		}
	}
}
