package plan

import (
	"slices"
	"strings"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// planLock locks tables where they live: sharded and global ones on each shard. With a view of rows on several shards each server
// locks what it reads there, and where only the default shard has the view, the tables are locked themselves.
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
		has := ctx.Catalog.On(ctx.full(l.TableName))
		for _, name := range ctx.behind(l.TableName) {
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

// lockedOn are the shards that have a table, or a view of rows on several of them.
func (c Context) lockedOn(name stmt.TableName) ([]router.ShardName, error) {
	t, err := c.find(name)
	switch {
	case err != nil:
		return nil, err
	case t != nil && t.Kind == catalog.Single:
		return []router.ShardName{t.Shard}, nil
	case t != nil:
		return c.Catalog.Shards, nil
	case c.far(name):
		return c.Catalog.On(c.full(name)), nil
	}
	return []router.ShardName{c.Catalog.First()}, nil
}

// lockToo adds a table that the client may have named too, of which servers know one lock.
func (c Context) lockToo(locks []stmt.LockTable, l stmt.LockTable) []stmt.LockTable {
	i := slices.IndexFunc(locks, func(there stmt.LockTable) bool { return c.full(there.TableName) == c.full(l.TableName) })
	switch {
	case i < 0:
		return append(locks, l)
	case !reads(l):
		locks[i].Mode = l.Mode
	}
	return locks
}

func reads(l stmt.LockTable) bool { return strings.HasPrefix(strings.ToUpper(l.Mode), "READ") }

// far tells a view of rows on several shards.
func (c Context) far(name stmt.TableName) bool {
	full := c.full(name)
	return !c.temporary(full) && c.Catalog.Behind(full) != nil
}

// behind are the tables that a view of rows on several shards reads, through others too.
func (c Context) behind(view stmt.TableName) (tables []stmt.TableName) {
	if !c.far(view) {
		return nil
	}
	next := c.Catalog.Behind(c.full(view))
	seen := map[catalog.TableName]bool{}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		if seen[name] {
			continue
		}
		seen[name] = true
		if further := c.Catalog.Behind(name); further != nil {
			next = append(slices.Clone(next), further...)
			continue
		}
		tables = append(tables, stmt.TableName{Schema: name.Schema, Name: name.Name})
	}
	return tables
}

// closedLocks holds the tables of LOCK TABLES, and those that its views read, to what the shards have.
func (c Context) closedLocks(s *stmt.Statement) error {
	var names []stmt.TableName
	for _, name := range s.Tables {
		if c.far(name) {
			names = append(names, c.behind(name)...)
		} else {
			names = append(names, name)
		}
	}
	return c.each(names, c.Catalog.Reading)
}
