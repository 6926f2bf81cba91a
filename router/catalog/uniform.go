package catalog

import "slices"

// Uniform reports whether all shards have the same schema: each table is declared and on every shard, and there are no routines, triggers or
// events. Then facts about one shard's schema are valid for the others. The result is false if that isn't known.
func (c *Catalog) Uniform() bool { return c.closed != nil && c.closed.uniform }

// noteUniform sets uniform if all shards have the same schema.
func (c *Catalog) noteUniform() {
	spread := 0 // tables that each shard should have
	for _, d := range c.tables {
		if d.Kind != Single {
			spread++
		}
	}
	for _, shard := range c.Shards {
		l := c.closed.listings[shard]
		if l == nil || slices.ContainsFunc(l.Programs, func(p Program) bool { return !IsSystemSchema(p.Schema) }) || c.declaredOf(l) != spread {
			return
		}
	}
	c.closed.uniform = true
}

// declaredOf returns the number of tables of a shard, or -1 if one of them is not declared to be on every shard.
func (c *Catalog) declaredOf(l *Listing) (n int) {
	for i := range l.Tables {
		name := l.Tables[i].TableName
		if IsSystemSchema(name.Schema) {
			continue
		}
		if d := c.tables[name]; d == nil || d.Kind == Single {
			return -1
		}
		n++
	}
	return n
}
