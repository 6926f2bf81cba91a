package catalog

import (
	"fmt"
	"slices"
	"strings"

	"locus/router"
)

// NewListed is New with all that the shards have. A shard whose listing isn't known
// is missing in listings; what is there alone is unknown then.
func NewListed(shards []router.ShardName, tables []*Table, broken map[TableName]error, listings map[router.ShardName]*Listing) *Catalog {
	c := New(shards, tables, broken)
	c.close(listings)
	return c
}

// AmbiguousError is a table that nobody declared, and that isn't on the default shard
// alone.
type AmbiguousError struct {
	Table   TableName
	Shards  []router.ShardName // that have it
	Default router.ShardName
}

func (e *AmbiguousError) Error() string {
	if len(e.Shards) == 1 {
		return fmt.Sprintf("table %s is not declared, and is on shard %s alone: declare it (kind: single, shard: %s)", e.Table, e.Shards[0], e.Shards[0])
	}
	stays := e.Default
	if !slices.Contains(e.Shards, stays) {
		stays = e.Shards[0]
	}
	others := slices.DeleteFunc(slices.Clone(e.Shards), func(s router.ShardName) bool { return s == stays })
	return fmt.Sprintf("table %s is not declared, and is on shards %s: declare what it is, or, connected to the shards, bring its rows to %s and drop it on %s",
		e.Table, List(e.Shards), stays, List(others))
}

// FarError is an object that reaches more than the shard has on which it is.
type FarError struct {
	What   string // "view", "procedure", "a trigger of table", "foreign key fk of table"
	Name   TableName
	Reach  string
	Remedy string
}

func (e *FarError) Error() string {
	return fmt.Sprintf("%s %s reaches %s, of which its shard may not have all rows: %s", e.What, e.Name, e.Reach, e.Remedy)
}

// Knows tells whether some shard has a table or view of the name, as far as is known.
func (c *Catalog) Knows(name TableName) bool {
	if c.closed == nil || IsSystemSchema(name.Schema) {
		return true
	}
	_, ok := c.spelled(name)
	return ok || c.tables[name] != nil || c.broken[name] != nil
}

// spelled is the name as the shards have it, which is another in letter case where
// none is the same.
func (c *Catalog) spelled(name TableName) (TableName, bool) {
	if len(c.closed.on[name]) > 0 {
		return name, true
	}
	folded, ok := c.closed.folded[name.lower()]
	return folded, ok
}

// Reading tells why a table or view can't be read: an *AmbiguousError or a *FarError.
// Of declared tables it says that only of those which are views.
func (c *Catalog) Reading(name TableName) error {
	o, err := c.object(name)
	if o == nil || o.table.Base() || o.read.far == "" {
		return err
	}
	far := FarView(o.table.TableName, o.read.far)
	if v := c.farView(o.table.TableName); v != nil && v.obstacle != "" {
		far.Remedy += "; the view itself can't be read through the proxy: " + v.obstacle
	}
	return far
}

// FarView is a view that reaches too far.
func FarView(name TableName, reaches string) *FarError {
	return &FarError{"view", name, reaches, "query the tables that it reads, or write its SELECT in the place of its name, in parentheses"}
}

// Listed tells whether it is known what the shards have.
func (c *Catalog) Listed() bool { return c.closed != nil }

// On are the shards that have a table or view, as far as is known.
func (c *Catalog) On(name TableName) []router.ShardName {
	if c.closed == nil {
		return nil
	}
	return c.closed.on[name]
}

// Stores tells whether some shard has a routine of the name, or a package; schema is as
// it was written, perhaps empty.
func (c *Catalog) Stores(current, schema, name string) bool {
	if c.closed == nil {
		return false
	}
	for _, r := range c.closed.reach {
		for _, full := range called(current, schema, name) {
			if len(r.routines[full]) > 0 {
				return true
			}
		}
	}
	return false
}

// StoredOn gives the shards that have a routine of the name, and those that are known
// to lack it, in the catalog's order.
func (c *Catalog) StoredOn(current, schema, name string) (has, lack []router.ShardName) {
	if c.closed == nil {
		return nil, nil
	}
	for _, shard := range c.Shards {
		r := c.closed.reach[shard]
		switch {
		case r == nil:
		case slices.ContainsFunc(called(current, schema, name), func(full TableName) bool { return len(r.routines[full]) > 0 }):
			has = append(has, shard)
		default:
			lack = append(lack, shard)
		}
	}
	return has, lack
}

// called are the names, in lower case, of what a call may mean: a routine, or that of a
// package in the current schema.
func called(current, schema, name string) []TableName {
	if schema == "" {
		return []TableName{TableName{current, name}.lower()}
	}
	return []TableName{TableName{schema, name}.lower(), TableName{current, schema}.lower()}
}

// Writing tells why rows of a table or view can't be changed though they may be
// read: what its triggers do, or foreign keys, reaches too far.
func (c *Catalog) Writing(name TableName) error {
	if c.closed == nil {
		return nil
	}
	if torn := c.closed.torn[name]; torn != nil {
		return torn
	}
	if d := c.tables[name]; d != nil && d.Kind != Single {
		return c.writingParts(d)
	}
	o, err := c.object(name)
	if o == nil || o.write.far == "" || o.read.far != "" {
		return err
	}
	if !o.table.Base() {
		return &FarError{"writing to view", o.table.TableName, o.write.far, "write to the tables that it reads, or drop what reaches so far"}
	}
	return &FarError{"a trigger of table", o.table.TableName, o.write.far, "drop the trigger, and let the application do what it does"}
}

// object is what is read for a name that is not of a sharded or global table.
func (c *Catalog) object(name TableName) (*listed, error) {
	if c.closed == nil {
		return nil, nil
	}
	if d := c.tables[name]; d != nil {
		if r := c.closed.reach[d.Shard]; d.Kind == Single && r != nil {
			return r.tables[name], nil
		}
		return nil, nil
	}
	if c.broken[name] != nil { // it is declared, and its own refusal says more
		return nil, nil
	}
	if declared, ok := c.Misspelled(name); ok {
		return nil, &MisspelledError{name, declared}
	}
	name, ok := c.spelled(name)
	if !ok {
		return nil, nil
	}
	first := c.First()
	shards := c.closed.on[name]
	here := slices.Contains(shards, first)
	if IsSystemSchema(name.Schema) {
		here = true
	}
	var o *listed
	if r := c.closed.reach[first]; r != nil {
		o = r.tables[name]
	}
	view := o != nil && !o.table.Base()
	if !here || len(shards) > 1 && !view && !IsSystemSchema(name.Schema) {
		return nil, &AmbiguousError{name, shards, first}
	}
	return o, nil
}

// writingParts is Writing of a table whose rows are on several shards. A trigger that
// does no more than compute the row is let through where all shards have it.
func (c *Catalog) writingParts(d *Table) error {
	var model []string
	compared := false
	for _, shard := range c.Shards {
		l := c.closed.listings[shard]
		if l == nil {
			continue
		}
		bodies := []string{}
		for i := range l.Programs {
			p := &l.Programs[i]
			if p.Type != trigger || p.Schema != d.Schema || p.On != d.Name {
				continue
			}
			if why := c.disturbs(d, shard, p); why != "" {
				return &FarError{"a trigger of table", d.TableName, why, "drop trigger " + p.Name + " on each shard, and let the application do what it does"}
			}
			bodies = append(bodies, p.Name+" "+p.Body)
		}
		slices.Sort(bodies)
		if compared && !slices.Equal(model, bodies) {
			return &FarError{"a trigger of table", d.TableName, "rows of some shards alone", "make its triggers the same on each shard, or drop them"}
		}
		model, compared = bodies, true
	}
	return nil
}

// disturbs says why a trigger may not be on a table whose rows are on several shards.
func (c *Catalog) disturbs(d *Table, shard router.ShardName, p *Program) string {
	for _, o := range c.closed.reach[shard].all {
		if o.program == p && o.read.far != "" {
			return o.read.far
		}
	}
	if d.Kind == Global {
		return "each shard's copy by itself"
	}
	words := p.reading().words
	for i := range d.Keys {
		if words[strings.ToLower(d.Keys[i].Column.Name)] {
			return "column " + d.Keys[i].Column.Name + ", by which rows are placed"
		}
	}
	for _, verb := range []string{"insert", "update", "delete", "replace", "select", "call"} {
		if words[verb] {
			return "other rows (" + strings.ToUpper(verb) + ")"
		}
	}
	return ""
}

// Calling tells why a routine can't be called: what it reaches on some shard. schema is
// as it was written, perhaps empty.
func (c *Catalog) Calling(current, schema, name string) error {
	if c.closed == nil {
		return nil
	}
	for _, shard := range c.Shards {
		r := c.closed.reach[shard]
		if r == nil {
			continue
		}
		for _, full := range called(current, schema, name) {
			for _, o := range r.routines[full] {
				if o.read.far != "" {
					return &FarError{strings.ToLower(o.program.Type), o.program.TableName, o.read.far, "send the statements of its body themselves"}
				}
			}
		}
	}
	return nil
}

// Invokes tells a view that is run with the rights of who reads it: of the account
// of the shard, that is, whoever the client is.
func (c *Catalog) Invokes(name TableName) bool {
	if c.closed == nil {
		return false
	}
	name, ok := c.spelled(name)
	return ok && slices.ContainsFunc(c.closed.on[name], func(s router.ShardName) bool { return c.closed.reach[s].tables[name].table.Invoker })
}

// Quiet tells whether reading and writing a table leaves nothing behind on a
// connection: a base table without triggers, whose generated columns and defaults do
// no more than compute, on each shard that has it. False if that isn't known.
func (c *Catalog) Quiet(name TableName) bool { return c.closed != nil && c.closed.quiet[name] }

// Mentions returns a name among the words of a text that may denote something outside the default shard: a declared table, an ambiguous
// one, or a view or routine that reaches too far. Words are in lower case and without quotes. A bare word may be a name of the current
// schema, or of a schema whose name occurs too.
func (c *Catalog) Mentions(current string, words []string) (name string, ok bool) {
	occurs := map[string]bool{strings.ToLower(current): true}
	for _, w := range words {
		occurs[w] = true
	}
	for _, w := range words {
		if slices.ContainsFunc(c.names[w], func(schema string) bool { return occurs[schema] && !c.home(TableName{schema, w}) }) {
			return "the declared table " + w, true
		}
		if c.closed == nil {
			continue
		}
		for _, far := range c.closed.far[w] {
			if occurs[strings.ToLower(far.Schema)] {
				return far.String() + ", which is not on one shard alone", true
			}
		}
	}
	return "", false
}

// home tells whether a declared table is the default shard's alone.
func (c *Catalog) home(lower TableName) bool {
	t := c.tables[c.folded[lower]]
	return t != nil && t.Kind == Single && t.Shard == c.First()
}

// IsSystemSchema tells the schemas that each server has for itself.
func IsSystemSchema(name string) bool {
	switch strings.ToLower(name) {
	case "information_schema", "performance_schema", "mysql", "sys", "locus":
		return true
	}
	return false
}

// Alone tells whether nothing but a table's own rows is read or written with it on the first shard: it is there, it is no
// view, and no trigger is on it. What the servers have of themselves is alone.
func (c *Catalog) Alone(name TableName) bool {
	switch strings.ToLower(name.Schema) {
	case "information_schema", "performance_schema", "mysql", "sys":
		return true
	}
	if c.closed == nil || c.closed.listings[c.First()] == nil {
		return false
	}
	o := c.closed.reach[c.First()].tables[name]
	return o != nil && o.table.Base() && !slices.ContainsFunc(c.closed.listings[c.First()].Programs, func(p Program) bool {
		return p.Type == trigger && p.Schema == name.Schema && p.On == name.Name
	})
}
