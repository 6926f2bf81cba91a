package schema

import (
	"context"
	"fmt"
	"slices"

	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/stmt"
)

// Undeclared returns up to 20 tables and views on one shard that the cluster doesn't declare. On the default shard these are the undeclared
// tables of the cluster. The proxies' own tables are omitted, since each shard has its own.
func Undeclared(ctx context.Context, q Querier, c *cluster.Cluster) ([]catalog.TableName, error) {
	rows, err := q.Query(ctx, "SELECT TABLE_SCHEMA, TABLE_NAME FROM information_schema.TABLES "+
		"WHERE TABLE_SCHEMA NOT IN ('mysql', 'information_schema', 'performance_schema', 'sys', "+text(stmt.Own)+") ORDER BY 1, 2")
	if err != nil {
		return nil, fmt.Errorf("list tables: %w", err)
	}
	var names []catalog.TableName
	for _, row := range rows {
		name := catalog.TableName{Schema: string(row[0]), Name: string(row[1])}
		if _, declared := c.Tables[name]; !declared && len(names) < 20 {
			names = append(names, name)
		}
	}
	return names, nil
}

// AnyRow reports whether a table has a row on one shard.
func AnyRow(ctx context.Context, q Querier, name catalog.TableName) (bool, error) {
	rows, err := q.Query(ctx, "SELECT 1 FROM "+quoteName(name.Schema)+"."+quoteName(name.Name)+" LIMIT 1")
	if err != nil {
		return false, fmt.Errorf("look for rows in table %s: %w", name, err)
	}
	return len(rows) > 0, nil
}

// Exists reports whether one shard has a table or view.
func Exists(ctx context.Context, q Querier, name catalog.TableName) (bool, error) {
	rows, err := q.Query(ctx, "SELECT TABLE_NAME FROM information_schema.TABLES WHERE TABLE_SCHEMA = "+text(name.Schema)+
		" AND TABLE_NAME = "+text(name.Name))
	if err != nil {
		return false, fmt.Errorf("look for table %s: %w", name, err)
	}
	for _, row := range rows {
		if string(row[0]) == name.Name {
			return true, nil
		}
	}
	return false, nil
}

// HasColumn reports whether a table has a column on one shard.
func HasColumn(ctx context.Context, q Querier, name catalog.TableName, column string) (bool, error) {
	rows, err := q.Query(ctx, "SELECT TABLE_NAME FROM information_schema.COLUMNS WHERE TABLE_SCHEMA = "+text(name.Schema)+
		" AND TABLE_NAME = "+text(name.Name)+" AND COLUMN_NAME = "+text(column))
	if err != nil {
		return false, fmt.Errorf("look for column %s of table %s: %w", column, name, err)
	}
	return slices.ContainsFunc(rows, func(row [][]byte) bool { return string(row[0]) == name.Name }), nil
}
