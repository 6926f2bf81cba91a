package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"

	"locus/migrate/link"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Undeclared is the kind of a table that isn't declared.
const Undeclared catalog.Kind = "undeclared"

// undeclared searches for undeclared tables with rows on several shards. Their name is ambiguous.
func (a *audit) undeclared(ctx context.Context) error {
	places := map[catalog.TableName][]router.ShardName{}
	for _, shard := range a.Shards {
		c, err := a.conn(ctx, shard)
		if err != nil {
			return err
		}
		rows, err := c.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES WHERE TABLE_TYPE NOT LIKE '%VIEW'"+
			" AND TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', "+link.Text(stmt.Own)+")")
		if err != nil {
			return fmt.Errorf("list the tables on %s: %w", shard, err)
		}
		for _, row := range rows {
			name := catalog.TableName{Schema: string(row[0]), Name: string(row[1])}
			if _, declared := a.Tables[name]; !declared {
				places[name] = append(places[name], shard)
			}
		}
	}
	names := slices.SortedFunc(maps.Keys(places), catalog.TableName.Compare)
	for _, name := range names {
		if len(places[name]) < 2 {
			continue
		}
		if err := a.ambiguous(ctx, name, places[name]); err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
	}
	return nil
}

func (a *audit) ambiguous(ctx context.Context, name catalog.TableName, places []router.ShardName) error {
	for _, shard := range places {
		rows, err := a.conns[shard].Query(ctx, "SELECT COUNT(*) FROM "+link.Name(name.Schema)+"."+link.Name(name.Name))
		if err != nil {
			return fmt.Errorf("on %s: %w", shard, err)
		}
		n, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
		if err != nil {
			return err
		}
		if n > 0 {
			a.report(Finding{
				Table: name, Shard: shard, Kind: Undeclared, Rows: n, Wrong: n,
				What: "the table is not declared, and several shards have it: declare it, or drop it where it does not belong",
			})
		}
	}
	return nil
}
