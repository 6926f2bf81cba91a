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

// clusterName is the default name in all commands, so that they need only --etcd.
const clusterName = "main"

func prefix() string { return "/locus/" + clusterName + "/" }

// declareShards declares the servers' addresses: in the existing cluster, of which everything else stays, or in
// a new one.
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
	if err := state.Commit(ctx, kv, next, stamp); err != nil {
		return fmt.Errorf("declare the cluster: %w", err)
	}
	return nil
}

// moved returns the cluster with new addresses of its servers. Shards with several servers keep their
// addresses. A cluster from a demo without the user dba gets this user.
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
