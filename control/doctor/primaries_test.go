package doctor

import (
	"strings"
	"testing"

	"locus/router"
	"locus/router/cluster"
)

func TestSwitchoversThatHaveNotEnded(t *testing.T) {
	settled := cluster.Primary{Epoch: 1, Server: "a:1"}
	e := at(Options{Cluster: &cluster.Cluster{Primaries: map[router.ShardName]cluster.Primary{
		"s0": settled, "s1": settled.Hold("b:1", "").Release(""), "s2": settled.Hold("b:1", "").Turn(""),
	}}})
	e.primaries(t.Context())
	got := e.found()
	for _, want := range []string{"a switchover to b:1 has not ended; a:1 is the primary", "b:1 is the primary, and a:1, which was"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if strings.Contains(got, "s0") {
		t.Error(got)
	}
}
