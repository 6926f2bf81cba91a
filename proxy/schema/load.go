package schema

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"

	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// Loaded contains the declared tables as they are on the shards.
type Loaded struct {
	// Catalog contains the tables that fit, and those that don't with their reasons.
	Catalog *catalog.Catalog
	// Warnings are problems that are not refused yet, in the order of tables, and then objects that exist and are refused.
	Warnings []error
	// Unseen lists the privileges that the shards' accounts need to see all objects.
	Unseen error
}

// Problems returns why tables can't be served, all together and in their order, or nil if all can.
func (l *Loaded) Problems() error { return problems(l.Catalog.Broken()) }

func problems(broken map[catalog.TableName]error) error {
	var all []error
	for _, name := range sortedNames(maps.Keys(broken)) {
		if !errors.Is(broken[name], errOutside) { // this is intended
			all = append(all, broken[name])
		}
	}
	return errors.Join(all...)
}

// Load reads the declared tables on the shards in parallel, and resolves each declaration. shards contains the shards that can be
// reached. The others are not compared, and their single tables are broken. Load returns an error if a shard could not be read; it
// names the shard.
func Load(ctx context.Context, shards map[router.ShardName]Querier, c *cluster.Cluster) (*Loaded, error) {
	f, err := Find(ctx, shards, c, nil)
	if err != nil {
		return nil, err
	}
	return f.Load(), nil
}

// Found contains the objects of the shards, declared and undeclared, before references between them are followed. Following them requires
// reading every body and view. Code that only checks whether anything has changed doesn't need that.
type Found struct {
	shards   []router.ShardName // in a catalog's order
	tables   []*catalog.Table
	broken   map[catalog.TableName]error
	listings map[router.ShardName]*catalog.Listing
	warnings []error
	unseen   error
	servers  map[router.ShardName]*server
	resolved map[catalog.TableName]*resolution
}

// Find is the first part of [Load]. before is the previous catalog, or nil if nothing is known. For shards that are missing in shards, it uses
// the earlier listings, and the earlier columns of their single tables.
func Find(ctx context.Context, shards map[router.ShardName]Querier, c *cluster.Cluster, before *catalog.Catalog) (*Found, error) {
	return (*Found)(nil).Again(ctx, shards, c, before, catalog.Anything)
}

// Again returns the objects of the shards after a change. For shards that f has read, it reads only what the change may have touched, and
// tables that have been declared since. For the others it reads everything. The arguments are as for [Find]. But shards that the change
// doesn't concern may be missing, and count as unchanged. A nil Found knows nothing.
func (f *Found) Again(ctx context.Context, shards map[router.ShardName]Querier, c *cluster.Cluster, before *catalog.Catalog, change catalog.Change) (*Found, error) {
	var known map[router.ShardName]*server
	if f != nil && !slices.ContainsFunc(slices.Concat(change.Tables, change.Routines), inSystemSchema) {
		known = f.servers
	}
	var listings map[router.ShardName]*catalog.Listing
	if before != nil {
		listings = before.Listings()
	}
	servers, err := readEach(shards, func(name router.ShardName, q Querier) (*server, error) {
		if s := known[name]; s != nil && !change.Everything && !s.listing.Ambiguous(change.Routines) {
			return s.reread(ctx, q, tablesOf(c, name), change)
		}
		return read(ctx, q, tablesOf(c, name), listings[name])
	})
	if err != nil {
		return nil, err
	}
	for name, s := range known {
		if _, declared := c.Shards[name]; declared && !change.Concerns(name) {
			servers[name] = s
		}
	}
	return f.find(servers, c, before), nil
}

func inSystemSchema(name catalog.TableName) bool { return catalog.IsSystemSchema(name.Schema) }

// Declared returns f compared with other declarations of tables that an import is about. It queries no shard.
func (f *Found) Declared(c *cluster.Cluster, before *catalog.Catalog) *Found {
	return f.find(f.servers, c, before)
}

// find compares the declarations with the servers' tables. It reuses the results of f, which may be nil, for tables for which no input has
// changed.
func (f *Found) find(servers map[router.ShardName]*server, c *cluster.Cluster, before *catalog.Catalog) *Found {
	previous := f
	f = &Found{
		servers: servers, resolved: make(map[catalog.TableName]*resolution, len(c.Tables)),
		shards: defaultFirst(c), broken: map[catalog.TableName]error{}, listings: map[router.ShardName]*catalog.Listing{},
		unseen: unseenOn(c, servers),
	}
	for _, name := range c.TableNames() {
		r := previous.resolution(name, c, servers)
		f.resolved[name] = r
		t, warnings, err := r.table, r.warnings, r.err
		if known := unreachableTable(name, c, servers, before); known != nil {
			t, err = known, nil
		}
		if err != nil {
			f.broken[name] = &catalog.Misfit{Kind: c.Tables[name].Kind, Shard: c.Tables[name].Shard, Declaration: c.Tables[name], Err: err}
			continue
		}
		f.tables = append(f.tables, t)
		f.warnings = append(f.warnings, warnings...)
	}
	for name, why := range c.Refused {
		f.broken[name] = errors.New(why)
	}
	known := map[router.ShardName]*catalog.Listing(nil)
	if before != nil {
		known = before.Listings()
	}
	for _, name := range c.ShardNames() {
		if s := servers[name]; s != nil {
			f.listings[name] = s.listing
		} else if known[name] != nil {
			f.listings[name] = known[name]
		}
	}
	return f
}

// Broken reports whether a table doesn't fit its declaration.
func (f *Found) Broken(name catalog.TableName) bool { return f.broken[name] != nil }

// Unfits reports whether a table doesn't fit its declaration, but did in the catalog before with an equal declaration. A table that no shard
// has any more doesn't count.
func (f *Found) Unfits(before *catalog.Catalog) bool {
	for name, err := range f.broken {
		misfit, is := errors.AsType[*catalog.Misfit](err)
		if !is || errors.As(err, new(*catalog.MissingTableError)) {
			continue
		}
		d, declared := before.Declared(name)
		if declared && before.Broken()[name] == nil && d.Agrees(misfit.Declaration) {
			return true
		}
	}
	return false
}

// Problems is [Loaded.Problems].
func (f *Found) Problems() error { return problems(f.broken) }

// Same reports whether a catalog was made of the same objects. If the declarations and the result of [Found.Problems] are the same too,
// nothing has changed.
func (f *Found) Same(c *catalog.Catalog) bool {
	tables := slices.SortedFunc(slices.Values(f.tables), func(a, b *catalog.Table) int { return a.TableName.Compare(b.TableName) })
	return maps.EqualFunc(f.listings, c.Listings(), (*catalog.Listing).Equal) && slices.EqualFunc(tables, c.Tables(), func(a, b *catalog.Table) bool {
		return a == b || a.TableName == b.TableName && reflect.DeepEqual(a.Columns, b.Columns) && reflect.DeepEqual(a.Uneven, b.Uneven) && a.SameUnique(b)
	})
}

// Load is the second part of the function Load.
func (f *Found) Load() *Loaded {
	l := &Loaded{Catalog: catalog.NewListed(f.shards, f.tables, f.broken, f.listings), Unseen: f.unseen}
	l.Warnings = slices.Concat(f.warnings, l.Catalog.Remarks())
	for _, t := range l.Catalog.Tables() {
		for _, o := range l.Catalog.Obstacles(t) {
			if err := errors.New(o.String()); !slices.ContainsFunc(l.Warnings, func(w error) bool { return w.Error() == err.Error() }) {
				l.Warnings = append(l.Warnings, err)
			}
		}
	}
	return l
}

// unreachableTable returns a single table of an unreachable shard as it was when the shard could be read. It returns nil if the table is unknown, or
// is declared in another way now.
func unreachableTable(name catalog.TableName, c *cluster.Cluster, servers map[router.ShardName]*server, before *catalog.Catalog) *catalog.Table {
	d := c.Tables[name]
	if before == nil || d.Kind != catalog.Single || servers[d.Shard] != nil {
		return nil
	}
	t, err := before.Find(name)
	if err != nil || t == nil || !reflect.DeepEqual(t.Declaration, d) || t.Width != c.Settings.GeneBits || c.CheckStamped(t) != nil {
		return nil
	}
	return t
}

func unseenOn(c *cluster.Cluster, servers map[router.ShardName]*server) error {
	var all []error
	for _, name := range c.ShardNames() {
		if s := servers[name]; s != nil && s.hidden != nil {
			for line := range strings.Lines(s.hidden.Error()) {
				all = append(all, fmt.Errorf("shard %s: %s", name, strings.TrimSpace(line)))
			}
		}
	}
	return errors.Join(all...)
}

// defaultFirst returns the names of the shards, the default shard first.
func defaultFirst(c *cluster.Cluster) []router.ShardName {
	others := slices.DeleteFunc(c.ShardNames(), func(n router.ShardName) bool { return n == c.Settings.DefaultShard })
	return slices.Insert(others, 0, c.Settings.DefaultShard)
}

// readEach reads all shards in parallel. The error names the shards that could not be read.
func readEach(shards map[router.ShardName]Querier, read func(router.ShardName, Querier) (*server, error)) (map[router.ShardName]*server, error) {
	var mu sync.Mutex // protects servers and failed
	servers := map[router.ShardName]*server{}
	var failed []error
	var asking sync.WaitGroup
	for name, q := range shards {
		asking.Go(func() {
			s, err := read(name, q)
			mu.Lock()
			defer mu.Unlock()
			if err != nil {
				failed = append(failed, fmt.Errorf("read the schema of shard %s: %w", name, err))
				return
			}
			servers[name] = s
		})
	}
	asking.Wait()
	slices.SortFunc(failed, func(a, b error) int { return compareText(a.Error(), b.Error()) })
	return servers, errors.Join(failed...)
}

// tablesOf returns the declared tables of a shard, and the copies of tables that an import is about to shard.
func tablesOf(c *cluster.Cluster, shard router.ShardName) []catalog.TableName {
	var imported []string
	if c.Routes != nil {
		imported = c.Routes.Importing()
	}
	return slices.DeleteFunc(c.TableNames(), func(n catalog.TableName) bool {
		d := c.Tables[n]
		return d.Kind == catalog.Single && d.Shard != shard && !slices.Contains(imported, n.String())
	})
}

// errOutside keeps clients from using incomplete copies.
var errOutside = errors.New("its rows are on a server outside of the cluster, from which an import brings them: " +
	"go on using that server; locus jobs shows the import, and its cutover lets the table be used here")

// resolve compares one declaration with its table on the servers. It also returns warnings.
func resolve(name catalog.TableName, c *cluster.Cluster, servers map[router.ShardName]*server) (*catalog.Table, []error, error) {
	d := c.Tables[name]
	if d.Kind == catalog.Outside {
		return nil, nil, errOutside
	}
	if renames := c.RenamesWith(name); renames != nil {
		return nil, nil, &catalog.RenamingError{Name: name, Renames: renames}
	}
	all := copies{name: name}
	for _, shard := range slices.SortedFunc(maps.Keys(servers), router.ShardName.Compare) {
		if d.Kind == catalog.Single && shard != d.Shard {
			continue
		}
		all.shards = append(all.shards, shard)
		all.tables = append(all.tables, servers[shard].tables[name])
	}
	if all.tables == nil {
		return nil, nil, fmt.Errorf("table %s: its shard %s can't be reached, so its columns are unknown", name, d.Shard)
	}
	if d.MakesGene() {
		all.removePartialGene()
	}
	raw := slices.Clone(all.tables)
	var uneven catalog.Unevenness
	if d.Kind != catalog.Single {
		uneven = all.alignColumns(d)
	}
	problems := all.compare()
	if problems != nil { // the tables differ in more than that, so all differences are reported
		all.tables = raw
		problems = all.compare()
	}
	if problems == nil {
		problems = checkKind(d, all.tables[0])
	}
	if problems != nil {
		for i, p := range problems {
			problems[i] = fmt.Errorf("table %s: %w", name, p)
		}
		return nil, nil, errors.Join(problems...)
	}
	t, err := catalog.Resolve(name, d, all.tables[0].catalogColumns(), c.Settings.GeneBits)
	if err == nil {
		err = c.CheckStamped(t)
	}
	if err != nil {
		return nil, nil, err
	}
	t = t.WithUnique(all.unique(t)).WithUneven(uneven)
	if err := t.CheckLookupKey(); err != nil {
		return nil, nil, err
	}
	t.Counters = c.CountersOf(name)
	return t, slices.Concat(all.warnings(t), all.unevenWarnings(uneven, raw)), nil
}

// checkKind refuses a declaration of a view or the like, which has no rows of its own.
func checkKind(d catalog.Declaration, t *liveTable) []error {
	if d.Kind == catalog.Single || t.kind == "BASE TABLE" || t.kind == "SYSTEM VERSIONED" {
		return nil
	}
	return []error{fmt.Errorf("it is a %s, which can't be %s: declare the tables that it reads", t.kind, d.Kind)}
}

func (t *liveTable) catalogColumns() []catalog.Column {
	columns := make([]catalog.Column, len(t.columns))
	for i, c := range t.columns {
		columns[i] = c.Column
	}
	return columns
}
