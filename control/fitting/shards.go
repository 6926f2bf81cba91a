package fitting

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"time"

	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/cluster"
)

// Shards gives access to the shards of the old and the new cluster.
type Shards struct {
	pools   map[router.ShardName]*backend.Pool
	targets map[router.ShardName]backend.Target
}

// Open opens a pool for each shard. A pool dials its first connection for the first query. Open reports all
// missing secrets in one error. Old may be nil.
func Open(secrets func(string) (string, error), connect time.Duration, old, next *cluster.Cluster) (*Shards, error) {
	declared := maps.Clone(next.Shards)
	if old != nil {
		for name, s := range old.Shards {
			if _, stays := declared[name]; !stays {
				declared[name] = s
			}
		}
	}
	shards := &Shards{map[router.ShardName]*backend.Pool{}, map[router.ShardName]backend.Target{}}
	var missing []error
	for _, name := range slices.SortedFunc(maps.Keys(declared), router.ShardName.Compare) {
		target, err := schema.Target(name, declared[name], secrets)
		if err == nil {
			_, err = target.Password()
		}
		if err != nil {
			missing = append(missing, fmt.Errorf("shard %s: %w", name, err))
			continue
		}
		shards.targets[name] = target
		shards.pools[name] = backend.NewPool(target, backend.Limits{MaxOpen: 1, ConnectTimeout: connect}, slog.New(slog.DiscardHandler))
	}
	return shards, errors.Join(missing...)
}

// Of returns the shards of one of the two clusters.
func (s *Shards) Of(c *cluster.Cluster) map[router.ShardName]schema.Querier {
	queriers := map[router.ShardName]schema.Querier{}
	for name := range c.Shards {
		queriers[name] = s.shard(name)
	}
	return queriers
}

func (s *Shards) shard(name router.ShardName) schema.Querier {
	return schema.Pooled{Pool: s.pools[name]}
}

// Close closes the connections. No query may run or follow.
func (s *Shards) Close(ctx context.Context) {
	for _, pool := range s.pools {
		_ = pool.Close(ctx) // no connection is in use any more
	}
}
