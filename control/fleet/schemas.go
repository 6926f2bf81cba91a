package fleet

import (
	"context"
	"strings"

	"locus/config/etcd"
	"locus/router"
)

// schemasPrefix is the prefix of the keys, one for each shard, under which proxies share what they have read of its schema.
const schemasPrefix = "schemas/"

// Schemas keeps in etcd what proxies have verified of the shards' schemas. It is safe for concurrent use.
type Schemas struct{ KV *etcd.KV }

// Load returns the stored values by shard.
func (s Schemas) Load(ctx context.Context) (map[router.ShardName][]byte, error) {
	pairs, _, err := s.KV.GetPrefix(ctx, schemasPrefix)
	if err != nil {
		return nil, err
	}
	values := make(map[router.ShardName][]byte, len(pairs))
	for _, p := range pairs {
		values[router.ShardName(strings.TrimPrefix(p.Key, schemasPrefix))] = p.Value
	}
	return values, nil
}

// Store replaces the value of a shard. If two processes write one, either will do.
func (s Schemas) Store(ctx context.Context, shard router.ShardName, value []byte) error {
	_, err := s.KV.Commit(ctx, nil, etcd.Put(schemasPrefix+string(shard), value))
	return err
}
