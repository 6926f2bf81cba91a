package orders

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"locus/control/jobs"
	"locus/migrate/job"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// ImportedTables reads tables with their words, several apart by semicolons: shop.orders owner=buyer_uid id=order_id;
// shop.order_item parent=order_id, say.
func ImportedTables(text string) (map[catalog.TableName]catalog.Declaration, error) {
	tables := map[catalog.TableName]catalog.Declaration{}
	for _, one := range catalog.Split(text, catalog.Semicolon) {
		of := catalog.Split(strings.TrimSpace(one), unicode.IsSpace)[0]
		words := strings.TrimPrefix(strings.TrimSpace(one), of)
		name, err := catalog.ParseTableName(of)
		if err != nil {
			return nil, err
		}
		d, err := catalog.ParseWords(words)
		switch _, twice := tables[name]; {
		case err != nil:
			return nil, fmt.Errorf("table %s: %w", name, err)
		case twice:
			return nil, fmt.Errorf("table %s is named twice", name)
		case d.Kind != catalog.Sharded && d.Kind != catalog.Global:
			return nil, fmt.Errorf("table %s: an import makes tables sharded or global: say owner=, parent= or global", name)
		}
		tables[name] = d
	}
	return tables, nil
}

// planImport makes the record of an import, which is not written yet.
func (b Beginning) planImport(ctx context.Context, c *cluster.Cluster, store *jobs.Store) (*job.Job, error) {
	from, declared, err := b.importedFrom(c)
	if err != nil {
		return nil, err
	}
	next := *c
	next.Tables = maps.Clone(c.Tables)
	if next.Tables == nil {
		next.Tables = map[catalog.TableName]catalog.Declaration{}
	}
	maps.Copy(next.Tables, b.Tables)
	if err := next.Validate(); err != nil {
		return nil, err
	}
	if _, there := c.Shards[job.OutsideName]; there && b.Outside != nil {
		return nil, fmt.Errorf("a shard is called %s, which is the word for servers that are none of the cluster's: give it another name", job.OutsideName)
	}
	if moves := c.Routes.Moves(); len(moves) > 0 {
		return nil, fmt.Errorf("job %s moves rows, and an import goes on alone: finish or abort it first; locus jobs shows it", moves[0].ID())
	}
	id, err := nextID(ctx, store, job.Importing, b.After)
	if err != nil {
		return nil, err
	}
	var j *job.Job
	if b.Outside != nil {
		j, err = job.NewOutside(id, *b.Outside, c.Routes, c.ShardNames(), b.Tables, b.By, b.Why, b.At)
	} else {
		j, err = job.NewImport(id, from, c.Routes, c.ShardNames(), b.Tables, b.By, b.Why, b.At)
	}
	if err != nil {
		return nil, err
	}
	j.Throttle, j.Import.Declared = b.Throttle, declared
	return j, j.Check()
}

// importedFrom is the shard that has the tables, and which of them are declared to be its alone.
func (b Beginning) importedFrom(c *cluster.Cluster) (from router.ShardName, declared []catalog.TableName, err error) {
	for _, name := range slices.SortedFunc(maps.Keys(b.Tables), catalog.TableName.Compare) {
		of := c.Settings.DefaultShard
		if d, is := c.Tables[name]; is {
			if d.Kind != catalog.Single || b.Outside != nil {
				return "", nil, fmt.Errorf("table %s is declared already, as %q: an import shards tables that nobody has declared; of one that was dropped locus table drop %s takes the declaration away", name, d.Words(), name)
			}
			of = d.Shard
			declared = append(declared, name)
		}
		if from != "" && of != from {
			return "", nil, fmt.Errorf("table %s is on shard %s, and others on %s: import them one shard after the other", name, of, from)
		}
		from = of
	}
	return from, declared, nil
}
