package twophase

import (
	"context"
	"log/slog"
	"testing"

	"locus/router"
)

// partlyAway are servers one of which doesn't answer.
type partlyAway struct {
	*fakeServers
	away router.ShardName
}

func (s *partlyAway) Exec(ctx context.Context, shard router.ShardName, sql string) (uint64, error) {
	if shard == s.away {
		return 0, errLost
	}
	return s.fakeServers.Exec(ctx, shard, sql)
}

func (s *partlyAway) Query(ctx context.Context, shard router.ShardName, sql string) ([][][]byte, error) {
	if shard == s.away {
		return nil, errLost
	}
	return s.fakeServers.Query(ctx, shard, sql)
}

// A branch that a session left is finished as soon as its shard is back. It need not be proven first that the
// session's process is dead.
func TestWhatIsLeftIsFinishedOnceItsShardIsBack(t *testing.T) {
	servers := &partlyAway{fakeServers: newFakeServers("s0", "s1")}
	c := New(Options{Cluster: "test", Holder: holder, Servers: servers, Log: slog.New(slog.DiscardHandler)})
	n := c.Name("s0")
	servers.shards["s1"].prepared[n.Transaction] = n
	servers.shards["s0"].rows[n.Transaction] = row{committed: true, shards: "s1"}

	servers.away = "s1"
	c.Leave(n)
	c.scan(t.Context())
	servers.away = ""
	c.scan(t.Context())
	if s := servers.shards["s1"]; len(s.prepared) > 0 || !s.committed[n.Transaction] {
		t.Errorf("still in doubt:\n%v", servers)
	}
}
