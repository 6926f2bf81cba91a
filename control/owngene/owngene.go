// Package owngene adds the gene column to tables whose IDs don't contain the gene, and fills it for existing
// rows.
//
// It owns the statements for that, which may be repeated at any time. It never declares a table, never moves a
// row, and never decides which shard owns a row.
package owngene

import (
	"bytes"
	"context"
	"encoding/hex"
	"fmt"
	"maps"
	"slices"

	"locus/idgen/gene"
	"locus/migrate/audit"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
)

// Make adds the column wherever a table of the cluster lacks it, and fills it in rows that have no gene yet.
func Make(ctx context.Context, shards map[router.ShardName]schema.Querier, c *cluster.Cluster) error {
	var tables []catalog.TableName
	for _, name := range c.TableNames() {
		if c.Tables[name].MakesGene() {
			tables = append(tables, name)
		}
	}
	if tables == nil {
		return nil
	}
	names := slices.SortedFunc(maps.Keys(shards), router.ShardName.Compare)
	for _, shard := range names {
		for _, table := range tables {
			if err := add(ctx, shards[shard], table); err != nil {
				return fmt.Errorf("add column %s to table %s on shard %s: %w", catalog.OwnGene, table, shard, err)
			}
		}
	}
	loaded, err := schema.Load(ctx, shards, c)
	if err != nil {
		return err
	}
	for _, shard := range names {
		for _, table := range tables {
			t, err := loaded.Catalog.Find(table)
			if err != nil || t == nil {
				continue // package fitting reports the problem
			}
			if err := fill(ctx, shards[shard], t); err != nil {
				return fmt.Errorf("fill column %s of table %s on shard %s: %w", catalog.OwnGene, table, shard, err)
			}
		}
	}
	return nil
}

// add adds the column to an existing table that lacks it.
func add(ctx context.Context, q schema.Querier, table catalog.TableName) error {
	there, err := schema.Exists(ctx, q, table)
	if err != nil || !there {
		return err
	}
	if has, err := schema.HasColumn(ctx, q, table, catalog.OwnGene); err != nil || has {
		return err
	}
	_, err = q.Query(ctx, "ALTER TABLE "+quoted(table)+" ADD ("+catalog.OwnGeneDefinition+")")
	return err
}

// batch is the number of owners that one SELECT returns.
const batch = 500

// fill sets the gene in the rows that lack it, with one UPDATE per owner. Columns with ON UPDATE keep their
// values.
func fill(ctx context.Context, q schema.Querier, t *catalog.Table) error {
	root, table := t.Root(), quoted(t.TableName)
	owner, column := plan.Quote(root.Column.Name), plan.Quote(catalog.OwnGene)
	var before []byte // the first owner of the previous batch; finding it again means no progress
	for {
		rows, err := q.Query(ctx, fmt.Sprintf("SELECT DISTINCT %s FROM %s WHERE %s = -1 LIMIT %d", owner, table, column, batch))
		if err != nil || len(rows) == 0 {
			return err
		}
		if before != nil && bytes.Equal(before, rows[0][0]) {
			return fmt.Errorf("rows whose %s is %q are of no gene again: something changes them", root.Column.Name, before)
		}
		before = rows[0][0]
		for _, row := range rows {
			g, err := root.Stored(audit.ValueOf(root.Column, row[0]))
			if err != nil {
				return fmt.Errorf("a row's %s %w", root.Column.Name, err)
			}
			if _, err := q.Query(ctx, fmt.Sprintf("UPDATE %s SET %s WHERE %s = -1 AND %s = %s", table, assignments(t, g), column, owner, literal(root.Column, row[0]))); err != nil {
				return err
			}
		}
	}
}

func assignments(t *catalog.Table, g gene.Gene) string {
	list := fmt.Sprintf("%s = %d", plan.Quote(catalog.OwnGene), g)
	for i := range t.Columns {
		if c := &t.Columns[i]; c.OnUpdate {
			list += ", " + plan.Quote(c.Name) + " = " + plan.Quote(c.Name)
		}
	}
	return list
}

// literal returns an owner's value as SQL. The server returned it on a connection with the character set
// utf8mb4.
func literal(c *catalog.Column, value []byte) string {
	switch {
	case c.IsInteger():
		return string(value)
	case c.IsBinary():
		return "X'" + hex.EncodeToString(value) + "'"
	}
	return "CONVERT(X'" + hex.EncodeToString(value) + "' USING utf8mb4)"
}

func quoted(t catalog.TableName) string { return plan.Quote(t.Schema) + "." + plan.Quote(t.Name) }
