package catalog

import (
	"fmt"
	"slices"
	"strings"

	"locus/router"
)

// ForeignKey is a foreign key of a table on one shard's server. The server enforces it, and cascades changes of one table's rows to another's, with
// the rows of that shard alone.
type ForeignKey struct {
	TableName  // the table whose rows have the reference
	Name       string
	Columns    []string
	References TableName
	Referred   []string
	// OnDelete and OnUpdate are the rules in the servers' words, such as CASCADE.
	OnDelete, OnUpdate string
}

// Acts reports whether a change of the referenced rows changes the rows that refer to them.
func (f *ForeignKey) Acts() bool { return f.acts() }

// String returns the definition without the name, since servers may have generated the name.
func (f *ForeignKey) String() string { return f.says() }

func (f *ForeignKey) acts() bool { return changes(f.OnDelete) || changes(f.OnUpdate) }

func changes(rule string) bool { return rule != "RESTRICT" && rule != "NO ACTION" }

func (f *ForeignKey) says() string {
	return fmt.Sprintf("%s %s, %s %s, %s, %s", f.TableName, f.Columns, f.References, f.Referred, f.OnDelete, f.OnUpdate)
}

// conflict returns why a foreign key on a shard refuses or changes other rows there than it would on a single server. It returns "" if the key has the
// same effect.
func (c *Catalog) conflict(f *ForeignKey, shard router.ShardName) string {
	child, parent := c.placement(f.TableName), c.placement(f.References)
	if why := c.definitionConflict(f, child, parent, shard); why != "" {
		return why
	}
	if child.Kind != Single && (parent.Kind != Single || c.isNowhere(f.References)) && !c.isOnEachShard(f) {
		return "rows of some shards alone"
	}
	return ""
}

// ForeignKeyError returns the error of the writes that a foreign key would make impossible, or nil. The key is about to be defined on each shard that has its
// table. child is the declaration of that table. If f names no referenced columns, Tears sets f.Referred to the primary key of the referenced table.
func (c *Catalog) ForeignKeyError(f *ForeignKey, child Declaration) error {
	if c.closed == nil {
		return nil
	}
	parent := c.placement(f.References)
	if f.References == f.TableName {
		parent = child
	}
	if len(f.Referred) == 0 { // REFERENCES parent, without columns
		f.Referred = c.primaryKey(f.References)
	}
	if why := c.definitionConflict(f, child, parent, c.First()); why != "" {
		return farKey(f, why, "leave it out, and let the application enforce it")
	}
	return nil
}

// ForeignKeyErrors returns the errors of the writes that would become impossible if a table had declaration d. It considers the foreign keys that the default
// shard already has. It returns nil if no such write exists or the default shard's listing is unknown.
func (c *Catalog) ForeignKeyErrors(name TableName, d Declaration) (torn []error) {
	if c.closed == nil || c.closed.listings[c.First()] == nil {
		return nil
	}
	if d.Kind == "" {
		d.Kind = Single
	}
	for _, f := range c.closed.listings[c.First()].ForeignKeys {
		child, parent := c.placement(f.TableName), c.placement(f.References)
		if f.TableName != name && f.References != name || c.definitionConflict(&f, child, parent, c.First()) != "" {
			continue
		}
		if f.TableName == name {
			child = d
		}
		if f.References == name {
			parent = d
		}
		if why := placementConflict(&f, child, parent, c.First()); why != "" {
			torn = append(torn, farKey(&f, why, "drop it, and let the application enforce it"))
		}
	}
	return torn
}

// primaryKey returns the names of the primary key's columns of a declared table, or nil.
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

// definitionConflict is conflict without the check that all shards have the key.
func (c *Catalog) definitionConflict(f *ForeignKey, child, parent Declaration, shard router.ShardName) string {
	if c.isNowhere(f.References) && f.References != f.TableName { // a dump creates the table later; until then each shard acts like a single server
		if child.Kind == Sharded && f.changesPlace(child, parent) {
			return placing
		}
		return ""
	}
	return placementConflict(f, child, parent, shard)
}

const placing = "columns by which rows are placed"

func placementConflict(f *ForeignKey, child, parent Declaration, shard router.ShardName) string {
	switch kind := parent.Kind; {
	case kind == Sharded && child.Kind == Sharded:
		if !f.colocated(child, parent) {
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
	if child.Kind == Sharded && f.changesPlace(child, parent) {
		return placing
	}
	return ""
}

// placement returns the declaration of a table. An undeclared table is Single, since it is on the default shard.
func (c *Catalog) placement(name TableName) Declaration {
	d, _ := c.Declared(name)
	if d.Kind != Sharded && d.Kind != Global {
		d.Kind = Single
	}
	return d
}

// isNowhere reports whether no shard is known to have the table, and it is not declared. It is false if the listings are unknown.
func (c *Catalog) isNowhere(name TableName) bool {
	return c.closed != nil && len(c.on(name)) == 0 && c.tables[name] == nil
}

// Missing reports whether a table or view is neither declared nor on any shard, in any letter case. It is false if the listings are unknown.
func (c *Catalog) Missing(name TableName) bool { return c.closed != nil && !c.Knows(name) }

// colocated reports whether rows are always on the same shard as the rows that they refer to.
func (f *ForeignKey) colocated(child, parent Declaration) bool {
	for i, name := range f.Columns {
		if domain := child.domain(name); domain != "" && i < len(f.Referred) && domain == parent.domain(f.Referred[i]) {
			return true
		}
	}
	return false
}

// changesPlace reports whether the key could change the place of rows. A column that places rows of the parent never changes its gene. So a
// cascade of its changes to a column of the same domain moves no row.
func (f *ForeignKey) changesPlace(child, parent Declaration) bool {
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

// domain returns the domain of a column, or "" if the column has no gene. Equal values of columns with one domain have equal genes. The servers make
// sure that the columns of a foreign key have one type and collation.
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

// isOnEachShard reports whether each shard with a known listing has the same key.
func (c *Catalog) isOnEachShard(f *ForeignKey) bool {
	for _, l := range c.closed.listings {
		if l != nil && !slices.ContainsFunc(l.ForeignKeys, func(other ForeignKey) bool { return other.says() == f.says() }) {
			return false
		}
	}
	return true
}

func farKey(f *ForeignKey, why, remedy string) *ForeignRowsError {
	return &ForeignRowsError{"foreign key " + f.Name + " of table", f.TableName, why, remedy}
}

// noteTorn records the tables whose rows can't be changed because a foreign key would refuse or change other rows than on a single server. These are
// the two tables of the key, and the tables whose changes cascade to them.
func (c *Catalog) noteTorn() {
	n := c.closed
	n.torn = map[TableName]*ForeignRowsError{}
	from := map[TableName][]TableName{} // the parents whose changes cascade to a table
	var next []TableName
	note := func(name TableName, why *ForeignRowsError) {
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
			if why := c.conflict(f, shard); why != "" {
				far := farKey(f, why, "drop it on each shard that has it, and let the application enforce it")
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
