package jobs

import (
	"context"
	"fmt"
	"maps"
	"slices"

	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Undeclarable returns an error if a shard that owns genes has a table whose declaration can't be used.
func (s *Store) Undeclarable(ctx context.Context, c *cluster.Cluster) error {
	if len(c.Refused) == 0 {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(c.Refused), catalog.TableName.Compare)
	for _, shard := range c.Routes.Shards() {
		if err := s.lacks(ctx, shard, names, c); err != nil {
			return err
		}
	}
	return nil
}

// lacks returns an error if a shard has one of the tables.
func (s *Store) lacks(ctx context.Context, shard router.ShardName, names []catalog.TableName, c *cluster.Cluster) error {
	server, err := s.Shard(ctx, shard)
	if err != nil {
		return err
	}
	conn, err := link.Dial(ctx, server)
	if err != nil {
		return fmt.Errorf("shard %s: %w", shard, err)
	}
	defer conn.Close()
	for _, name := range names {
		rows, err := conn.Query(ctx, fmt.Sprintf("SELECT 1 FROM information_schema.TABLES WHERE TABLE_SCHEMA = %s AND TABLE_NAME = %s",
			link.Text(name.Schema), link.Text(name.Name)))
		if err != nil {
			return fmt.Errorf("shard %s: %w", shard, err)
		}
		if len(rows) > 0 {
			return fmt.Errorf("shard %s has table %s, and whether its rows have genes is not known: %s", shard, name, c.Refused[name])
		}
	}
	return nil
}
