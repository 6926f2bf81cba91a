package catalog

import (
	"slices"
	"strings"

	"locus/router"
	"locus/router/stmt"
)

// farView is a view on the default shard that reaches rows of several shards.
type farView struct {
	query string // the query as the server prints it: every name with its schema
	// obstacle is why the query can't replace the view's name in a statement; empty: it can.
	obstacle string
	// names are the tables and views that the query names. It is empty if the query calls something that may reach others.
	names []TableName
}

// Derived returns the query that can replace the name of a view over rows of several shards. It returns "" if no such view has the name, or if
// the query could have another meaning in a statement.
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

// noteViews records the views of the default shard that reach rows of other shards.
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
	s, err := parseText("CREATE VIEW v AS " + t.Query)
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
		v.query = t.withColumns(t.Query)
	}
	return v
}

// ViewSources returns the tables and views that are named by the query of a view over rows of several shards. It returns nil if no such view has
// the name, or if the query can't be parsed.
func (c *Catalog) ViewSources(view TableName) []TableName {
	if v := c.farView(view); v != nil {
		return v.names
	}
	return nil
}

func parseText(text string) (*stmt.Statement, error) {
	var l stmt.Lexed
	l.Lex([]byte(text), 0)
	return stmt.Parse(&l)
}

// withColumns returns the query with the view's column names, if the query's own fields have other names.
func (t *ListedTable) withColumns(query string) string {
	s, err := parseText(query)
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

// ViewObstacle returns why the query of a CREATE VIEW can't replace the view's name in a statement, or "". The meaning of
// characters beyond ASCII depends on the session's character set, and the meaning of a backslash on its sql_mode. The rows of
// a derived table have no order.
func ViewObstacle(s *stmt.Statement) string {
	switch {
	case s.Varies:
		return "its query has a backslash or letters beyond ASCII in it, which not every session reads alike"
	case s.Ordered:
		return "its query has ORDER BY without LIMIT: leave that out of the view, and write it where the view is read"
	}
	return ""
}

// Lagging returns the views that should be on every shard but are on some only, since view has changed. They name view, now reach rows of
// several shards, and every table or view that they name is on every shard.
func (c *Catalog) Lagging(view TableName) (list []TableName) {
	if c.closed == nil {
		return nil
	}
	for name, v := range c.closed.views {
		if c.farView(name) != nil && v.obstacle == "" && !c.isOnAll(name) && slices.Contains(v.names, view) &&
			!slices.ContainsFunc(v.names, func(n TableName) bool { return !c.isOnAll(n) }) {
			list = append(list, name)
		}
	}
	slices.SortFunc(list, TableName.Compare)
	return list
}

// isOnAll reports whether a table is declared to be on every shard, or every shard has the view.
func (c *Catalog) isOnAll(name TableName) bool {
	if t := c.tables[name]; t != nil {
		return t.Kind != Single
	}
	return len(c.on(name)) == len(c.Shards)
}

// Everywhere reports whether a view is on the default shard and on others.
func (c *Catalog) Everywhere(view TableName) bool {
	return c.closed != nil && len(c.on(view)) > 1 && !c.HasTable(view)
}

// HasTable reports whether some shard is known to have a base table of the name.
func (c *Catalog) HasTable(name TableName) bool {
	if c.closed == nil {
		return false
	}
	return slices.ContainsFunc(c.on(name), func(shard router.ShardName) bool { return c.closed.listings[shard].table(name).Base() })
}
