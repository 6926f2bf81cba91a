package declared

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/router"
	"locus/router/cluster"
)

// Primary is the document that names a shard's primary. Its guards make a write fail if the document or the shard's
// declaration has changed since it was read.
type Primary struct {
	cluster.Primary
	Cluster *cluster.Cluster
	Shard   router.ShardName
	guard   etcd.Guard // for the shard's declaration
	own     etcd.Guard // for the document
	began   time.Time  // when this process began the change to Next; zero: another process did
}

// ReadPrimary reads the document of a shard. A shard with a single server has none.
func ReadPrimary(ctx context.Context, kv *etcd.KV, shard router.ShardName) (Primary, error) {
	state, err := Read(ctx, kv)
	if err != nil {
		return Primary{}, err
	}
	if state.Cluster == nil {
		return Primary{}, cluster.ErrNotDeclared
	}
	s, there := state.Cluster.Shards[shard]
	switch {
	case !there:
		return Primary{}, fmt.Errorf("shard %s is not registered; there are %v", shard, state.Cluster.ShardNames())
	case s.Unreadable != "":
		return Primary{}, fmt.Errorf("shard %s: %s", shard, s.Unreadable)
	case !s.HasServers():
		return Primary{}, fmt.Errorf("shard %s has one server: list it and its replicas as servers: in cluster.yaml, and run locus apply", shard)
	}
	guard := func(key string) etcd.Guard {
		return etcd.Guard{Key: cluster.Prefix + key, Revision: state.stored[key].Revision}
	}
	p, told := state.Cluster.Primaries[shard]
	if !told {
		p.Server = s.Address
	}
	return Primary{
		Primary: p, Cluster: state.Cluster, Shard: shard, own: guard(cluster.PrimaryKey(shard)),
		guard: guard(cluster.ShardKey(shard)),
	}, nil
}

// Replace replaces the document if neither it nor the shard's declaration has changed since they were read;
// otherwise the error is an *etcd.Conflict. The route map may have changed, because jobs that hand genes over
// guard this document themselves. After any other error nothing was written, except after etcd.ErrUnknown.
func (p Primary) Replace(ctx context.Context, kv *etcd.KV, next cluster.Primary) (Primary, error) {
	now := time.Now()
	writes, _ := events.Add([]etcd.Write{etcd.Put(p.own.Key, next.Encode())}, p.eventOf(next, now)...)
	revision, err := kv.Commit(ctx, []etcd.Guard{p.guard, p.own}, writes...)
	if err != nil {
		return p, err
	}
	if p.Next == "" && next.Next != "" {
		p.began = now
	}
	p.Primary, p.own.Revision = next, revision
	return p, nil
}

// ReleasePrimary ends the pause of statements of an epoch, for a switchover whose process can't do so. It does
// nothing if that epoch is no longer the newest. A process that completed or undid the switchover meanwhile has
// won. If it has not, its write fails.
func ReleasePrimary(ctx context.Context, kv *etcd.KV, shard router.ShardName, epoch int64, by string) error {
	key := cluster.Prefix + cluster.PrimaryKey(shard)
	text, revision, err := kv.Get(ctx, key)
	if err != nil || revision == 0 {
		return err
	}
	p, err := cluster.DecodePrimary(text)
	if err != nil {
		return fmt.Errorf("release the pause of shard %s: %w", shard, err)
	}
	if p.Epoch != epoch || !p.Held {
		return nil
	}
	next := p.Release(by)
	writes, _ := events.Add([]etcd.Write{etcd.Put(key, next.Encode())}, primaryEvent(shard, p, next, time.Time{}, time.Now())...)
	_, err = kv.Commit(ctx, []etcd.Guard{{Key: key, Revision: revision}}, writes...)
	if errors.As(err, new(*etcd.Conflict)) {
		return nil
	}
	return err
}

// Standing is the current document of a shard.
type Standing struct {
	cluster.Primary
	Revision int64 // of the document's key
	// Unreadable is the reason why this build can't decode the document, or nil.
	Unreadable error
}

// Primaries returns the documents of all shards with several servers.
func Primaries(ctx context.Context, kv *etcd.KV) (map[router.ShardName]Standing, error) {
	pairs, _, err := kv.GetPrefix(ctx, cluster.Prefix+cluster.PrimaryPrefix)
	if err != nil {
		return nil, err
	}
	all := make(map[router.ShardName]Standing, len(pairs))
	for _, pair := range pairs {
		p, err := cluster.DecodePrimary(pair.Value)
		if err != nil {
			p, err = cluster.Primary{}, fmt.Errorf("%s can't be used: %w; locus doctor shows the remedy", pair.Key, err)
		}
		all[router.ShardName(strings.TrimPrefix(pair.Key, cluster.Prefix+cluster.PrimaryPrefix))] = Standing{p, pair.Revision, err}
	}
	return all, nil
}

// Epochs returns the current epochs of all shards with several servers. A document that can't be decoded has no epoch, so
// proxies use no connection to that shard.
func Epochs(ctx context.Context, kv *etcd.KV) (map[router.ShardName]int64, error) {
	all, err := Primaries(ctx, kv)
	if err != nil {
		return nil, err
	}
	epochs := make(map[router.ShardName]int64, len(all))
	for name, p := range all {
		if p.Unreadable == nil {
			epochs[name] = p.Epoch
		}
	}
	return epochs, nil
}
