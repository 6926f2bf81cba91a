package demo

import (
	"testing"

	"locus/router"
	"locus/router/cluster"
)

// Shards with replicas keep their declared servers, whichever of them is the primary. Other shards get the
// current addresses.
func TestDeclareReplicas(t *testing.T) {
	at := map[router.ShardName][]string{"s0": {"127.0.0.1:1", "127.0.0.1:2"}, "s1": {"127.0.0.1:3"}}
	c, err := declare([]router.ShardName{"s0"}, []router.ShardName{"s1"}, at)
	if err != nil {
		t.Fatal(err)
	}
	if s := c.Shards["s0"]; s.Failover != cluster.FailoverPromote || s.Address != "127.0.0.1:1" || s.Admin.User != adminUser {
		t.Errorf("%+v", s)
	}
	at["s0"], at["s1"] = []string{"127.0.0.1:2", "127.0.0.1:1"}, []string{"127.0.0.1:4"} // the addresses were declared in another order before
	next, err := moved(c, at)
	if err != nil {
		t.Fatal(err)
	}
	if next.Shards["s0"].Address != "127.0.0.1:1" || next.Shards["s1"].Address != "127.0.0.1:4" {
		t.Errorf("%+v", next.Shards)
	}
	for name, want := range map[router.ShardName]int{"s0": 1, "s1": 0} {
		if got := replicas(Options{Replicas: 7}, c)(name); got != want {
			t.Errorf("%s has %d replicas", name, got)
		}
	}
	if got := replicas(Options{Replicas: 7}, nil)("s9"); got != 7 {
		t.Errorf("a new shard has %d replicas", got)
	}
}
