package schema

import (
	"context"
	"encoding/hex"
	"fmt"

	"locus/router"
	"locus/router/cluster"
)

// Stores returns the errors that prevent existing table rows from granting numbers to the generators that are declared to use them. Shards
// that are missing in shards are not queried.
func Stores(ctx context.Context, shards map[router.ShardName]Querier, c *cluster.Cluster) []error {
	var problems []error
	for _, name := range c.GeneratorNames() {
		store := c.Generators[name].Store
		if store == nil || store.MySQL.Table == "" {
			continue // the store is etcd, or a table that is created at its first use
		}
		if q := shards[store.MySQL.Shard]; q != nil {
			if err := checkStoreRow(ctx, q, name, *store.MySQL); err != nil {
				problems = append(problems, fmt.Errorf("generator %s: %w", name, err))
			}
		}
	}
	return problems
}

// checkStoreRow checks the row and its columns. The column version may be missing, as in the tables of Leaf.
func checkStoreRow(ctx context.Context, q Querier, generator string, s cluster.MySQLStore) error {
	table, tag := s.RowOf(generator)
	if s.EveryTag {
		if _, err := q.Query(ctx, "SELECT biz_tag, step, max_id, update_time FROM "+table+" LIMIT 0"); err != nil {
			return fmt.Errorf("%s on shard %s can't be read (%w): make the table with biz_tag, max_id, step, version and update_time, or correct the store", table, s.Shard, err)
		}
		return nil
	}
	rows, err := q.Query(ctx, "SELECT step, max_id, update_time FROM "+table+" WHERE biz_tag = X'"+hex.EncodeToString([]byte(tag))+"'")
	switch where := fmt.Sprintf("row %s of %s on shard %s", tag, table, s.Shard); {
	case err != nil:
		return fmt.Errorf("%s can't be read (%w): make the table with biz_tag, max_id, step, version and update_time, or correct the store", where, err)
	case len(rows) == 0:
		return fmt.Errorf("%s is not there: INSERT it with a max_id that is above every number in use", where)
	case string(rows[0][0]) == "0":
		return fmt.Errorf("%s has step 0, which grants nothing: UPDATE it to 1 or more", where)
	}
	return nil
}
