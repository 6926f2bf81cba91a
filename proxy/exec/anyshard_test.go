package exec

import (
	"testing"

	"locus/proxy/health"
	"locus/router"
)

// states returns a snapshot in which the shards' primaries have the given states, and their replicas are down.
func states(of map[router.ShardName]health.State) func() *health.Snapshot {
	var list []health.Status
	for shard, state := range of {
		list = append(list, health.Status{Shard: shard, State: state}, health.Status{Shard: shard, Replica: true, State: health.Away})
	}
	known := health.NewSnapshot(list)
	return func() *health.Snapshot { return known }
}

func TestWhichShardAnswersWhatAnyCould(t *testing.T) {
	all := []router.ShardName{"s0", "s1", "s2"}
	for _, c := range []struct {
		name   string
		states map[router.ShardName]health.State
		chosen int
		tried  []router.ShardName
		want   router.ShardName // empty: none
	}{
		{name: "no state is known", want: "s0"},
		{name: "no state is known, and another is chosen", chosen: 2, want: "s2"},
		{name: "all are healthy", states: map[router.ShardName]health.State{"s0": health.Well, "s1": health.Well}, want: "s0"},
		{name: "it is read-only", states: map[router.ShardName]health.State{"s0": health.ReadOnly}, want: "s0"},
		{name: "it is slow", states: map[router.ShardName]health.State{"s0": health.Slow}, want: "s1"},
		{name: "it is unresponsive, and so is the next", states: map[router.ShardName]health.State{"s0": health.Frozen, "s1": health.Frozen}, want: "s2"},
		{name: "the last is down", states: map[router.ShardName]health.State{"s2": health.Away}, chosen: 2, want: "s0"},
		{name: "a slow one precedes those that are down", states: map[router.ShardName]health.State{"s0": health.Away, "s1": health.Slow, "s2": health.Frozen}, want: "s1"},
		{name: "all are down", states: map[router.ShardName]health.State{"s0": health.Away, "s1": health.Away, "s2": health.Away}, chosen: 1, want: "s1"},
		{name: "it was tried", tried: []router.ShardName{"s0"}, want: "s1"},
		{name: "all were tried", tried: all},
	} {
		e := &Engine{Config: Config{Health: states(c.states)}}
		got, found := e.bestOf(Candidates{all, c.chosen}, c.tried)
		if got != c.want || found != (c.want != "") {
			t.Errorf("%s: %q, %v, want %q", c.name, got, found, c.want)
		}
	}
}

// TestChoosingAShardAllocatesNothing: choosing a shard is on the path of frequent statements, so it must not allocate.
func TestChoosingAShardAllocatesNothing(t *testing.T) {
	e := &Engine{Config: Config{Health: states(map[router.ShardName]health.State{"s0": health.Frozen})}}
	all := []router.ShardName{"s0", "s1", "s2"}
	if n := testing.AllocsPerRun(100, func() { e.bestOf(Candidates{all, 0}, nil) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
