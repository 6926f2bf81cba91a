package catalog

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Remarks returns the objects that the proxy refuses to use, in the schemas of declared tables. These are undeclared tables on other shards
// than the default one, and tables that can't be written. They are also views, routines, triggers, events and foreign keys that reach rows of
// other shards. Each text ends with its remedy.
func (c *Catalog) Remarks() []error {
	if c.closed == nil {
		return nil
	}
	schemas := map[string]bool{}
	for _, declared := range c.folded {
		schemas[declared.Schema] = true
	}
	texts := map[string]bool{}
	for shard, l := range c.closed.listings {
		if shard == c.First() { // a table that only this shard has is not ambiguous
			continue
		}
		for i := range l.Tables {
			name := l.Tables[i].TableName
			if !schemas[name.Schema] || c.tables[name] != nil || c.broken[name] != nil {
				continue
			}
			if shards := c.on(name); c.closed.listings[shards[0]].table(name).Base() {
				texts[(&AmbiguousError{name, shards, c.First()}).Error()] = true
			}
		}
	}
	for _, r := range c.closed.reach {
		c.remarks(r, schemas, texts)
	}
	for name, err := range c.closed.torn {
		if schemas[name.Schema] {
			texts[fmt.Sprintf("table %s: to write it is refused: %v", name, err)] = true
		}
	}
	for name, t := range c.tables {
		if err := c.Writing(name); err != nil && t.Kind != Single {
			texts[fmt.Sprintf("table %s: to write it is refused: %v", name, err)] = true
		}
	}
	for _, text := range c.lookupRemarks() {
		texts[text] = true
	}
	var all []error
	for text := range texts {
		all = append(all, errors.New(text))
	}
	slices.SortFunc(all, func(a, b error) int { return strings.Compare(a.Error(), b.Error()) })
	return all
}

// remarks adds the remarks of one shard. A view that the proxy replaces by its query needs none.
func (c *Catalog) remarks(r *reach, schemas, texts map[string]bool) {
	for _, o := range r.all {
		switch {
		case o.read.far == "":
		case o.program != nil && schemas[o.program.Schema]:
			texts[fmt.Sprintf("%s %s on %s: it reaches %s: drop it, and let the application do what it does", strings.ToLower(o.program.Type), o.program.TableName, r.shard, o.read.far)] = true
		case o.table != nil && !o.table.Base() && schemas[o.table.Schema] && c.Derived(o.table.TableName) == "":
			texts[fmt.Sprintf("view %s on %s: it reaches %s, and is refused: drop it, and query the tables", o.table.TableName, r.shard, o.read.far)] = true
		}
	}
}
