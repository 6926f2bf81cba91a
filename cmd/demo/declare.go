package demo

import (
	"context"
	"fmt"
	"maps"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/router"
	"locus/router/cluster"
)

// clusterName is the default of all commands, so that --etcd is all they need.
const clusterName = "main"

func prefix() string { return "/locus/" + clusterName + "/" }

// declareShards registers where the servers listen: in the cluster that is
// declared, of which all else stays as it is, or in a new one.
func declareShards(ctx context.Context, kv *etcd.KV, state *declared.State, owning, spare []router.ShardName, shards []*shard) error {
	addresses := map[router.ShardName][]string{}
	for _, s := range shards {
		addresses[s.name] = s.addresses()
	}
	next, err := moved(state.Cluster, addresses)
	if state.Cluster == nil {
		next, err = declare(owning, spare, addresses)
	}
	if err != nil {
		return err
	}
	stamp := router.Stamp{By: "locus demo", Why: "the first start", At: time.Now()}
	if next, err = cluster.Succeed(state.Cluster, next, stamp); err != nil {
		return err
	}
	changes, err := cluster.Diff(state.Cluster, next)
	if err != nil || len(changes) == 0 {
		return err
	}
	if err := state.Commit(ctx, kv, next); err != nil {
		return fmt.Errorf("declare the cluster: %w", err)
	}
	return nil
}

// moved is the cluster with its servers at other addresses, but for those of shards with several, which keep theirs. A demo of before there
// was a dba gets one.
func moved(c *cluster.Cluster, addresses map[router.ShardName][]string) (*cluster.Cluster, error) {
	if c == nil {
		return nil, nil
	}
	next := *c
	next.Shards = maps.Clone(c.Shards)
	for name, at := range addresses {
		if s := next.Shards[name]; len(s.Servers) == 0 {
			s.Address = at[0]
			next.Shards[name] = s
		}
	}
	if _, there := c.Users[dbaUser]; !there {
		next.Users = maps.Clone(c.Users)
		next.Users[dbaUser] = dba
	}
	return &next, next.Validate()
}
