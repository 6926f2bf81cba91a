package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// planViews plans a read of views that read rows of several shards. Their queries replace their names as derived tables, and the
// result is planned. It returns nil if there are no such views, or if the result might not mean the same. The catalog then
// returns the reason.
func (c Context) planViews(l *stmt.Lexed, s *stmt.Statement) Plan {
	switch {
	case c.Shard != "": // the shard has the view
		return nil
	case s.Kind != stmt.Select, !slices.ContainsFunc(TablesOf(s), func(t stmt.TableName) bool { return c.viewQuery(t) != "" }):
		return nil
	case s.Features&stmt.Locking != 0: // a server locks no rows of a derived table
		return nil
	case len(c.Temporary) > 0: // a temporary table can't replace a table in a view, but it would in the view's query
		return nil
	case c.Rights != nil && (c.Rights.Databases != nil || c.Rights.Tables != nil): // the user may be allowed to use a view but not its tables
		return nil
	}
	places, err := stmt.FindPlaces(l)
	if err != nil {
		return nil
	}
	e := expansion{context: c, l: l}
	for _, place := range places.Tables {
		if !e.expandView(place) {
			return nil
		}
	}
	for _, field := range places.Unnamed {
		e.field(field)
	}
	return &Rewritten{Facts: Facts{Statement: s}, Text: e.text(), What: "views"}
}

// viewQuery returns the query that replaces a view. It is empty for other names.
func (c Context) viewQuery(name stmt.TableName) string { return c.Catalog.Derived(c.fullName(name)) }

// expansion is a text with queries in place of views.
type expansion struct {
	context Context
	l       *stmt.Lexed
	edits   []edit
}

// edit replaces the text between start and end.
type edit struct {
	start, end int
	text       string
}

// expandView replaces a view by its query. It returns false in three cases: a column may then refer to another table; the statement is
// TABLE v, which not every server knows; or index hints follow the view.
func (e *expansion) expandView(place stmt.TablePlace) bool {
	ref := &place.Block.Tables[place.Index]
	if ref.Derived {
		return true
	}
	query := e.context.viewQuery(ref.TableName)
	if query == "" {
		return true
	}
	if place.Statement || place.Hints.Text != "" { // a derived table has no indexes
		return false
	}
	for i := range place.Block.Tables {
		if i != place.Index && strings.EqualFold(place.Block.Tables[i].Alias, ref.Alias) { // only their schemas distinguish them
			return false
		}
	}
	at := edit{e.l.Offset(place.Start), e.l.Offset(place.End), " (" + query + ") "}
	if !e.l.Aliased(at.end) {
		at.text += "AS " + quote(ref.Alias) + " "
	}
	e.edits = append(e.edits, at)
	for _, q := range e.l.Qualifiers(e.context.schemaOf(ref.TableName), ref.Alias) { // a derived table has no schema
		if start := e.l.Offset(q.Start); !slices.ContainsFunc(e.edits, func(x edit) bool { return x.start == start }) {
			e.edits = append(e.edits, edit{start: start, end: e.l.Offset(q.End)})
		}
	}
	return true
}

// longestAlias is the length of the longest column alias, in bytes.
const longestAlias = 256

// field names a field by its original text if that text is changed.
func (e *expansion) field(f stmt.UnnamedPlace) {
	start, end := e.l.Offset(f.Start), e.l.Offset(f.End)
	changed := slices.ContainsFunc(e.edits, func(x edit) bool { return start <= x.start && x.end <= end && x.start < x.end })
	if changed && end-start <= longestAlias {
		e.edits = append(e.edits, edit{end, end, " AS " + quote(string(e.l.Text[start:end]))})
	}
}

func (e *expansion) text() string {
	slices.SortStableFunc(e.edits, func(a, b edit) int { return a.start - b.start })
	var out strings.Builder
	from := 0
	for _, x := range e.edits {
		out.Write(e.l.Text[from:x.start])
		out.WriteString(x.text)
		from = x.end
	}
	out.Write(e.l.Text[from:])
	return out.String()
}

// viewEverywhere reports whether the statement is CREATE VIEW over objects that are all on every shard, or DROP VIEW of views
// that all are. With IF EXISTS, some of them need not exist.
func (c Context) viewEverywhere(s *stmt.Statement) bool {
	if !s.View || len(s.Tables) == 0 {
		return false
	}
	if s.Verb == "DROP" {
		everywhere := 0
		for _, t := range s.Tables {
			switch full := c.fullName(t); {
			case c.Catalog.Everywhere(full):
				everywhere++
			case s.IfExists && !c.Catalog.Knows(full): // every shard warns that it does not exist
			default:
				return false
			}
		}
		return everywhere > 0
	}
	view := c.fullName(s.Tables[0])
	if _, declared := c.Catalog.Declared(view); declared || c.Catalog.HasTable(view) {
		return false
	}
	return len(s.Tables) > 1 && !slices.ContainsFunc(s.Tables[1:], func(t stmt.TableName) bool {
		spread, err := c.onEveryShard(t)
		return err != nil || !spread && c.viewQuery(t) == ""
	})
}

// planAlterView plans ALTER VIEW of a view that is on several shards as the equivalent CREATE OR REPLACE VIEW. It returns nil for
// other statements.
func (c Context) planAlterView(l *stmt.Lexed) Plan {
	view, replacing, is := l.AlteredView()
	if !is || !c.Catalog.Everywhere(c.fullName(view)) {
		return nil
	}
	return &Rewritten{Facts: Facts{Statement: noted(l, &stmt.Statement{Kind: stmt.DDL, View: true})}, Text: replacing, What: "views"}
}

// checkViewable refuses to create a view on every shard that could not be read there.
func (c Context) checkViewable(s *stmt.Statement) error {
	if s.Verb == "DROP" {
		return nil
	}
	if why := catalog.ViewObstacle(s); why != "" {
		return refuse(TooFar, "view %s over tables that are on every shard: %s", c.fullName(s.Tables[0]), why)
	}
	return c.checkUneven(s.Tables[1:]) // each shard would replace a star by its own columns
}
