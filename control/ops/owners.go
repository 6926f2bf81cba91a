package ops

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// OwnerRows is an owner with the number of its rows in a table.
type OwnerRows struct {
	Table string `json:"table"`
	Owner string `json:"owner"`
	Rows  string `json:"rows"`
}

// mostOwners is the number of owners that are returned for a gene.
const mostOwners = 3

// OwnersOf returns the owners with the most rows in sharded tables, for each of some genes. Rows that belong to the owners of other rows
// are not counted.
func (o *Ops) OwnersOf(ctx context.Context, c *cluster.Cluster, genes []gene.Gene) ([][]OwnerRows, error) {
	conns := map[router.ShardName]*link.Conn{}
	defer func() {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}()
	all := make([][]OwnerRows, len(genes))
	for i, g := range genes {
		shard := c.Routes.Shard(c.Routes.Lookup(g))
		if conns[shard] == nil {
			server, err := o.jobs.Shard(ctx, shard)
			if err != nil {
				return nil, err
			}
			if conns[shard], err = link.Dial(ctx, server); err != nil {
				return nil, err
			}
		}
		var err error
		if all[i], err = ownersOn(ctx, conns[shard], c, g); err != nil {
			return nil, fmt.Errorf("look for the owners of gene %s on %s: %w", g.Format(c.Routes.Width()), shard, err)
		}
	}
	return all, nil
}

func ownersOn(ctx context.Context, conn *link.Conn, c *cluster.Cluster, g gene.Gene) (list []OwnerRows, err error) {
	for name, d := range jobs.Sharded(c) {
		if d.Owner == "" {
			continue // its rows have the owners of their parents
		}
		found, err := ownersIn(ctx, conn, name, d, c.Routes.Width(), g)
		if err != nil {
			return nil, err
		}
		list = append(list, found...)
	}
	slices.SortFunc(list, func(a, b OwnerRows) int {
		return cmp.Or(cmp.Compare(len(b.Rows), len(a.Rows)), cmp.Compare(b.Rows, a.Rows), cmp.Compare(a.Table, b.Table), cmp.Compare(a.Owner, b.Owner))
	})
	return list[:min(len(list), mostOwners)], nil
}

func ownersIn(ctx context.Context, conn *link.Conn, name catalog.TableName, d catalog.Declaration, w gene.Width, g gene.Gene) ([]OwnerRows, error) {
	t, err := table.Read(ctx, conn, name, d, w)
	if err != nil {
		return nil, err
	}
	rows, err := conn.Query(ctx, fmt.Sprintf("SELECT %[1]s, COUNT(*) FROM %[2]s WHERE %[3]s GROUP BY 1 ORDER BY 2 DESC, 1 LIMIT %[4]d",
		link.Name(d.Owner), t.SQL(), t.Condition(gene.NewSet(gene.Range{First: g, Last: g})), mostOwners))
	if err != nil {
		return nil, err
	}
	found := make([]OwnerRows, len(rows))
	for i, r := range rows {
		found[i] = OwnerRows{Table: name.String(), Owner: string(r[0]), Rows: string(r[1])}
	}
	return found, nil
}
