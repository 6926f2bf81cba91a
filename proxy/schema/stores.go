package schema

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"strings"

	"locus/idgen/row"
	"locus/router"
	"locus/router/cluster"
)

// Stores returns the errors that prevent existing table rows from granting numbers to the generators that are declared to use them. Shards
// that are missing in shards are not queried.
func Stores(ctx context.Context, shards map[router.ShardName]Querier, c *cluster.Cluster) []error {
	var problems []error
	for _, name := range c.GeneratorNames() {
		g := c.Generators[name]
		for i, table := range g.Tables {
			if q := shards[g.Shards[i]]; q != nil {
				if err := checkNumbered(ctx, q, table, g.TimeColumn); err != nil {
					problems = append(problems, fmt.Errorf("generator %s: table %s on shard %s %w", name, table, g.Shards[i], err))
				}
			}
		}
		store := g.Store
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
	if s.Value != "" {
		return checkShape(ctx, q, s.Shape(generator), s.Shard)
	}
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

// checkShape checks the row of a table with columns of another program.
func checkShape(ctx context.Context, q Querier, s row.Shape, shard router.ShardName) error {
	where, which := "", fmt.Sprintf("table %s on shard %s", s.Table, shard)
	if s.Key != "" {
		where, which = " WHERE `"+s.Key+"` = X'"+hex.EncodeToString([]byte(s.Row))+"'", fmt.Sprintf("row %s of %s on shard %s", s.Row, s.Table, shard)
	}
	rows, err := q.Query(ctx, "SELECT `"+s.Value+"` FROM "+s.Table+where+" LIMIT 2")
	switch {
	case err != nil:
		return fmt.Errorf("%s can't be read (%w): correct the table, value and key of the store", which, err)
	case len(rows) == 0:
		return fmt.Errorf("%s is not there: INSERT a row with a %s that is above every number in use", which, s.Value)
	case len(rows) > 1:
		return fmt.Errorf("%s has several rows: give `key:`, the column that distinguishes them, and `tag:`, the row", which)
	}
	return nil
}

// checkNumbered checks a table whose AUTO_INCREMENT column makes numbers.
func checkNumbered(ctx context.Context, q Querier, table, timeColumn string) error {
	schema, name, _ := strings.Cut(table, ".")
	rows, err := q.Query(ctx, "SELECT COLUMN_NAME, EXTRA LIKE '%auto_increment%' FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = '"+schema+"' AND TABLE_NAME = '"+name+
		"' AND (EXTRA LIKE '%auto_increment%' OR COLUMN_NAME = '"+timeColumn+"' OR IS_NULLABLE = 'NO' AND COLUMN_DEFAULT IS NULL AND EXTRA = '')")
	if err != nil {
		return fmt.Errorf("can't be read: %w", err)
	}
	numbered, timed := false, timeColumn == ""
	for _, r := range rows {
		switch column := string(r[0]); {
		case string(r[1]) == "1":
			numbered = true
		case strings.EqualFold(column, timeColumn):
			timed = true
		default:
			return fmt.Errorf("needs a value for column %s: give it a default, or declare `time_column: %s` if it is a time", column, column)
		}
	}
	switch {
	case !numbered:
		return errors.New("does not exist, or has no AUTO_INCREMENT column")
	case !timed:
		return fmt.Errorf("has no column %s", timeColumn)
	}
	return nil
}
