package plan

import (
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// planLock plans LOCK TABLES on the shards that have the tables: for sharded and global ones, every shard. On a server that has a
// view of rows on several shards, the lock of the view includes the tables that it reads. On the other shards these tables are
// locked themselves. A lock for writing to a table includes its look-up tables.
func planLock(s *stmt.Statement, ctx Context) (Plan, error) {
	p := &Local{Locks: map[router.ShardName][]stmt.LockTable{}}
	for _, l := range s.LockTables {
		shards, err := ctx.lockedOn(l.TableName)
		if err != nil {
			return nil, err
		}
		for _, shard := range shards {
			p.Locks[shard] = append(p.Locks[shard], l)
		}
	}
	for _, l := range s.LockTables {
		if reads(l) {
			continue
		}
		t, err := ctx.find(l.TableName)
		if err != nil {
			return nil, err
		}
		lookups := ctx.Catalog.Lookups(t)
		for i := range lookups { // a write to the rows also writes their entries
			entries := lookups[i].Entries
			for _, shard := range ctx.Catalog.Shards {
				p.Locks[shard] = ctx.lockToo(p.Locks[shard], stmt.LockTable{TableName: stmt.TableName{Schema: entries.Schema, Name: entries.Name}, Mode: l.Mode})
			}
		}
	}
	for _, l := range s.LockTables {
		has := ctx.Catalog.On(ctx.fullName(l.TableName))
		for _, name := range ctx.tablesBehind(l.TableName) {
			shards, err := ctx.lockedOn(name)
			if err != nil {
				return nil, err
			}
			for _, shard := range shards {
				if !slices.Contains(has, shard) {
					p.Locks[shard] = ctx.lockToo(p.Locks[shard], stmt.LockTable{TableName: name, Mode: l.Mode})
				}
			}
		}
	}
	return p, nil
}

// lockedOn returns the shards that have a table, or a view of rows on several shards.
func (c Context) lockedOn(name stmt.TableName) ([]router.ShardName, error) {
	t, err := c.find(name)
	switch {
	case err != nil:
		return nil, err
	case t != nil && t.Kind == catalog.Single:
		return []router.ShardName{t.Shard}, nil
	case t != nil:
		return c.Catalog.Shards, nil
	case c.isFarView(name):
		return c.Catalog.On(c.fullName(name)), nil
	}
	return []router.ShardName{c.Catalog.First()}, nil
}

// lockToo adds a table that the client may have named too. A server accepts one lock for each table without an alias.
func (c Context) lockToo(locks []stmt.LockTable, l stmt.LockTable) []stmt.LockTable {
	i := slices.IndexFunc(locks, func(there stmt.LockTable) bool {
		return there.Alias == "" && c.fullName(there.TableName) == c.fullName(l.TableName)
	})
	switch {
	case i < 0:
		return append(locks, l)
	case !reads(l):
		locks[i].Mode = l.Mode
	}
	return locks
}

func reads(l stmt.LockTable) bool { return strings.HasPrefix(strings.ToUpper(l.Mode), "READ") }

// isFarView reports whether a name is a view of rows on several shards.
func (c Context) isFarView(name stmt.TableName) bool {
	full := c.fullName(name)
	return !c.isTemporary(full) && c.Catalog.ViewSources(full) != nil
}

// tablesBehind returns the tables that a view of rows on several shards reads, directly or through other views.
func (c Context) tablesBehind(view stmt.TableName) (tables []stmt.TableName) {
	if !c.isFarView(view) {
		return nil
	}
	next := c.Catalog.ViewSources(c.fullName(view))
	seen := map[catalog.TableName]bool{}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if further := c.Catalog.ViewSources(name); further != nil {
			next = append(slices.Clone(next), further...)
			continue
		}
		tables = append(tables, stmt.TableName{Schema: name.Schema, Name: name.Name})
	}
	return tables
}

// checkLocks refuses tables of LOCK TABLES, and tables that its views read, that the shards don't have as named.
func (c Context) checkLocks(s *stmt.Statement) error {
	var names []stmt.TableName
	for _, name := range s.Tables {
		if c.isFarView(name) {
			names = append(names, c.tablesBehind(name)...)
		} else {
			names = append(names, name)
		}
	}
	return c.checkEach(names, c.Catalog.Reading)
}
