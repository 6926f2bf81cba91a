package ops

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"locus/control/jobs"
	"locus/idgen/gene"
	"locus/migrate"
	"locus/migrate/audit"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// obstacles asks the shards for everything that prevents a job. The error is ErrNoSecrets, or the reason why a shard could not be
// checked.
func (o *Ops) obstacles(ctx context.Context, j *job.Job, c *cluster.Cluster) ([]preflight.Problem, error) {
	if err := o.jobs.Undeclarable(ctx, c); err != nil {
		return nil, err
	}
	tables := jobs.Sharded(c)
	if j.Import != nil {
		tables = j.Import.Tables
	}
	source, err := o.jobs.Source(ctx, j)
	if err != nil {
		return nil, errors.Join(err, ErrNoSecrets)
	}
	homes, err := homesOf(ctx, j, c, o.jobs)
	if err != nil {
		return nil, errors.Join(err, ErrNoSecrets)
	}
	var found []preflight.Problem
	for i, l := range j.Legs() {
		look := preflight.Config{
			Source: source, Tables: tables, Width: j.Width, Genes: l.Genes,
			Import: j.Import != nil, Outside: j.Outside() != nil, BySequence: j.BySequence,
		}
		if err := o.servers(ctx, j, l, &look); err != nil {
			return nil, errors.Join(err, ErrNoSecrets)
		}
		report, err := preflight.Look(ctx, look)
		if err != nil {
			return nil, err
		}
		found = merged(found, report.Problems, l.To, j.Import != nil)
		if j.Import != nil && i == 0 {
			more, err := keysOf(ctx, source, j, report.Tables, homes)
			if err != nil {
				return nil, err
			}
			found = append(found, more...)
		}
	}
	return found, nil
}

// servers fills in the servers of one leg of a job.
func (o *Ops) servers(ctx context.Context, j *job.Job, l job.Leg, look *preflight.Config) (err error) {
	if look.Target, err = o.jobs.Shard(ctx, l.To); err != nil {
		return err
	}
	if look.Replicas, err = migrate.ReplicasOf(ctx, o.jobs, j, l); err != nil {
		return err
	}
	look.Everywhere, err = migrate.EverywhereOf(ctx, o.jobs, j, l.To)
	return err
}

// merged returns the problems of several legs, each once. Problems of a target name its shard.
func merged(found, more []preflight.Problem, to router.ShardName, several bool) []preflight.Problem {
	for _, p := range more {
		if several {
			p.What = strings.ReplaceAll(p.What, "the target", "shard "+string(to))
		}
		if !slices.Contains(found, p) {
			found = append(found, p)
		}
	}
	return found
}

// homesOf returns where parents of an import's rows may be: in the tables that are imported with them, or in sharded ones.
func homesOf(ctx context.Context, j *job.Job, c *cluster.Cluster, store *jobs.Store) (audit.Homes, error) {
	if j.Import == nil {
		return audit.Homes{}, nil
	}
	homes := audit.Homes{Here: j.Import.Tables, Spread: jobs.Sharded(c)}
	for _, name := range c.ShardNames() {
		at, err := store.Shard(ctx, name)
		if err != nil {
			return homes, err
		}
		homes.Shards = append(homes.Shards, at)
	}
	return homes, nil
}

// mostParents is the number of parents above which the check before an import looks up only a sample. The job itself looks up
// all of them.
const mostParents = 200_000

// keysOf checks whether each row that is to be imported has an owner, and whether its keys agree.
func keysOf(ctx context.Context, source link.Server, j *job.Job, tables []*table.Table, homes audit.Homes) (found []preflight.Problem, err error) {
	c, err := link.Dial(ctx, source)
	if err != nil {
		return nil, err
	}
	defer c.Close()
	for _, t := range tables {
		if t.Declared.Kind == catalog.Global { // its rows have no owner
			continue
		}
		seen, err := keysIn(ctx, c, source, t, j.From, homes)
		if err != nil {
			return nil, err
		}
		n, what := seen.Wrong(gene.Set{})
		if n == 0 {
			continue
		}
		remedy := remedyOf(j.Import.Tables[t.Name])
		if seen.Strangers() > 0 {
			if remedy, err = homes.Remedy(ctx, c, t.Declared); err != nil {
				return nil, err
			}
		}
		found = append(found, preflight.Problem{Check: "keys", What: fmt.Sprintf("table %s has %s", t.Name, what), Remedy: remedy})
	}
	return found, nil
}

// keysIn reads the keys of a table's rows, and looks up their parents.
func keysIn(ctx context.Context, c *link.Conn, source link.Server, t *table.Table, from router.ShardName, homes audit.Homes) (*audit.Misplaced, error) {
	parents, done, err := homes.Open(ctx, t.Declared, source)
	defer done()
	if err != nil {
		return nil, err
	}
	if parents != nil {
		parents.Most = mostParents
	}
	return audit.Rows{Conn: c, Table: t.Declared.ByOwner(), Walk: t, Shard: from, Parents: parents}.Look(ctx)
}

// remedyOf returns the remedy for rows whose keys don't agree.
func remedyOf(d catalog.Declaration) string {
	const remedy = "correct the rows' owners or IDs"
	if d.Owner == "" || d.ID == nil {
		return remedy
	}
	return remedy + "; if " + d.ID.Column + " has numbers of your own, leave id= out: the column stays as it is, and locus adds a column for the gene"
}
