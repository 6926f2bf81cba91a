package catalog

import "slices"

// Uniform tells whether all shards have the same, but for rows: each table is declared and on every shard, and nothing is
// stored beside them. So what one of them says of its tables holds for the others. False if that isn't known.
func (c *Catalog) Uniform() bool { return c.closed != nil && c.closed.uniform }

// noteUniform finds whether they have.
func (c *Catalog) noteUniform() {
	spread := 0 // tables that each shard is to have
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

// declaredOf counts the tables of a shard, if each is declared to be on every shard; else it is -1.
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
