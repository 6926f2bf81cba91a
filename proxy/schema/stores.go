package schema

import (
	"context"
	"encoding/hex"
	"fmt"

	"locus/router"
	"locus/router/cluster"
)

// Stores says what keeps rows of tables that are there from granting numbers to the
// generators that are declared to take theirs from them. Shards that are missing among
// those given are not asked.
func Stores(ctx context.Context, shards map[router.ShardName]Querier, c *cluster.Cluster) []error {
	var problems []error
	for _, name := range c.GeneratorNames() {
		store := c.Generators[name].Store
		if store == nil || store.MySQL.Table == "" {
			continue // it is etcd, or made when it is first used
		}
		if q := shards[store.MySQL.Shard]; q != nil {
			if err := granting(ctx, q, name, *store.MySQL); err != nil {
				problems = append(problems, fmt.Errorf("generator %s: %w", name, err))
			}
		}
	}
	return problems
}

// granting looks for the row with all its columns. A version may be missing, as in the tables of Leaf.
func granting(ctx context.Context, q Querier, generator string, s cluster.MySQLStore) error {
	table, tag := s.RowOf(generator)
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
