package demo

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"locus/cmd/dbserver"
	"locus/router"
	"locus/router/cluster"
)

// shard is a running database server, or several of which one is the primary.
type shard struct {
	*member  // the primary of the first start
	name     router.ShardName
	password string
	replicas []*member // the replicas that it had at the first start
}

// names returns the shards whose servers are in this directory: the declared ones, or, for a new cluster, those
// that the options request.
func (d *directory) names(o Options, c *cluster.Cluster) (owning, spare []router.ShardName) {
	if c == nil {
		for i := range o.Shards + o.Spare {
			name := router.ShardName(fmt.Sprintf("s%d", i))
			if i < o.Shards {
				owning = append(owning, name)
			} else {
				spare = append(spare, name)
			}
		}
		return owning, spare
	}
	for _, name := range c.ShardNames() {
		// A shard without a directory was registered by the user, who runs its server.
		if _, err := os.Stat(d.file(string(name))); err != nil {
			continue
		}
		if c.Routes.GenesOf(name).Empty() {
			spare = append(spare, name)
		} else {
			owning = append(owning, name)
		}
	}
	return owning, spare
}

// startShards starts the servers concurrently, with the given number of replicas for each shard. With an error,
// it also returns the shards that did start.
func (d *directory) startShards(ctx context.Context, engine dbserver.Engine, names []router.ShardName, replicas func(router.ShardName) int) ([]*shard, error) {
	installation, err := dbserver.Find(ctx, engine, "")
	if err != nil {
		return nil, err
	}
	shards := make([]*shard, len(names))
	errs := make([]error, len(names))
	var starting sync.WaitGroup
	for i, name := range names {
		starting.Go(func() { shards[i], errs[i] = d.startShard(ctx, installation, name, replicas(name)) })
	}
	starting.Wait()
	var started []*shard
	for _, s := range shards {
		if s != nil {
			started = append(started, s)
		}
	}
	return started, errors.Join(errs...)
}

func (d *directory) startShard(ctx context.Context, installation *dbserver.Installation, name router.ShardName, replicas int) (*shard, error) {
	password, err := d.secret(shardSecret(name), random)
	if err != nil {
		return nil, err
	}
	if replicas > 0 {
		return d.startReplicated(ctx, installation, name, password, replicas)
	}
	server, err := dbserver.Start(ctx, installation, dbserver.Options{Dir: d.file(string(name))})
	if err != nil {
		return nil, fmt.Errorf("shard %s: %w", name, err)
	}
	s := &shard{member: &member{Server: server}, name: name, password: password}
	if err := server.CreateUser(ctx, dbserver.User{Name: shardUser, Password: password}); err != nil {
		return s, fmt.Errorf("shard %s: %w", name, err)
	}
	return s, nil
}

// createTables creates the sample schema where it does not exist yet.
func createTables(ctx context.Context, shards []*shard) error {
	for i, s := range shards {
		statements := everywhere
		if i == 0 {
			statements = append(statements[:len(statements):len(statements)], onFirst...)
		}
		if err := s.Execute(ctx, statements...); err != nil {
			return fmt.Errorf("shard %s: sample schema: %w", s.name, err)
		}
	}
	return nil
}

// serverPatience bounds the shutdown of all servers.
const serverPatience = time.Minute

// stopShards stops the servers concurrently. It ignores servers that have ended before, by themselves or killed
// by the user.
func stopShards(ctx context.Context, shards []*shard) error {
	ctx, cancel := context.WithTimeout(ctx, serverPatience)
	defer cancel()
	var mu sync.Mutex // guards errs
	var errs []error
	var stopping sync.WaitGroup
	for _, s := range shards {
		for _, m := range s.members() {
			select {
			case <-m.Done():
				continue
			default:
			}
			stopping.Go(func() {
				if err := m.Stop(ctx); err != nil {
					mu.Lock()
					defer mu.Unlock()
					errs = append(errs, fmt.Errorf("shard %s: %w", s.name, err))
				}
			})
		}
	}
	stopping.Wait()
	return errors.Join(errs...)
}
