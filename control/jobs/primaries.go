package jobs

import (
	"context"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/migrate"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/router"
	"locus/router/cluster"
)

// primaries returns the primaries of a job's shards.
func (s *Store) primaries(ctx context.Context, j *job.Job) (map[router.ShardName]migrate.Primary, error) {
	all, err := declared.Primaries(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	of := map[router.ShardName]migrate.Primary{}
	for _, name := range shardsOf(j) {
		p := all[name]
		if p.Unreadable != nil {
			return nil, p.Unreadable
		}
		of[name] = migrate.Primary{Server: p.Server, Changing: p.Next != "", Revision: p.Revision}
	}
	return of, nil
}

// shardsOf returns the shards between which a job moves rows.
func shardsOf(j *job.Job) (list []router.ShardName) {
	if j.Outside() == nil {
		list = append(list, j.From)
	}
	for _, l := range j.Legs() {
		list = append(list, l.To)
	}
	return list
}

// asTheyWere returns guards which fail a write if a shard's primary has changed, or started to change, since
// the snapshot.
func asTheyWere(snap migrate.Snapshot) (guards []etcd.Guard) {
	for name, p := range snap.Primaries {
		guards = append(guards, etcd.Guard{Key: cluster.Prefix + cluster.PrimaryKey(name), Revision: p.Revision})
	}
	return guards
}

// Replicas returns the servers of a shard that may replace its primary.
func (s *Store) Replicas(ctx context.Context, name router.ShardName) (list []link.Server, err error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	shard := c.Shards[name]
	if !shard.HasServers() {
		return nil, nil
	}
	for _, r := range shard.Replicas {
		other := shard
		other.Address = r.Address
		server, err := s.server(name, other)
		if err != nil {
			return nil, err
		}
		list = append(list, server)
	}
	return list, nil
}
