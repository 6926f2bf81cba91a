package jobs

import (
	"context"
	"time"

	"locus/control/fleet"
	"locus/migrate"
	"locus/proxy/mirror"
	"locus/router"
)

// Applied waits until the stream of a job has applied at its target all that the source has logged by now.
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

// mirroredPatience bounds the wait for what the proxies' mirrored reads have shown.
const mirroredPatience = time.Second

// Mirrored is what mirrored reads have shown, by job and by proxy; of a job that mirrors none there is nothing. One that is silent is left
// out.
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
