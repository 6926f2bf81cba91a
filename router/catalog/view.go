package catalog

import (
	"slices"
	"strings"

	"locus/router/stmt"
)

// farView is a view on the default shard that reaches rows of several shards.
type farView struct {
	query string // as its server spells it: every name with its schema
	// obstacle is why the query can't stand in the place of the view's name; empty: it can.
	obstacle string
	// names are the tables and views that the query names; none if it calls what may reach others.
	names []TableName
}

// Derived is the query that means the same as a view of rows on several shards, in the place of
// its name. Empty: the name is no such view's, or its query may mean something else there.
func (c *Catalog) Derived(name TableName) string {
	if v := c.farView(name); v != nil && v.obstacle == "" {
		return v.query
	}
	return ""
}

func (c *Catalog) farView(name TableName) *farView {
	if c.closed == nil || c.tables[name] != nil || c.broken[name] != nil {
		return nil
	}
	return c.closed.views[name]
}

// noteViews finds the views of the default shard that reach further.
func (c *Catalog) noteViews() {
	r := c.closed.reach[c.First()]
	if r == nil {
		return
	}
	c.closed.views = map[TableName]*farView{}
	for name, o := range r.tables {
		if !o.table.Base() && o.read.far != "" && o.table.Hidden == "" {
			c.closed.views[name] = o.table.far()
		}
	}
}

func newFarView(t *ListedTable) *farView {
	s, err := parsed("CREATE VIEW v AS " + t.Query)
	if err != nil {
		return &farView{obstacle: "its query can't be read (" + err.Error() + ")"}
	}
	v := &farView{obstacle: ViewObstacle(s)}
	if !slices.ContainsFunc(s.Called, func(call stmt.Called) bool { return !call.Own }) {
		for _, name := range s.Tables[1:] {
			v.names = append(v.names, TableName{name.Schema, name.Name})
		}
	}
	if v.obstacle == "" {
		v.query = t.naming(t.Query)
	}
	return v
}

// Behind are the tables and views that the query of a view of rows on several shards names. Nil: the name is no such view's, or
// the query can't be read.
func (c *Catalog) Behind(view TableName) []TableName {
	if v := c.farView(view); v != nil {
		return v.names
	}
	return nil
}

func parsed(text string) (*stmt.Statement, error) {
	var l stmt.Lexed
	l.Lex([]byte(text), 0)
	return stmt.Parse(&l)
}

// naming is the query with the columns that the view has, where the query's are called otherwise.
func (t *ListedTable) naming(query string) string {
	s, err := parsed(query)
	named := func(f stmt.Field, name string) bool { return f.Alias == name }
	if t.Columns == nil || err == nil && len(s.Blocks) > 0 && s.Features&stmt.Union == 0 && slices.EqualFunc(s.Blocks[0].Fields, t.Columns, named) {
		return query
	}
	columns := make([]string, len(t.Columns))
	for i, c := range t.Columns {
		columns[i] = quoted(c)
	}
	return "WITH " + quoted(t.Name) + " (" + strings.Join(columns, ", ") + ") AS (" + query + ") SELECT * FROM " + quoted(t.Name)
}

// ViewObstacle tells of a CREATE VIEW why its query could not stand in the place of the view; empty: it could. What is
// not ASCII depends on the session's character set, and a backslash on its sql_mode; and a derived table's rows have no order.
func ViewObstacle(s *stmt.Statement) string {
	switch {
	case s.Varies:
		return "its query has a backslash or letters beyond ASCII in it, which not every session reads alike"
	case s.Ordered:
		return "its query has ORDER BY without LIMIT: leave that out of the view, and write it where the view is read"
	}
	return ""
}

// Lagging are the views that name a view, reach rows of several shards by now, and are on some shards alone, though all that they
// name is on every one: they were made while it was something else.
func (c *Catalog) Lagging(view TableName) (list []TableName) {
	if c.closed == nil {
		return nil
	}
	for name, v := range c.closed.views {
		if c.farView(name) != nil && v.obstacle == "" && !c.onAll(name) && slices.Contains(v.names, view) &&
			!slices.ContainsFunc(v.names, func(n TableName) bool { return !c.onAll(n) }) {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, TableName.Compare)
	return list
}

// onAll tells a table that is declared to be on every shard, or a view that every shard has.
func (c *Catalog) onAll(name TableName) bool {
	if t := c.tables[name]; t != nil {
		return t.Kind != Single
	}
	return len(c.closed.on[name]) == len(c.Shards)
}

// Everywhere tells a view that is on the default shard and on others.
func (c *Catalog) Everywhere(view TableName) bool {
	return c.closed != nil && len(c.closed.on[view]) > 1 && !c.HasTable(view)
}

// HasTable tells whether some shard has a base table of the name, as far as is known.
func (c *Catalog) HasTable(name TableName) bool {
	if c.closed == nil {
		return false
	}
	for _, shard := range c.closed.on[name] {
		if c.closed.reach[shard].tables[name].table.Base() {
			return true
		}
	}
	return false
}
