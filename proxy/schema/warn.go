package schema

import (
	"fmt"
	"iter"
	"slices"
	"strings"

	"locus/router/catalog"
)

// warnings are what keeps a table from being safe or quick, on any shard.
func (c *copies) warnings(t *catalog.Table) []error {
	var warnings []error
	for i, live := range c.tables {
		warn := func(format string, args ...any) {
			warnings = append(warnings, fmt.Errorf("table %s on %s: %s", c.name, c.shards[i], fmt.Sprintf(format, args...)))
		}
		if t.Kind != catalog.Single && live.engine != "InnoDB" {
			warn("its engine is %s, which can't roll back: ALTER TABLE %s ENGINE=InnoDB", live.engine, c.name)
		}
		if t.Kind != catalog.Single && !live.primaryKey {
			warn("it has no primary key, so its rows can't be moved or compared: add one")
		}
		if key := geneKey(t); key != nil && !live.leading[strings.ToLower(key.Column.Name)] {
			warn("no index begins with %s, so to find the rows of a gene is to read all: ALTER TABLE %s ADD INDEX (%s)",
				key.Column.Name, c.name, key.Column.Name)
		}
	}
	return warnings
}

// geneKey is the column by which SQL tells a row's gene: nil if the table isn't
// sharded.
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
	return slices.SortedFunc(names, func(a, b catalog.TableName) int { return compareText(a.String(), b.String()) })
}

func compareText(a, b string) int { return strings.Compare(a, b) }
