package catalog

import (
	"fmt"
	"slices"
	"strings"

	"locus/router"
)

// ForeignKey is one as a shard's server has it. Servers hold rows to it, and carry
// changes of one table's rows to another's, of what is on that shard alone.
type ForeignKey struct {
	TableName  // whose rows refer
	Name       string
	Columns    []string
	References TableName
	Referred   []string
	// OnDelete and OnUpdate are in the servers' words, such as CASCADE.
	OnDelete, OnUpdate string
}

// acts tells whether a change of the rows that are referred to changes those that refer.
func (f *ForeignKey) acts() bool { return changes(f.OnDelete) || changes(f.OnUpdate) }

func changes(rule string) bool { return rule != "RESTRICT" && rule != "NO ACTION" }

// rewrites tells whether it assigns the columns that refer, instead of deleting the row.
func (f *ForeignKey) rewrites() bool {
	return changes(f.OnUpdate) || strings.HasPrefix(f.OnDelete, "SET")
}

// says is all of it but its name, which servers may have made up.
func (f *ForeignKey) says() string {
	return fmt.Sprintf("%s %s, %s %s, %s, %s", f.TableName, f.Columns, f.References, f.Referred, f.OnDelete, f.OnUpdate)
}

// torn says of a foreign key on a shard why it holds or changes other rows there than it
// would on one server, or "".
func (c *Catalog) torn(f *ForeignKey, shard router.ShardName) string {
	child, parent := c.tables[f.TableName], c.tables[f.References]
	switch kind := kindOf(parent); {
	case c.nowhere(f.References): // a dump makes it later: until then each shard says what one server would
	case kind == Sharded && kindOf(child) == Sharded:
		if !together(f, child, parent) {
			return "rows of " + parent.String() + ", which may be on other shards than those that refer to them"
		}
	case kind == Sharded:
		return "sharded table " + parent.String()
	case kind == Single && kindOf(child) == Single:
		return ""
	case kind == Single && kindOf(child) == Global:
		if f.acts() {
			return "table " + f.References.String() + ", which is on shard " + string(shard) + " alone"
		}
		return ""
	case kind == Single:
		return "table " + f.References.String() + ", which is on shard " + string(shard) + " alone"
	}
	if kindOf(child) == Sharded && f.moves(child) {
		return "columns by which rows are placed"
	}
	if kindOf(child) != Single && !c.everywhere(f) {
		return "rows of some shards alone"
	}
	return ""
}

// nowhere tells a table that no shard has, as far as is known.
func (c *Catalog) nowhere(name TableName) bool {
	return c.closed != nil && len(c.closed.on[name]) == 0 && c.tables[name] == nil
}

// Missing tells a table or view that is not declared and that no shard has, in any letter case, as far as is known.
func (c *Catalog) Missing(name TableName) bool { return c.closed != nil && !c.Knows(name) }

// kindOf takes what isn't declared as the default shard's.
func kindOf(t *Table) Kind {
	if t == nil {
		return Single
	}
	return t.Kind
}

// together tells whether rows that refer are where those are that they refer to.
func together(f *ForeignKey, child, parent *Table) bool {
	for i, name := range f.Columns {
		for _, k := range child.Keys {
			if !strings.EqualFold(k.Column.Name, name) || i >= len(f.Referred) {
				continue
			}
			if slices.ContainsFunc(parent.Keys, func(p Key) bool {
				return strings.EqualFold(p.Column.Name, f.Referred[i]) && p.Domain() == k.Domain()
			}) {
				return true
			}
		}
	}
	return false
}

// moves tells whether it would give rows another place.
func (f *ForeignKey) moves(child *Table) bool {
	return f.rewrites() && slices.ContainsFunc(child.Keys, func(k Key) bool {
		return slices.ContainsFunc(f.Columns, func(name string) bool { return strings.EqualFold(name, k.Column.Name) })
	})
}

// everywhere tells whether each shard that is known has the same.
func (c *Catalog) everywhere(f *ForeignKey) bool {
	for _, l := range c.closed.listings {
		if l != nil && !slices.ContainsFunc(l.ForeignKeys, func(other ForeignKey) bool { return other.says() == f.says() }) {
			return false
		}
	}
	return true
}

// noteTorn finds the tables whose rows can't be changed since a foreign key would have
// other rows refused, or changed, than on one server: the two that it ties, and those
// from which changes come to them.
func (c *Catalog) noteTorn() {
	n := c.closed
	n.torn = map[TableName]*FarError{}
	from := map[TableName][]TableName{} // whose changes come to a table
	var next []TableName
	note := func(name TableName, why *FarError) {
		if n.torn[name] == nil {
			n.torn[name] = why
			next = append(next, name)
		}
	}
	for _, shard := range c.Shards {
		l := n.listings[shard]
		if l == nil {
			continue
		}
		for i := range l.ForeignKeys {
			f := &l.ForeignKeys[i]
			if f.acts() {
				from[f.TableName] = append(from[f.TableName], f.References)
			}
			if why := c.torn(f, shard); why != "" {
				far := &FarError{
					"foreign key " + f.Name + " of table", f.TableName, why,
					"drop it on each shard that has it, and let the application hold to it",
				}
				note(f.TableName, far)
				note(f.References, far)
			}
		}
	}
	for len(next) > 0 {
		name := next[0]
		next = next[1:]
		for _, parent := range from[name] {
			note(parent, n.torn[name])
		}
	}
}
