//go:build servers

package servers

import "testing"

func TestRedisClusterAndSentinels(t *testing.T) {
	c := StartRedisCluster(t)
	if !c.Nodes[0].Master() || c.Nodes[3].Master() {
		t.Error("the roles are others than said")
	}
	w := StartWatched(t)
	if !w.Servers[0].Master() || w.Servers[1].Master() {
		t.Error("the roles are others than said")
	}
}
