package catalog

import (
	"slices"
	"strings"
)

// OnDefaultShard returns a description of an object that occurs among the words of a text and that the other shards lack or have differently. That is
// a table, a view, a routine that is not on every shard, or a schema of the server itself. Words are as for [Catalog.Mentions]. The routine
// but is ignored. The result is false if the default shard's listing is unknown.
func (c *Catalog) OnDefaultShard(current string, words []string, but TableName) (name string, is bool) {
	if c.closed == nil || c.closed.reach[c.First()] == nil {
		return "", false
	}
	first := c.closed.reach[c.First()]
	schemas := []string{strings.ToLower(current)}
	for _, w := range words {
		if IsSystemSchema(w) {
			return "schema " + w, true
		}
		if first.listing.schemas[w] && !slices.Contains(schemas, w) {
			schemas = append(schemas, w)
		}
	}
	for _, w := range words {
		for _, schema := range schemas {
			for _, o := range first.named(TableName{schema, w}) {
				if what := c.localObject(o, but.lower()); what != "" {
					return what, true
				}
			}
		}
	}
	return "", false
}

// localObject describes an object of the default shard that the other shards lack or have differently. It returns "" if all shards have it alike.
func (c *Catalog) localObject(o *listed, but TableName) string {
	if o.table != nil {
		switch {
		case o.table.Base():
			return "table " + o.table.String()
		case !c.isOnAll(o.table.TableName):
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
