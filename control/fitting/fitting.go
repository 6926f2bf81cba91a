// Package fitting checks a cluster declaration against the live shards before it takes effect: whether the
// tables fit, and whether rows would end up on shards where no statement searches for them.
//
// It owns these checks for every kind of change, by a command or by a procedure. It never writes anything,
// neither to shards nor to etcd.
package fitting

import (
	"context"
	"errors"
	"reflect"
	"slices"

	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Progress is called for each table and shard whose rows are checked. It returns a function that receives the
// number of checked rows, and a function that is called at the end.
type Progress func(catalog.TableName, router.ShardName) (told func(rows uint64), done func())

// Change is a change of the declaration. Old is nil if no cluster is declared yet.
type Change struct {
	Old, Next *cluster.Cluster
	Shards    *Shards
	Progress  Progress // may be nil
}

// Load reads the tables of the next cluster on all of its shards.
func (c *Change) Load(ctx context.Context) (*schema.Loaded, error) {
	return schema.Load(ctx, c.Shards.Of(c.Next), c.Next)
}

// Problems returns the problems of the loaded tables. It ignores missing gene columns, because applying the
// declaration adds them.
func (c *Change) Problems(ctx context.Context, loaded *schema.Loaded) []error {
	problems := schema.Stores(ctx, c.Shards.Of(c.Next), c.Next)
	for _, name := range c.Next.TableNames() {
		if c.Next.Tables[name].Kind == catalog.Outside { // an import will copy it; the shards' tables need not fit yet
			continue
		}
		if err := loaded.Catalog.Broken()[name]; err != nil && !errors.As(err, new(*catalog.NoGeneColumnError)) && !c.gone(name, err) {
			problems = append(problems, err)
		}
	}
	return append(problems, c.uneven(loaded.Catalog)...)
}

// gone reports whether an unchanged declaration belongs to a table that no shard has any more.
func (c *Change) gone(name catalog.TableName, err error) bool {
	if c.Old == nil || !errors.As(err, new(*catalog.MissingTableError)) {
		return false
	}
	before, was := c.Old.Tables[name]
	return was && reflect.DeepEqual(before, c.Next.Tables[name])
}

// uneven returns the newly declared tables whose columns differ between shards.
func (c *Change) uneven(loaded *catalog.Catalog) (problems []error) {
	for _, t := range loaded.Tables() {
		if c.Old != nil {
			if _, before := c.Old.Tables[t.TableName]; before {
				continue
			}
		}
		if err := t.Differing(); err != nil {
			problems = append(problems, err)
		}
	}
	return problems
}

// unmade returns the tables that lack only the gene column.
func unmade(c *catalog.Catalog) (tables []*catalog.Table) {
	for _, err := range c.Broken() {
		if e, is := errors.AsType[*catalog.NoGeneColumnError](err); is {
			tables = append(tables, e.Table)
		}
	}
	slices.SortFunc(tables, func(a, b *catalog.Table) int { return a.TableName.Compare(b.TableName) })
	return tables
}

// Stranded describes the rows that would not be found on their shard any more. It first checks the key that
// routes each row. Only if all rows pass, it compares all keys of every row.
func (c *Change) Stranded(ctx context.Context, loaded *schema.Loaded) ([]string, error) {
	s := &stranded{ctx: ctx, shards: c.Shards, old: c.Old, next: c.Next}
	found, err := s.find(loaded.Catalog)
	if err != nil || found != nil {
		return found, err
	}
	return s.misplaced(loaded.Catalog, c.Progress)
}
