package overview

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
	c := &cluster.Cluster{Primaries: map[router.ShardName]cluster.Primary{
		"s0": settled, "s1": settled.BeginSwitchover("b:1", "").Release(""), "s2": settled.BeginSwitchover("b:1", "").Promote(""),
	}}
	got := listed(Seen{Declared: c})
	for _, want := range []string{"a switchover to b:1 has not ended; a:1 is the primary", "b:1 is the primary, and it is unknown whether the former primary a:1 follows it"} {
		if !strings.Contains(got, want) {
			t.Errorf("%s lacks %s", got, want)
		}
	}
	if strings.Contains(got, "s0") {
		t.Error(got)
	}
	before := &cluster.Cluster{Primaries: map[router.ShardName]cluster.Primary{"s0": settled, "s1": settled, "s2": settled}}
	if got := listed(Seen{Declared: c, Earlier: before}); got != "" {
		t.Errorf("of switchovers that have just begun: %s", got)
	}
}

// listed returns the findings of primaries with their remedies.
func listed(seen Seen) (text string) {
	for _, f := range primariesFound(seen) {
		text += f.Where + ": " + f.What + "; " + f.Remedy + "\n"
	}
	return text
}

// Writes that wait for a replica are reported with the remedy, and so is what the remedy may lose.
func TestPrimariesWithoutReplicas(t *testing.T) {
	since := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for alone, want := range map[bool][]string{
		false: {"too few have answered its primary a:1 since 2026-01-01T00:00:00Z", "locus switchover s0 --without-replicas"},
		true:  {"may be lost with it: as requested", "writes wait for it again then"},
	} {
		r := failover.Record{Primary: "a:1", Waits: since}
		if alone {
			r.Waits, r.MayLose = time.Time{}, "as requested"
		}
		got := listed(Seen{
			Declared: &cluster.Cluster{
				Shards:    map[router.ShardName]cluster.Shard{"s0": {Failover: cluster.FailoverPromote}},
				Primaries: map[router.ShardName]cluster.Primary{"s0": {Epoch: 2, Server: "a:1", Alone: alone}},
			},
			Notes: Notes{Records: map[router.ShardName]failover.Record{"s0": r}},
		})
		for _, w := range want {
			if !strings.Contains(got, w) {
				t.Errorf("%s lacks %s", got, w)
			}
		}
	}
}
