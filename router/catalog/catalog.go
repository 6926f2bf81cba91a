package catalog

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"locus/router"
)

// Catalog is all declared tables. It is immutable; a change replaces it whole.
type Catalog struct {
	tables map[TableName]*Table
	broken map[TableName]error
	// names holds, by the bare names of declared tables in lower case, the schemas
	// that have one, for texts that no parser can read.
	names map[string][]string
	// folded holds the declared names by their spelling in lower case.
	folded map[TableName]TableName
	// Shards are all registered shards, those without genes too, in the order of
	// their names. The first has everything that is not declared.
	Shards     []router.ShardName
	makesGenes bool
	closed     *names // nil: what else the shards have is not known
}

// New makes a catalog of at least one shard. Broken tables are declared but don't fit their schema:
// statements on them are refused with the reason.
func New(shards []router.ShardName, tables []*Table, broken map[TableName]error) *Catalog {
	c := &Catalog{
		tables: make(map[TableName]*Table, len(tables)), broken: broken,
		names: map[string][]string{}, folded: map[TableName]TableName{}, Shards: shards,
	}
	for _, t := range tables {
		c.makesGenes = c.makesGenes || t.MakesGene()
		c.tables[t.TableName] = t
		c.name(t.TableName)
	}
	for n := range broken {
		fits, is := c.folded[n.lower()]
		if c.name(n); is && c.tables[fits] != nil { // one that can be served keeps its name
			c.folded[n.lower()] = fits
		}
	}
	return c
}

func (c *Catalog) name(n TableName) {
	low := n.lower()
	c.names[low.Name] = append(c.names[low.Name], low.Schema)
	c.folded[n.lower()] = n
}

// Misspelled gives the declared table of which name differs from its own only
// in letter case. A server on Linux has no such table, and others would take it
// for the declared one.
func (c *Catalog) Misspelled(name TableName) (declared TableName, ok bool) {
	declared, ok = c.folded[name.lower()]
	return declared, ok && declared != name
}

// MisspelledError is the name of a declared table in another letter case.
type MisspelledError struct{ Name, Declared TableName }

func (e *MisspelledError) Error() string {
	return fmt.Sprintf("Table '%s' doesn't exist; the declared one is %s, and letter case counts", e.Name, e.Declared)
}

// BrokenError is a statement on a declared table that does not fit its schema.
type BrokenError struct {
	Table  TableName
	Reason error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("table %s is declared but can't be served: %v", e.Table, e.Reason)
}

func (e *BrokenError) Unwrap() error { return e.Reason }

// Misfit is why a table doesn't fit its schema, with the kind that it was declared
// to be, and the shard that a single one is on.
type Misfit struct {
	Kind        Kind
	Shard       router.ShardName
	Declaration Declaration
	Err         error
}

func (e *Misfit) Error() string { return e.Err.Error() }
func (e *Misfit) Unwrap() error { return e.Err }

// NowhereError is a declared table that no shard has.
type NowhereError struct{ Shards string }

func (e *NowhereError) Error() string {
	return "it doesn't exist on " + e.Shards + ": create it there first"
}

// Unfit gives what a table was declared to be that doesn't fit its schema; nil: there is
// none of the name.
func (c *Catalog) Unfit(name TableName) *Misfit {
	m, _ := errors.AsType[*Misfit](c.broken[name])
	return m
}

// Declared is what a table is declared to be, whether it fits or not.
func (c *Catalog) Declared(name TableName) (d Declaration, ok bool) {
	if t := c.tables[name]; t != nil {
		return t.Declaration, true
	}
	if m := c.Unfit(name); m != nil {
		return m.Declaration, true
	}
	return d, false
}

// HasSharded tells whether a schema has a table that is declared sharded.
func (c *Catalog) HasSharded(schema string) bool { return len(c.ShardedIn(schema)) > 0 }

// ShardedIn returns the names of a database's tables that are declared sharded, in their order.
func (c *Catalog) ShardedIn(schema string) (names []string) {
	for name := range c.sharded() {
		if name.Schema == schema {
			names = append(names, name.Name)
		}
	}
	slices.Sort(names)
	return names
}

// ShardedSchemas returns the databases that have sharded tables, in the order of their names.
func (c *Catalog) ShardedSchemas() []string {
	schemas := map[string]bool{}
	for name := range c.sharded() {
		schemas[name.Schema] = true
	}
	return slices.Sorted(maps.Keys(schemas))
}

// sharded yields the tables that are declared sharded, also those whose declarations can't be used.
func (c *Catalog) sharded() iter.Seq[TableName] {
	return func(yield func(TableName) bool) {
		for name, t := range c.tables {
			if t.Kind == Sharded && !yield(name) {
				return
			}
		}
		for name := range c.broken {
			if m := c.Unfit(name); m != nil && m.Kind == Sharded && !yield(name) {
				return
			}
		}
	}
}

// MakesGenes tells whether any table has [OwnGene].
func (c *Catalog) MakesGenes() bool { return c.makesGenes }

// First is the shard of everything that is not declared.
func (c *Catalog) First() router.ShardName { return c.Shards[0] }

// Find gives the declared table, or nil for one that nobody declared.
func (c *Catalog) Find(name TableName) (*Table, error) {
	if t := c.tables[name]; t != nil {
		return t, nil
	}
	if err := c.broken[name]; err != nil {
		return nil, &BrokenError{name, err}
	}
	return nil, nil
}

// Tables gives the declared tables that fit, in the order of their names.
func (c *Catalog) Tables() []*Table {
	out := make([]*Table, 0, len(c.tables))
	for _, t := range c.tables {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *Table) int { return a.TableName.Compare(b.TableName) })
	return out
}

// Broken gives the declared tables that don't fit, with the reasons.
func (c *Catalog) Broken() map[TableName]error { return c.broken }
