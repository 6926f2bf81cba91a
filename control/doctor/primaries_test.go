package doctor

import (
	"strings"
	"testing"
	"time"

	"locus/control/failover"
	"locus/router"
	"locus/router/cluster"
)

func TestSwitchoversThatHaveNotEnded(t *testing.T) {
	settled := cluster.Primary{Epoch: 1, Server: "a:1"}
	e := at(Options{Cluster: &cluster.Cluster{Primaries: map[router.ShardName]cluster.Primary{
		"s0": settled, "s1": settled.BeginSwitchover("b:1", "").Release(""), "s2": settled.BeginSwitchover("b:1", "").Promote(""),
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

// Writes that wait for a replica are told with the way out, and what may be lost by that with what ends it.
func TestPrimariesWithoutReplicas(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for alone, want := range map[bool][]string{
		false: {"too few have answered its primary a:1 since 2026-01-01T00:00:00Z", "locus switchover s0 --without-replicas"},
		true:  {"may be lost with it: as was ordered", "writes wait for it again then"},
	} {
		e := at(Options{Cluster: &cluster.Cluster{Primaries: map[router.ShardName]cluster.Primary{"s0": {Epoch: 2, Server: "a:1", Alone: alone}}}})
		r := failover.Record{Primary: "a:1", Waits: since}
		if alone {
			r.Waits, r.MayLose = time.Time{}, "as was ordered"
		}
		e.failover("s0", r)
		got := ""
		for _, f := range e.findings {
			got += f.What + "; " + f.Remedy + "\n"
		}
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %s", got, w)
			}
		}
	}
}
