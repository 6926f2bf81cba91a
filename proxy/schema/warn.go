package schema

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"locus/router/catalog"
)

// warnings returns the problems of a table that make it unsafe or slow, on any shard.
func (c *copies) warnings(t *catalog.Table) []error {
	var warnings []error
	for i, live := range c.tables {
		warn := func(format string, args ...any) {
			warnings = append(warnings, fmt.Errorf("table %s on %s: %s", c.name, c.shards[i], fmt.Sprintf(format, args...)))
		}
		if t.Kind != catalog.Single && live.engine != "InnoDB" {
			warn("its engine is %s, which can't roll back: ALTER TABLE %s ENGINE=InnoDB", live.engine, c.name)
		}
		if t.Kind != catalog.Single && !live.identifiesRows() {
			warn("it has no primary key, and no unique key of whole NOT NULL columns, so its rows can't be moved or compared: add one")
		}
		if key := geneKey(t); key != nil && !live.leading[strings.ToLower(key.Column.Name)] {
			warn("no index begins with %s, so to find the rows of a gene is to read all: ALTER TABLE %s ADD INDEX (%s)",
				key.Column.Name, c.name, key.Column.Name)
		}
	}
	return append(warnings, c.insertWarnings(t)...)
}

// identifiesRows reports whether a key identifies each row of the table.
func (t *liveTable) identifiesRows() bool {
	return t.primaryKey || slices.ContainsFunc(t.unique, func(u uniqueIndex) bool {
		return !u.partial && !slices.ContainsFunc(u.columns, t.mayRepeat)
	})
}

// mayRepeat reports whether several rows of a unique key may have the same value in a column, or the table may not store it.
func (t *liveTable) mayRepeat(column string) bool {
	i := slices.IndexFunc(t.columns, func(c liveColumn) bool { return strings.EqualFold(c.Name, column) })
	return i < 0 || t.columns[i].Nullable || t.columns[i].Generated
}

// insertWarnings returns warnings about INSERTs into a sharded table that are refused.
func (c *copies) insertWarnings(t *catalog.Table) []error {
	if t.Kind != catalog.Sharded {
		return nil
	}
	var warnings []error
	if at := t.Numbered(); at >= 0 && !t.Columns[at].IsInteger() {
		column := t.Columns[at].Name
		warnings = append(warnings, fmt.Errorf("table %s: column %s is AUTO_INCREMENT and no integer, which repeats numbers from shard to shard, so an INSERT must give it: "+
			"make it a BIGINT, which the cluster numbers", c.name, column))
	}
	return warnings
}

// unique returns the unique keys that exist on at least one shard.
func (c *copies) unique(t *catalog.Table) []catalog.UniqueKey {
	var keys []catalog.UniqueKey
	for _, live := range c.tables {
		for _, u := range live.unique {
			key := catalog.UniqueKey{Name: u.name, Partial: u.partial}
			for _, name := range u.columns {
				if at, ok := t.Column(name); ok {
					key.Columns = append(key.Columns, at)
				} else {
					key.Partial = true // the column is not on every shard
				}
			}
			if !slices.ContainsFunc(keys, key.Equal) {
				keys = append(keys, key)
			}
		}
	}
	return keys
}

// geneKey returns the key by which SQL can compute a row's gene, or nil if the table isn't sharded.
func geneKey(t *catalog.Table) *catalog.Key {
	for _, role := range []catalog.Role{catalog.ID, catalog.Parent, catalog.Gene} {
		for i := range t.Keys {
			if t.Keys[i].Role == role {
				return &t.Keys[i]
			}
		}
	}
	return nil
}

func sortedNames(names iter.Seq[catalog.TableName]) []catalog.TableName {
	return slices.SortedFunc(names, catalog.TableName.Compare)
}

func compareText(a, b string) int { return strings.Compare(a, b) }
