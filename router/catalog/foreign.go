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

// Acts reports whether a change of the rows that are referred to changes those that refer.
func (f *ForeignKey) Acts() bool { return f.acts() }

// String returns all of it but its name, which servers may have made up.
func (f *ForeignKey) String() string { return f.says() }

// acts tells whether a change of the rows that are referred to changes those that refer.
func (f *ForeignKey) acts() bool { return changes(f.OnDelete) || changes(f.OnUpdate) }

func changes(rule string) bool { return rule != "RESTRICT" && rule != "NO ACTION" }

// says is all of it but its name, which servers may have made up.
func (f *ForeignKey) says() string {
	return fmt.Sprintf("%s %s, %s %s, %s, %s", f.TableName, f.Columns, f.References, f.Referred, f.OnDelete, f.OnUpdate)
}

// torn returns why a foreign key on a shard holds or changes other rows there than it would on one server, or "".
func (c *Catalog) torn(f *ForeignKey, shard router.ShardName) string {
	child, parent := c.kept(f.TableName), c.kept(f.References)
	if why := c.tears(f, child, parent, shard); why != "" {
		return why
	}
	if child.Kind != Single && (parent.Kind != Single || c.nowhere(f.References)) && !c.everywhere(f) {
		return "rows of some shards alone"
	}
	return ""
}

// Tears returns the error of the writes that a foreign key would make impossible, or nil. The key is about to be made on each shard that
// has its table. child is the declaration of that table.
func (c *Catalog) Tears(f *ForeignKey, child Declaration) error {
	if c.closed == nil {
		return nil
	}
	parent := c.kept(f.References)
	if f.References == f.TableName {
		parent = child
	}
	if len(f.Referred) == 0 { // REFERENCES parent, without columns
		f.Referred = c.primaryKey(f.References)
	}
	if why := c.tears(f, child, parent, c.First()); why != "" {
		return farKey(f, why, "leave it out, and let the application hold to it")
	}
	return nil
}

// TornBy returns what writes to which tables would become impossible if a table were made with a declaration, or given it: because of the
// foreign keys that the default shard has already.
func (c *Catalog) TornBy(name TableName, d Declaration) (torn []error) {
	if c.closed == nil || c.closed.listings[c.First()] == nil {
		return nil
	}
	if d.Kind == "" {
		d.Kind = Single
	}
	for _, f := range c.closed.listings[c.First()].ForeignKeys {
		child, parent := c.kept(f.TableName), c.kept(f.References)
		if f.TableName != name && f.References != name || c.tears(&f, child, parent, c.First()) != "" {
			continue
		}
		if f.TableName == name {
			child = d
		}
		if f.References == name {
			parent = d
		}
		if why := tears(&f, child, parent, c.First()); why != "" {
			torn = append(torn, farKey(&f, why, "drop it, and let the application hold to it"))
		}
	}
	return torn
}

// primaryKey returns the names of a declared table's columns in its primary key.
func (c *Catalog) primaryKey(name TableName) (columns []string) {
	t := c.tables[name]
	if t == nil {
		return nil
	}
	for _, u := range t.Unique {
		if u.Name == "PRIMARY" {
			for _, at := range u.Columns {
				columns = append(columns, t.Columns[at].Name)
			}
		}
	}
	return columns
}

// tears is torn, whichever shards have the key.
func (c *Catalog) tears(f *ForeignKey, child, parent Declaration, shard router.ShardName) string {
	if c.nowhere(f.References) && f.References != f.TableName { // a dump makes it later: until then each shard says what one server would
		if child.Kind == Sharded && f.moves(child, parent) {
			return placing
		}
		return ""
	}
	return tears(f, child, parent, shard)
}

const placing = "columns by which rows are placed"

func tears(f *ForeignKey, child, parent Declaration, shard router.ShardName) string {
	switch kind := parent.Kind; {
	case kind == Sharded && child.Kind == Sharded:
		if !f.together(child, parent) {
			return "rows of " + f.References.String() + ", which may be on other shards than those that refer to them"
		}
	case kind == Sharded:
		return "sharded table " + f.References.String()
	case kind == Single && child.Kind == Single:
		return ""
	case kind == Single && child.Kind == Global && !f.acts():
		return ""
	case kind == Single:
		return "table " + f.References.String() + ", which is on shard " + string(shard) + " alone"
	}
	if child.Kind == Sharded && f.moves(child, parent) {
		return placing
	}
	return ""
}

// kept returns the declaration of a table. What isn't declared is the default shard's.
func (c *Catalog) kept(name TableName) Declaration {
	d, _ := c.Declared(name)
	if d.Kind != Sharded && d.Kind != Global {
		d.Kind = Single
	}
	return d
}

// nowhere tells a table that no shard has, as far as is known.
func (c *Catalog) nowhere(name TableName) bool {
	return c.closed != nil && len(c.closed.on[name]) == 0 && c.tables[name] == nil
}

// Missing tells a table or view that is not declared and that no shard has, in any letter case, as far as is known.
func (c *Catalog) Missing(name TableName) bool { return c.closed != nil && !c.Knows(name) }

// together reports whether rows that refer are where those are that they refer to.
func (f *ForeignKey) together(child, parent Declaration) bool {
	for i, name := range f.Columns {
		if domain := child.domain(name); domain != "" && i < len(f.Referred) && domain == parent.domain(f.Referred[i]) {
			return true
		}
	}
	return false
}

// moves reports whether it would give rows another place. A column that places rows of the parent keeps its gene for ever, so a cascade
// of its changes to a column of the same kind moves nothing.
func (f *ForeignKey) moves(child, parent Declaration) bool {
	for i, name := range f.Columns {
		domain := child.domain(name)
		switch {
		case domain == "":
		case strings.HasPrefix(f.OnDelete, "SET"), strings.HasPrefix(f.OnUpdate, "SET"):
			return true
		case changes(f.OnUpdate) && (i >= len(f.Referred) || parent.domain(f.Referred[i]) != domain):
			return true
		}
	}
	return false
}

// domain returns what a column has in common with those whose equal values have equal genes, or "" if it tells no gene. The servers hold
// the columns of a foreign key to one type and collation.
func (d Declaration) domain(column string) string {
	if d.Kind != Sharded {
		return ""
	}
	if gene := d.geneColumn(); gene != "" && strings.EqualFold(gene, column) {
		return "gene"
	}
	switch d.RoleOf(column) {
	case "owner":
		return "owner"
	case "parent":
		return "id/" + d.Parent.Layouts()
	case "id":
		return "id/" + d.ID.Layouts()
	case "order_number":
		return "number/" + d.ID.Layouts()
	}
	return ""
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

func farKey(f *ForeignKey, why, remedy string) *FarError {
	return &FarError{"foreign key " + f.Name + " of table", f.TableName, why, remedy}
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
				far := farKey(f, why, "drop it on each shard that has it, and let the application hold to it")
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
