package catalog

import (
	"slices"
	"strings"
)

// AtHome returns something that has its name among the words of a text and that the default shard alone has, or has otherwise than the
// others: a table, a view, a routine that is not on every shard, the servers' own tables. Words are as for [Catalog.Mentions]. The
// routine but is passed over. Nothing is known of a default shard that could not be asked.
func (c *Catalog) AtHome(current string, words []string, but TableName) (name string, is bool) {
	if c.closed == nil || c.closed.reach[c.First()] == nil {
		return "", false
	}
	first := c.closed.reach[c.First()]
	schemas := []string{strings.ToLower(current)}
	for _, w := range words {
		if IsSystemSchema(w) {
			return "schema " + w, true
		}
		if first.schemas[w] && !slices.Contains(schemas, w) {
			schemas = append(schemas, w)
		}
	}
	for _, w := range words {
		for _, schema := range schemas {
			for _, o := range first.lower[TableName{schema, w}] {
				if what := c.homely(o, but.lower()); what != "" {
					return what, true
				}
			}
		}
	}
	return "", false
}

// homely names an object of the default shard that others don't have as it has; empty: they do.
func (c *Catalog) homely(o *listed, but TableName) string {
	if o.table != nil {
		switch {
		case o.table.Base():
			return "table " + o.table.String()
		case !c.onAll(o.table.TableName):
			return "view " + o.table.String()
		}
		return ""
	}
	name := o.program.lower()
	if _, lack := c.StoredOn(name.Schema, name.Schema, name.Name); lack == nil || name == but {
		return ""
	}
	return strings.ToLower(o.program.Type) + " " + o.program.String()
}
