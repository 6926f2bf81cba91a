package session

import (
	"slices"
	"testing"

	"locus/proxy/twophase"
)

func TestAShardThatJoinsIsSentXAStart(t *testing.T) {
	name := twophase.Name{Transaction: "t", Home: "s0"}
	start := name.Start()
	for _, test := range []struct {
		opening, want []string
	}{
		{[]string{"BEGIN"}, []string{start}},
		{nil, []string{start}}, // autocommit is off
		{[]string{"SAVEPOINT a"}, []string{start, "SAVEPOINT a"}},
		{[]string{"START TRANSACTION READ ONLY"}, []string{"SET TRANSACTION READ ONLY", start}},
		{[]string{"start  transaction\tread write"}, []string{"SET TRANSACTION READ WRITE", start}},
		{
			[]string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", "BEGIN", "SAVEPOINT begin", "SAVEPOINT b"},
			[]string{"SET TRANSACTION ISOLATION LEVEL SERIALIZABLE", start, "SAVEPOINT begin", "SAVEPOINT b"},
		},
	} {
		txn := transaction{opening: test.opening, name: name}
		if got := txn.openingXA(); !slices.Equal(got, test.want) {
			t.Errorf("%q becomes %q, want %q", test.opening, got, test.want)
		}
	}
}
