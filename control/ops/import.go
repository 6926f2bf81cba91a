package ops

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"unicode"

	"locus/migrate/job"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Import requests a job that shards tables that have rows, or makes them global.
type Import struct {
	// Tables are those that change at one moment, with their declarations.
	Tables []TableWords `json:"tables"`
	// Outside is the server outside of the cluster that has the tables; nil: a shard has them. It names a secret that is sent to the
	// address, so only the command line, whose user can write to etcd, sets it.
	Outside *job.Outside `json:"-"`
	Starting
}

// TableWords declares a table.
type TableWords struct {
	Table string `json:"table"` // schema.table
	Words string `json:"words"` // the words of a table's comment: owner=buyer_uid id=order_id, or global
}

// SplitTables splits a list of tables with their words, which semicolons separate: shop.orders owner=buyer_uid id=order_id;
// shop.order_item parent=order_id.
func SplitTables(text string) (list []TableWords) {
	for _, one := range catalog.Split(text, catalog.Semicolon) {
		one = strings.TrimSpace(one)
		name := catalog.Split(one, unicode.IsSpace)[0]
		list = append(list, TableWords{name, strings.TrimSpace(strings.TrimPrefix(one, name))})
	}
	return list
}

// Declarations returns the declarations of imported tables. The error is an *Invalid.
func Declarations(list []TableWords) (map[catalog.TableName]catalog.Declaration, error) {
	if len(list) == 0 {
		return nil, invalid("no table is named; name it as schema.table, with its words")
	}
	tables := map[catalog.TableName]catalog.Declaration{}
	for _, one := range list {
		name, d, err := one.parse()
		if err != nil {
			return nil, err
		}
		switch _, twice := tables[name]; {
		case twice:
			return nil, invalid("table %s is named twice; name it once", name)
		case d.Kind != catalog.Sharded && d.Kind != catalog.Global:
			return nil, invalid("table %s: an import makes tables sharded or global; write owner=, parent= or global", name)
		}
		tables[name] = d
	}
	return tables, nil
}

// parse returns the name and the declaration. The error is an *Invalid.
func (t TableWords) parse() (name catalog.TableName, d catalog.Declaration, err error) {
	if name, err = catalog.ParseTableName(t.Table); err != nil {
		return name, d, invalid("%v", err)
	}
	if d, err = catalog.ParseWords(t.Words); err != nil {
		return name, d, invalid("table %s: %v", name, err)
	}
	return name, d, nil
}

// Check implements [Start].
func (r Import) Check() error {
	if _, err := Declarations(r.Tables); err != nil {
		return err
	}
	return r.Starting.Check()
}

func (r Import) plan(ctx context.Context, o *Ops, p *Plan) error {
	tables, err := Declarations(r.Tables)
	if err != nil {
		return err
	}
	c := p.Cluster
	from, declared, err := r.source(c, tables)
	if err != nil {
		return err
	}
	next := *c
	next.Tables = map[catalog.TableName]catalog.Declaration{}
	maps.Copy(next.Tables, c.Tables)
	maps.Copy(next.Tables, tables)
	if err := next.Validate(); err != nil {
		return err
	}
	if _, there := c.Shards[job.OutsideName]; there && r.Outside != nil {
		return fmt.Errorf("a shard has the name %s, which stands for servers outside of the cluster; give the shard another name", job.OutsideName)
	}
	if moves := c.Routes.Moves(); len(moves) > 0 {
		return fmt.Errorf("job %s moves rows, and no other job may run during an import; finish or abort it first; locus jobs lists it", moves[0].ID())
	}
	id, err := o.nextID(ctx, job.Importing, p.after)
	if err != nil {
		return err
	}
	if r.Outside != nil {
		p.Job, err = job.NewOutside(id, *r.Outside, c.Routes, c.ShardNames(), tables, p.by, r.Why, o.now())
	} else {
		p.Job, err = job.NewImport(id, from, c.Routes, c.ShardNames(), tables, p.by, r.Why, o.now())
	}
	if err != nil {
		return err
	}
	p.Job.Throttle, p.Job.Import.Declared = r.Throttle, declared
	return nil
}

// source returns the shard that has the tables, and those of the tables that are declared as single tables there.
func (r Import) source(c *cluster.Cluster, tables map[catalog.TableName]catalog.Declaration) (from router.ShardName, declared []catalog.TableName, err error) {
	for _, name := range slices.SortedFunc(maps.Keys(tables), catalog.TableName.Compare) {
		of := c.Settings.DefaultShard
		if d, is := c.Tables[name]; is {
			if d.Kind != catalog.Single || r.Outside != nil {
				return "", nil, fmt.Errorf("table %s is declared already, as %q, and an import takes tables that are not declared; if the table was dropped, locus table drop %s removes the declaration", name, d.Words(), name)
			}
			of = d.Shard
			declared = append(declared, name)
		}
		if from != "" && of != from {
			return "", nil, fmt.Errorf("table %s is on shard %s, and others on %s; import the tables of one shard at a time", name, of, from)
		}
		from = of
	}
	return from, declared, nil
}
