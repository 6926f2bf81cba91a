package catalog

import (
	"fmt"
	"slices"
	"strings"

	"locus/router"
	"locus/router/stmt"
)

// NewListed is New with all objects of the shards. Listings lacks the shards whose listing is unknown. Objects that only such a shard has are
// unknown to the catalog.
func NewListed(shards []router.ShardName, tables []*Table, broken map[TableName]error, listings map[router.ShardName]*Listing) *Catalog {
	c := New(shards, tables, broken)
	c.buildNames(listings)
	return c
}

// AmbiguousError reports an undeclared table that is not on the default shard alone.
type AmbiguousError struct {
	Table   TableName
	Shards  []router.ShardName // that have the table
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
	return fmt.Sprintf("table %s is not declared, and is on shards %s: declare it, or, connected to the shards, copy its rows to %s and drop it on %s",
		e.Table, List(e.Shards), stays, List(others))
}

// ForeignRowsError reports an object that reaches rows which its own shard may lack.
type ForeignRowsError struct {
	What   string // "view", "procedure", "a trigger of table", "foreign key fk of table"
	Name   TableName
	Reach  string
	Remedy string
}

func (e *ForeignRowsError) Error() string {
	return fmt.Sprintf("%s %s reaches %s, of which its shard may not have all rows: %s", e.What, e.Name, e.Reach, e.Remedy)
}

// Knows reports whether some shard has a table or view of the name, or the name is declared. It is also true for system schemas, and if the
// listings are unknown.
func (c *Catalog) Knows(name TableName) bool {
	if c.closed == nil || IsSystemSchema(name.Schema) {
		return true
	}
	_, ok := c.actualName(name)
	return ok || c.tables[name] != nil || c.broken[name] != nil
}

// actualName returns the name as the shards have it. If none has exactly this name, that is a name that differs in letter case.
func (c *Catalog) actualName(name TableName) (TableName, bool) {
	var folded TableName
	found := false
	for _, shard := range c.Shards {
		l := c.closed.listings[shard]
		if l == nil {
			continue
		}
		if l.table(name) != nil {
			return name, true
		}
		for _, t := range l.tablesOf(name.lower()) {
			folded, found = t.TableName, true
		}
	}
	return folded, found
}

// Reading returns why a table or view can't be read, or nil: an *AmbiguousError, a *MisspelledError or a *ForeignRowsError. Among declared tables,
// only a view can have such a reason.
func (c *Catalog) Reading(name TableName) error {
	o, err := c.object(name)
	if o == nil || o.table.Base() || o.read.far == "" {
		return err
	}
	far := NewFarViewError(o.table.TableName, o.read.far)
	if v := c.farView(o.table.TableName); v != nil && v.obstacle != "" {
		far.Remedy += "; the view itself can't be read through the proxy: " + v.obstacle
	}
	return far
}

// NewFarViewError returns the error for a view that reaches rows of other shards.
func NewFarViewError(name TableName, reaches string) *ForeignRowsError {
	return &ForeignRowsError{"view", name, reaches, "query the tables that it reads, or write its SELECT in the place of its name, in parentheses"}
}

// Listed reports whether the shards' objects are known.
func (c *Catalog) Listed() bool { return c.closed != nil }

// On returns the shards that are known to have a table or view.
func (c *Catalog) On(name TableName) []router.ShardName {
	if c.closed == nil {
		return nil
	}
	return c.on(name)
}

// Stores reports whether some shard has a routine of the name, or a package. schema is the text in the statement and may be empty.
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

// StoredOn returns the shards that have a routine of the name, and those that are known to lack it, in the catalog's order.
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

// called returns the names, in lower case, that a call may refer to: a routine, or a routine of a package in the current schema.
func called(current, schema, name string) []TableName {
	if schema == "" {
		return []TableName{TableName{current, name}.lower()}
	}
	return []TableName{TableName{schema, name}.lower(), TableName{current, schema}.lower()}
}

// Writing returns why rows of a table or view can't be changed though they may be read, or nil. The reason is a trigger or a foreign key that
// reaches rows of other shards.
func (c *Catalog) Writing(name TableName) error {
	if c.closed == nil {
		return nil
	}
	if torn := c.closed.torn[name]; torn != nil {
		return torn
	}
	if d := c.tables[name]; d != nil && d.Kind != Single {
		return c.checkTriggers(d)
	}
	o, err := c.object(name)
	if o == nil || o.write.far == "" || o.read.far != "" {
		return err
	}
	if !o.table.Base() {
		return &ForeignRowsError{"writing to view", o.table.TableName, o.write.far, "write to the tables that it reads, or drop the triggers and routines that reach those tables"}
	}
	return &ForeignRowsError{"a trigger of table", o.table.TableName, o.write.far, "drop the trigger, and let the application do what it does"}
}

// object returns the object that a statement reads by a name. It returns nil for a sharded or global table, and if the object is unknown.
func (c *Catalog) object(name TableName) (*listed, error) {
	if c.closed == nil {
		return nil, nil
	}
	if d := c.tables[name]; d != nil {
		if r := c.closed.reach[d.Shard]; d.Kind == Single && r != nil {
			return r.table(name), nil
		}
		return nil, nil
	}
	if c.broken[name] != nil { // the table is declared, and Find returns a better error
		return nil, nil
	}
	if declared, ok := c.OtherCase(name); ok {
		return nil, &MisspelledError{name, declared}
	}
	name, ok := c.actualName(name)
	if !ok {
		return nil, nil
	}
	first := c.First()
	shards := c.on(name)
	here := slices.Contains(shards, first)
	if IsSystemSchema(name.Schema) {
		here = true
	}
	var o *listed
	if r := c.closed.reach[first]; r != nil {
		o = r.table(name)
	}
	view := o != nil && !o.table.Base()
	if !here || len(shards) > 1 && !view && !IsSystemSchema(name.Schema) {
		return nil, &AmbiguousError{name, shards, first}
	}
	return o, nil
}

// checkTriggers is Writing for a table whose rows are on several shards. A trigger that only computes the row is allowed if all shards have the
// same one.
func (c *Catalog) checkTriggers(d *Table) error {
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
			if why := c.triggerProblem(d, shard, p); why != "" {
				return &ForeignRowsError{"a trigger of table", d.TableName, why, "drop trigger " + p.Name + " on each shard, and let the application do what it does"}
			}
			bodies = append(bodies, p.Name+" "+p.Body)
		}
		slices.Sort(bodies)
		if compared && !slices.Equal(model, bodies) {
			return &ForeignRowsError{"a trigger of table", d.TableName, "rows of some shards alone", "make its triggers the same on each shard, or drop them"}
		}
		model, compared = bodies, true
	}
	return nil
}

// triggerProblem returns why a trigger is not allowed on a table whose rows are on several shards, or "".
func (c *Catalog) triggerProblem(d *Table, shard router.ShardName, p *Program) string {
	for _, o := range c.closed.reach[shard].all {
		if o.program == p && o.read.far != "" {
			return o.read.far
		}
	}
	if d.Kind == Global {
		return "each shard's copy by itself"
	}
	if stmt.AssignsVariables(p.Body, p.Mode) { // a statement over several shards would have a value for each of them
		return "user variables, which it assigns on each shard by itself"
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

// CallError returns why a routine can't be called, or nil. The reason is an object that the routine reaches on some shard.
// schema is the text in the statement and may be empty.
func (c *Catalog) CallError(current, schema, name string) error {
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
					return &ForeignRowsError{strings.ToLower(o.program.Type), o.program.TableName, o.read.far, "send the statements of its body themselves"}
				}
			}
		}
	}
	return nil
}

// Invokes reports whether a view runs with the privileges of the account that reads it. That is the shard's account, for every client.
func (c *Catalog) Invokes(name TableName) bool {
	if c.closed == nil {
		return false
	}
	name, ok := c.actualName(name)
	return ok && slices.ContainsFunc(c.on(name), func(s router.ShardName) bool { return c.closed.listings[s].table(name).Invoker })
}

// Quiet reports whether reading and writing a table leaves no state on a connection. On each shard that has it, the table must be a base table
// without triggers, and its generated columns and defaults must only compute. The result is false if that isn't known.
func (c *Catalog) Quiet(name TableName) bool {
	if c.closed == nil {
		return false
	}
	found := false
	for _, shard := range c.Shards {
		l := c.closed.listings[shard]
		if l == nil || c.closed.reach[shard].triggered[name] {
			return false
		}
		if t := l.table(name); t != nil {
			if !t.Base() || t.special() {
				return false
			}
			found = true
		}
	}
	return found
}

// Mentions returns a name among the words of a text that may denote something outside the default shard. That is a declared table, an
// ambiguous one, or a view or routine that reaches rows of other shards. Words are in lower case and without quotes. A bare word may be a name
// in the current schema, or in a schema whose name occurs too.
func (c *Catalog) Mentions(current string, words []string) (name string, ok bool) {
	occurs := map[string]bool{strings.ToLower(current): true}
	for _, w := range words {
		occurs[w] = true
	}
	for _, w := range words {
		if slices.ContainsFunc(c.names[w], func(schema string) bool { return occurs[schema] && !c.isOnDefaultOnly(TableName{schema, w}) }) {
			return "the declared table " + w, true
		}
		for _, schema := range c.schemasAmong(occurs) {
			if far, is := c.farObject(TableName{schema, w}); is {
				return far.String() + ", which is not on one shard alone", true
			}
		}
	}
	return "", false
}

// schemasAmong returns the schemas of the shards' objects that occur among names in lower case, sorted.
func (c *Catalog) schemasAmong(occurs map[string]bool) (schemas []string) {
	if c.closed == nil {
		return nil
	}
	for _, l := range c.closed.listings {
		for schema := range l.schemas {
			if occurs[schema] {
				schemas = append(schemas, schema)
			}
		}
	}
	slices.Sort(schemas)
	return slices.Compact(schemas)
}

// farObject returns an object of several shards, or one that reaches rows of other shards, that a name in lower case may denote.
func (c *Catalog) farObject(low TableName) (name TableName, is bool) {
	for _, shard := range c.Shards {
		r := c.closed.reach[shard]
		if r == nil {
			continue
		}
		for _, t := range r.listing.tablesOf(low) {
			if name = t.TableName; c.Reading(name) != nil || c.Writing(name) != nil || len(c.on(name)) > 1 {
				return name, true
			}
		}
		for _, o := range r.routines[low] {
			if o.read.far != "" {
				return o.program.TableName, true
			}
		}
	}
	return TableName{}, false
}

// isOnDefaultOnly reports whether a declared table is on the default shard only.
func (c *Catalog) isOnDefaultOnly(lower TableName) bool {
	t := c.tables[c.folded[lower]]
	return t != nil && t.Kind == Single && t.Shard == c.First()
}

// IsSystemSchema reports whether a schema belongs to each server itself.
func IsSystemSchema(name string) bool {
	switch strings.ToLower(name) {
	case "information_schema", "performance_schema", "mysql", "sys", "locus":
		return true
	}
	return false
}

// Alone reports whether statements on a table read and write only the table's own rows on the first shard: it exists there, is no view, and
// has no trigger. It is always true for a table of a schema that MySQL itself creates.
func (c *Catalog) Alone(name TableName) bool {
	switch strings.ToLower(name.Schema) {
	case "information_schema", "performance_schema", "mysql", "sys":
		return true
	}
	if c.closed == nil || c.closed.listings[c.First()] == nil {
		return false
	}
	t := c.closed.listings[c.First()].table(name)
	return t != nil && t.Base() && !c.closed.reach[c.First()].triggered[name]
}
