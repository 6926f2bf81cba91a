package catalog

import (
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"

	"locus/router"
)

// Catalog contains all declared tables. It is immutable; a change replaces it as a whole.
type Catalog struct {
	tables map[TableName]*Table
	broken map[TableName]error
	// names maps the bare names of declared tables, in lower case, to the schemas that have such a table. It is used for texts that no parser can
	// read.
	names map[string][]string
	// folded maps the declared names in lower case to the names as they are declared.
	folded map[TableName]TableName
	// Shards are all registered shards in the order of their names, including shards without genes. The first one has everything that is not
	// declared.
	Shards     []router.ShardName
	makesGenes bool
	closed     *names // nil: the other objects of the shards are unknown
	// lookups are the look-up indexes of a table. unindexed are the tables with an index that must be maintained and doesn't
	// fit. unfitLookups are all indexes that don't fit.
	lookups      map[TableName][]Lookup
	unindexed    map[TableName]*UnindexedError
	unfitLookups []*UnindexedError
	// unkept are the look-up indexes whose filling has not begun.
	unkept []Lookup
}

// New returns a catalog for at least one shard. Broken tables are declared but don't fit their schema: statements on them are refused with the
// reason.
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
		if c.name(n); is && c.tables[fits] != nil { // a table that can be served has precedence
			c.folded[n.lower()] = fits
		}
	}
	c.linkLookups()
	return c
}

func (c *Catalog) name(n TableName) {
	low := n.lower()
	c.names[low.Name] = append(c.names[low.Name], low.Schema)
	c.folded[n.lower()] = n
}

// OtherCase returns the declared table whose name differs from the given one only in letter case. A server on Linux has no table of the given
// name. Other servers would take it for the declared one.
func (c *Catalog) OtherCase(name TableName) (declared TableName, ok bool) {
	declared, ok = c.folded[name.lower()]
	return declared, ok && declared != name
}

// MisspelledError reports a statement that names a declared table in another letter case.
type MisspelledError struct{ Name, Declared TableName }

func (e *MisspelledError) Error() string {
	return fmt.Sprintf("Table '%s' doesn't exist; the declared one is %s, and letter case counts", e.Name, e.Declared)
}

// BrokenError reports a statement on a declared table that does not fit its schema.
type BrokenError struct {
	Table  TableName
	Reason error
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("table %s is declared but can't be served: %v", e.Table, e.Reason)
}

func (e *BrokenError) Unwrap() error { return e.Reason }

// Misfit is the reason why a table doesn't fit its schema. It contains the declared kind, and the shard if that is Single.
type Misfit struct {
	Kind        Kind
	Shard       router.ShardName
	Declaration Declaration
	Err         error
}

func (e *Misfit) Error() string { return e.Err.Error() }
func (e *Misfit) Unwrap() error { return e.Err }

// MissingTableError reports that no shard has a declared table.
type MissingTableError struct{ Shards string }

func (e *MissingTableError) Error() string {
	return "it doesn't exist on " + e.Shards + ": create it there first"
}

// Unfit returns the declaration of a table that doesn't fit its schema, with the reason. It returns nil if no such table has the name.
func (c *Catalog) Unfit(name TableName) *Misfit {
	m, _ := errors.AsType[*Misfit](c.broken[name])
	return m
}

// Declared returns the declaration of a table, even if it doesn't fit. ok is false if there is none.
func (c *Catalog) Declared(name TableName) (d Declaration, ok bool) {
	if t := c.tables[name]; t != nil {
		return t.Declaration, true
	}
	if m := c.Unfit(name); m != nil {
		return m.Declaration, true
	}
	return d, false
}

// HasSharded reports whether a schema contains a table that is declared sharded.
func (c *Catalog) HasSharded(schema string) bool { return len(c.ShardedIn(schema)) > 0 }

// ShardedIn returns the names of a database's tables that are declared sharded, sorted.
func (c *Catalog) ShardedIn(schema string) (names []string) {
	for name := range c.sharded() {
		if name.Schema == schema {
			names = append(names, name.Name)
		}
	}
	slices.Sort(names)
	return names
}

// ShardedSchemas returns the names of the databases that contain sharded tables, sorted.
func (c *Catalog) ShardedSchemas() []string {
	schemas := map[string]bool{}
	for name := range c.sharded() {
		schemas[name.Schema] = true
	}
	return slices.Sorted(maps.Keys(schemas))
}

// sharded yields the tables that are declared sharded, including those that don't fit their schema.
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

// MakesGenes reports whether any table has [OwnGene].
func (c *Catalog) MakesGenes() bool { return c.makesGenes }

// First returns the default shard, which has everything that is not declared.
func (c *Catalog) First() router.ShardName { return c.Shards[0] }

// Find returns the declared table, nil for an undeclared one, or a *BrokenError for one that doesn't fit its schema.
func (c *Catalog) Find(name TableName) (*Table, error) {
	if t := c.tables[name]; t != nil {
		return t, nil
	}
	if err := c.broken[name]; err != nil {
		return nil, &BrokenError{name, err}
	}
	return nil, nil
}

// Tables returns the declared tables that fit their schemas, sorted by name.
func (c *Catalog) Tables() []*Table {
	out := make([]*Table, 0, len(c.tables))
	for _, t := range c.tables {
		out = append(out, t)
	}
	slices.SortFunc(out, func(a, b *Table) int { return a.TableName.Compare(b.TableName) })
	return out
}

// Broken returns the declared tables that don't fit their schemas, with the reasons.
func (c *Catalog) Broken() map[TableName]error { return c.broken }
