package fleet

import (
	"context"

	"locus/config/etcd"
	"locus/internal/steps"
	"locus/router"
)

// BehindMap returns the live proxies that obey an earlier version of the route map.
func BehindMap(ctx context.Context, kv *etcd.KV, version int64) ([]steps.Missing, error) {
	cards, err := Cards(ctx, kv)
	obeyed := make(map[string]int64, len(cards))
	for _, c := range cards {
		obeyed[c.ID] = c.MapVersion
	}
	return steps.Behind(obeyed, version, "map version"), err
}

// BehindPrimary returns the live proxies that obey an earlier epoch of a shard's primary.
func BehindPrimary(ctx context.Context, kv *etcd.KV, shard router.ShardName, epoch int64) ([]steps.Missing, error) {
	cards, err := Cards(ctx, kv)
	obeyed := make(map[string]int64, len(cards))
	for _, c := range cards {
		obeyed[c.ID] = c.Primaries[shard]
	}
	return steps.Behind(obeyed, epoch, "epoch"), err
}
