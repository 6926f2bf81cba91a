package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// check holds the next cluster to the live shards. old is nil for the first.
func (a *application) check(ctx context.Context, conn *connection, old, next *cluster.Cluster) error {
	if a.skipLiveCheck {
		return a.withoutShards(old, next)
	}
	asked, err := ask(conn, old, next)
	if err != nil {
		return err
	}
	defer asked.close(ctx)
	shards := asked.of(next)
	loaded, err := schema.Load(ctx, shards, next)
	if err != nil {
		return fmt.Errorf("%w\nthe tables can't be checked; --skip-live-check does without", err)
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintln(a.in.stderr, "warning:", w)
	}
	if err := errors.Join(append(schema.Stores(ctx, shards, next), loaded.Problems())...); err != nil {
		return err
	}
	lost, err := a.unfindable(ctx, asked, loaded.Catalog, old, next)
	if err != nil {
		return err
	}
	return a.judge(lost)
}

// unfindable says which rows the next cluster would not find, one text per table and shard.
func (a *application) unfindable(ctx context.Context, asked *askedShards, c *catalog.Catalog, old, next *cluster.Cluster) ([]string, error) {
	found, err := findStranded(ctx, asked, c, old, next)
	if err != nil || found != nil {
		return found, err
	}
	return a.findMisplaced(ctx, asked, c, old, next)
}

// judge refuses to leave rows behind, unless it is forced to.
func (a *application) judge(stranded []string) error {
	if a.forceMove {
		for _, problem := range stranded {
			fmt.Fprintln(a.in.stderr, "warning: forced:", problem)
		}
		return nil
	}
	if stranded == nil {
		return nil
	}
	return fmt.Errorf("%s\nmove these rows first, or leave them behind, invisible, by --force-move-without-data",
		strings.Join(stranded, "\n"))
}

// withoutShards allows only what can leave no rows behind.
func (a *application) withoutShards(old, next *cluster.Cluster) error {
	if old == nil || a.forceMove {
		return nil
	}
	handovers, err := router.Diff(old.Routes, next.Routes)
	if err != nil || len(handovers) == 0 {
		return err
	}
	return fmt.Errorf("genes change hands (%s), and without asking the shards it isn't known whether rows stay behind: "+
		"leave --skip-live-check out, or add --force-move-without-data", handovers[0])
}

// askedShards is the shards of the old and the next cluster, to be asked.
type askedShards struct {
	pools   map[router.ShardName]*backend.Pool
	targets map[router.ShardName]backend.Target
}

// ask opens a pool for each shard, which dials nothing before the first question.
// Secrets that can't be found are reported all at once.
func ask(conn *connection, old, next *cluster.Cluster) (*askedShards, error) {
	declared := maps.Clone(next.Shards)
	if old != nil {
		for name, s := range old.Shards {
			if _, stays := declared[name]; !stays {
				declared[name] = s
			}
		}
	}
	asked := &askedShards{map[router.ShardName]*backend.Pool{}, map[router.ShardName]backend.Target{}}
	var missing []error
	for _, name := range slices.SortedFunc(maps.Keys(declared), router.ShardName.Compare) {
		target, err := schema.Target(name, declared[name], conn.config.Secrets.Lookup)
		if err == nil {
			_, err = target.Password()
		}
		if err != nil {
			missing = append(missing, fmt.Errorf("shard %s: %w", name, err))
			continue
		}
		limits := backend.Limits{MaxOpen: 1, ConnectTimeout: conn.config.Backends.ConnectTimeout.Std()}
		asked.targets[name] = target
		asked.pools[name] = backend.NewPool(target, limits, slog.New(slog.DiscardHandler))
	}
	if missing != nil {
		missing = append(missing, errors.New("without these secrets the tables can't be checked: -c names the configuration that says where they are; --skip-live-check does without"))
	}
	return asked, errors.Join(missing...)
}

// of gives the shards of one cluster.
func (s *askedShards) of(c *cluster.Cluster) map[router.ShardName]schema.Querier {
	queriers := map[router.ShardName]schema.Querier{}
	for name := range c.Shards {
		queriers[name] = s.shard(name)
	}
	return queriers
}

func (s *askedShards) shard(name router.ShardName) schema.Querier {
	return schema.Pooled{Pool: s.pools[name]}
}

func (s *askedShards) close(ctx context.Context) {
	for _, pool := range s.pools {
		_ = pool.Close(ctx) // nothing is lent any more
	}
}
