package audit

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/migrate/copies"
	"locus/migrate/link"
	"locus/migrate/table"
	"locus/router"
	"locus/router/catalog"
)

// Config configures an audit.
type Config struct {
	Map    *router.Map
	Shards []router.ShardName
	Tables map[catalog.TableName]catalog.Declaration
	// Server returns the connection data of a shard.
	Server func(context.Context, router.ShardName) (link.Server, error)
	// Reload returns the current map, since genes may move while rows are read. It may be nil.
	Reload func(context.Context) (*router.Map, error)
	// Progress is called with the number of rows of a table examined so far. It may be nil.
	Progress func(catalog.TableName, router.ShardName, uint64)
	// Found is called for each table on each shard once it has been examined.
	Found func(Finding)
}

// Finding is the result for one table on one shard.
type Finding struct {
	Table catalog.TableName `json:"-"`
	Name  string            `json:"table"`
	Shard router.ShardName  `json:"shard"`
	Kind  catalog.Kind      `json:"kind"`
	Rows  uint64            `json:"rows"`
	// Wrong counts rows that should not be on this shard, rows with wrong values, and rows that differ from the first shard's.
	// For an undeclared table it counts all rows.
	Wrong uint64 `json:"wrong"`
	// What describes the problem, with the keys of some rows.
	What string `json:"what,omitempty"`
}

// Run examines every table and returns all findings. After an error it returns those found so far.
func Run(ctx context.Context, c Config) ([]Finding, error) {
	a := &audit{Config: c, conns: map[router.ShardName]*link.Conn{}}
	defer a.close()
	names := slices.SortedFunc(maps.Keys(c.Tables), catalog.TableName.Compare)
	for _, name := range names {
		there, err := a.anywhere(ctx, name)
		if err != nil {
			return a.found, fmt.Errorf("table %s: %w", name, err)
		}
		if !there {
			continue
		}
		switch d := c.Tables[name]; d.Kind {
		case catalog.Sharded:
			err = a.sharded(ctx, name, d)
		case catalog.Global:
			err = a.global(ctx, name, d)
		case catalog.Single, catalog.Outside:
		}
		if err != nil {
			return a.found, fmt.Errorf("table %s: %w", name, err)
		}
	}
	return a.found, a.undeclared(ctx)
}

type audit struct {
	Config
	conns map[router.ShardName]*link.Conn
	found []Finding
}

func (a *audit) conn(ctx context.Context, name router.ShardName) (*link.Conn, error) {
	if c := a.conns[name]; c != nil {
		return c, nil
	}
	server, err := a.Server(ctx, name)
	if err != nil {
		return nil, err
	}
	c, err := link.Dial(ctx, server)
	if err != nil {
		return nil, err
	}
	a.conns[name] = c
	return c, nil
}

func (a *audit) close() {
	for _, c := range a.conns {
		_ = c.Close()
	}
}

func (a *audit) report(f Finding) {
	f.Name = f.Table.String()
	a.found = append(a.found, f)
	if a.Found != nil {
		a.Found(f)
	}
}

// anywhere reports whether a shard has a declared table. One that was dropped has no rows.
func (a *audit) anywhere(ctx context.Context, name catalog.TableName) (bool, error) {
	for _, shard := range a.Shards {
		c, err := a.conn(ctx, shard)
		if err != nil {
			return false, err
		}
		if there, err := copies.Has(ctx, c, name); err != nil || there {
			return there, err
		}
	}
	return false, nil
}

// named is the number of rows named in a finding.
const named = 3

// sharded examines every row. Its keys must have one gene, and that gene must belong to the shard or be moving from or
// to it.
func (a *audit) sharded(ctx context.Context, name catalog.TableName, d catalog.Declaration) error {
	for _, shard := range a.Shards {
		c, err := a.conn(ctx, shard)
		if err != nil {
			return err
		}
		t, err := table.Read(ctx, c, name, d, a.Map.Width())
		if err != nil {
			return err
		}
		rows := Rows{Conn: c, Table: t.Declared, Walk: t, Shard: shard}
		if a.Progress != nil {
			rows.Progress = func(rows uint64) { a.Progress(name, shard, rows) }
		}
		seen, err := rows.Look(ctx)
		if err != nil {
			return err
		}
		if a.Reload != nil && seen.Has(Foreign(a.Map, shard)) { // genes may have moved meanwhile
			if a.Map, err = a.Reload(ctx); err != nil {
				return err
			}
		}
		f := Finding{Table: name, Shard: shard, Kind: d.Kind, Rows: seen.Rows}
		f.Wrong, f.What = seen.Wrong(Foreign(a.Map, shard))
		a.report(f)
	}
	return nil
}

// Foreign returns the genes of which a shard must have no rows.
func Foreign(m *router.Map, shard router.ShardName) gene.Set {
	genes := gene.NewSet(gene.All(m.Width())).Subtract(m.GenesOf(shard))
	for _, v := range m.Moves() {
		if v.From == shard || v.To == shard {
			genes = genes.Subtract(v.Genes)
		}
	}
	return genes
}

// spell formats keys.
func spell(keys [][][]byte) string {
	var texts []string
	for _, k := range keys {
		var parts []string
		for _, v := range k {
			parts = append(parts, fmt.Sprintf("%q", v))
		}
		texts = append(texts, strings.Join(parts, "/"))
	}
	return strings.Join(texts, ", ")
}
