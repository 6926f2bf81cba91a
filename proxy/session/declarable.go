package session

import (
	"context"
	"fmt"
	"strings"

	"locus/proxy/backend"
	"locus/proxy/exec"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
)

// fits refuses a table that is there and can't be what its comment says: all that keeps it from being so is told at once.
func (d *declaring) fits() error {
	first := d.at.Catalog.First()
	var why []string
	shard := asked{d.at, first}
	if err := schema.Fit(d.at.Conns.Waits(), shard, d.Table, d.Declaration, d.at.Map.Width()); err != nil {
		why = append(why, strings.ReplaceAll(strings.TrimPrefix(err.Error(), fmt.Sprintf("table %s: ", d.Table)), "\n", "; "))
	}
	keys, err := d.foreignKeys(shard)
	if err != nil {
		return err
	}
	if keys == nil {
		for _, err := range d.at.Catalog.TornBy(d.Table, d.Declaration) {
			keys = append(keys, err.Error())
		}
	}
	if why = append(why, keys...); why != nil {
		return undeclarable("table %s: %s", d.Table, strings.Join(why, "; "))
	}
	return nil
}

// foreignKeys are those to tables whose rows are on one shard alone, where rows of this one on other shards could not refer to them.
func (d *declaring) foreignKeys(shard asked) (list []string, err error) {
	rows, err := shard.Query(d.at.Conns.Waits(), "SELECT DISTINCT CONSTRAINT_NAME, REFERENCED_TABLE_SCHEMA, REFERENCED_TABLE_NAME "+
		"FROM information_schema.KEY_COLUMN_USAGE WHERE TABLE_SCHEMA = "+backend.Quote(d.Table.Schema)+" AND TABLE_NAME = "+backend.Quote(d.Table.Name)+
		" AND REFERENCED_TABLE_NAME IS NOT NULL ORDER BY 1")
	if err != nil {
		return nil, err
	}
	for _, row := range rows {
		if len(row) != 3 {
			return nil, fmt.Errorf("information_schema gave %d columns, 3 were asked for", len(row))
		}
		to := catalog.TableName{Schema: string(row[1]), Name: string(row[2])}
		if there, is := d.at.Catalog.Declared(to); to == d.Table || is && there.Kind != catalog.Single && there.Kind != catalog.Outside {
			continue
		}
		list = append(list, fmt.Sprintf("foreign key %s refers to table %s, whose rows are on one shard alone: declare that table first, or drop the foreign key and let the application hold to it", row[0], to))
	}
	return list, nil
}

// asked is a shard as the packages below ask one.
type asked struct {
	at   *exec.Request
	name router.ShardName
}

// Query implements schema.Querier.
func (a asked) Query(_ context.Context, sql string) ([][][]byte, error) {
	rows, err := a.at.Ask(a.name, backend.Default, sql)
	if err != nil {
		return nil, err
	}
	return rows.Rows, nil
}
