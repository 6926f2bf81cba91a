package newshard

import (
	"context"

	"locus/migrate/link"
	"locus/router/catalog"
)

// notebook is a table on the new shard that lists the global tables which don't have all rows yet. If the
// process is killed, a later run continues, and knows that the existing rows are copies.
const notebook = "`locus`.`new_shard`"

// Error codes of servers.
const (
	unknownTable  = 1146
	unknownSchema = 1049
)

func notes(ctx context.Context, c *link.Conn) (map[catalog.TableName]bool, error) {
	rows, err := c.Query(ctx, "SELECT table_schema, table_name FROM "+notebook)
	if code := link.Code(err); code == unknownTable || code == unknownSchema {
		return nil, nil
	}
	noted := map[catalog.TableName]bool{}
	for _, r := range rows {
		noted[catalog.TableName{Schema: string(r[0]), Name: string(r[1])}] = true
	}
	return noted, err
}

func note(ctx context.Context, c *link.Conn, names []catalog.TableName) error {
	if len(names) == 0 {
		return nil
	}
	for _, s := range []string{
		"CREATE DATABASE IF NOT EXISTS `locus`",
		"CREATE TABLE IF NOT EXISTS " + notebook + " (table_schema VARCHAR(64) NOT NULL, table_name VARCHAR(64) NOT NULL, PRIMARY KEY (table_schema, table_name)) DEFAULT CHARSET utf8mb4 COLLATE utf8mb4_bin",
	} {
		if _, err := c.Exec(ctx, s); err != nil {
			return err
		}
	}
	for _, name := range names {
		if _, err := c.Exec(ctx, "REPLACE INTO "+notebook+" VALUES ("+link.Text(name.Schema)+", "+link.Text(name.Name)+")"); err != nil {
			return err
		}
	}
	return nil
}

func forget(ctx context.Context, c *link.Conn) error {
	_, err := c.Exec(ctx, "DROP TABLE IF EXISTS "+notebook)
	return err
}
