// Package fitting holds a cluster that is to be declared to its live shards: whether the
// tables fit, and whether rows would be left where nobody looks for them any more.
//
// It owns the questions that are asked before what is declared changes, whoever changes it: a
// command or a procedure. It never writes anything, neither to shards nor to etcd.
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

// Progress makes, for each table and shard whose rows are looked at, who is told how many, and
// what is done at the end.
type Progress func(catalog.TableName, router.ShardName) (told func(rows uint64), done func())

// Change is what is declared, nil if nothing is, and what is to be declared.
type Change struct {
	Old, Next *cluster.Cluster
	Shards    *Shards
	Progress  Progress // may be nil
}

// Load reads the tables of the next cluster on all of its shards.
func (c *Change) Load(ctx context.Context) (*schema.Loaded, error) {
	return schema.Load(ctx, c.Shards.Of(c.Next), c.Next)
}

// Problems is what does not fit what was loaded, but for columns that are made for who declares their tables.
func (c *Change) Problems(ctx context.Context, loaded *schema.Loaded) []error {
	problems := schema.Stores(ctx, c.Shards.Of(c.Next), c.Next)
	for _, name := range c.Next.TableNames() {
		if c.Next.Tables[name].Kind == catalog.Outside { // an import brings it, and no shard's table has to fit yet
			continue
		}
		if err := loaded.Catalog.Broken()[name]; err != nil && !errors.As(err, new(*catalog.NoGeneColumnError)) && !c.gone(name, err) {
			problems = append(problems, err)
		}
	}
	return append(problems, c.uneven(loaded.Catalog)...)
}

// gone reports whether a declaration that stays as it is belongs to a table that no shard has any more.
func (c *Change) gone(name catalog.TableName, err error) bool {
	if c.Old == nil || !errors.As(err, new(*catalog.MissingTableError)) {
		return false
	}
	before, was := c.Old.Tables[name]
	return was && reflect.DeepEqual(before, c.Next.Tables[name])
}

// uneven are the tables that would be declared anew while shards have other columns than others.
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

// unmade are the tables that lack the column for the gene, and fit otherwise.
func unmade(c *catalog.Catalog) (tables []*catalog.Table) {
	for _, err := range c.Broken() {
		if e, is := errors.AsType[*catalog.NoGeneColumnError](err); is {
			tables = append(tables, e.Table)
		}
	}
	slices.SortFunc(tables, func(a, b *catalog.Table) int { return a.TableName.Compare(b.TableName) })
	return tables
}

// Stranded says which rows would not be found where they are. If none is in a wrong place by
// the one key that tells its gene, all keys of every row are compared.
func (c *Change) Stranded(ctx context.Context, loaded *schema.Loaded) ([]string, error) {
	s := &stranded{ctx: ctx, shards: c.Shards, old: c.Old, next: c.Next}
	found, err := s.find(loaded.Catalog)
	if err != nil || found != nil {
		return found, err
	}
	return s.misplaced(loaded.Catalog, c.Progress)
}
