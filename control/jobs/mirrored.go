package jobs

import (
	"context"
	"time"

	"locus/control/fleet"
	"locus/migrate"
	"locus/proxy/mirror"
	"locus/router"
)

// Applied waits until a job's stream has applied everything at its target that the source had logged when
// Applied was called.
func (s *Store) Applied(ctx context.Context, id string, from, to router.ShardName) error {
	source, err := s.Shard(ctx, from)
	if err != nil {
		return err
	}
	target, err := s.Shard(ctx, to)
	if err != nil {
		return err
	}
	return migrate.Applied(ctx, id, source, target)
}

// mirroredPatience bounds the wait for the proxies' results of mirrored reads.
const mirroredPatience = time.Second

// Mirrored returns the results of mirrored reads by job and proxy. Jobs without mirrored reads and proxies that
// don't answer are missing in it.
func (s *Store) Mirrored(ctx context.Context) (map[string]map[string]mirror.Report, error) {
	answers, err := fleet.AskLately[map[string]mirror.Report](ctx, s.kv, fleet.Mirrored, time.Second, mirroredPatience)
	if err != nil {
		return nil, err
	}
	all := map[string]map[string]mirror.Report{}
	for proxy, byJob := range answers.By {
		for id, r := range byJob {
			if all[id] == nil {
				all[id] = map[string]mirror.Report{}
			}
			all[id][proxy] = r
		}
	}
	return all, nil
}
