package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// expanded is a read of views that reach rows of several shards: their queries stand in the place of
// their names, as derived tables, and that is planned. Nil: it reads none, or none of which that would
// be known to say the same; of these the catalog says why.
func (c Context) expanded(l *stmt.Lexed, s *stmt.Statement) Plan {
	switch {
	case c.Shard != "": // which has the view
		return nil
	case s.Kind != stmt.Select, !slices.ContainsFunc(TablesOf(s), func(t stmt.TableName) bool { return c.derived(t) != "" }):
		return nil
	case s.Features&stmt.Locking != 0: // of a derived table's rows none are locked
		return nil
	case len(c.Temporary) > 0: // a view never means those of its names, and its query would
		return nil
	case c.Rights != nil && (c.Rights.Databases != nil || c.Rights.Tables != nil): // a view may be allowed where its tables are not
		return nil
	}
	places, err := stmt.FindPlaces(l)
	if err != nil {
		return nil
	}
	e := expansion{context: c, l: l}
	for _, place := range places.Tables {
		if !e.table(place) {
			return nil
		}
	}
	for _, field := range places.Unnamed {
		e.field(field)
	}
	return &Rewritten{Facts: Facts{Statement: s}, Text: e.text(), What: "views"}
}

// derived is the query that is to stand in the place of a view; empty: the name is no such view's.
func (c Context) derived(name stmt.TableName) string { return c.Catalog.Derived(c.full(name)) }

// expansion is a text with queries in the place of views.
type expansion struct {
	context Context
	l       *stmt.Lexed
	edits   []edit
}

// edit puts a text in the place of one that begins and ends there.
type edit struct {
	start, end int
	text       string
}

// table puts its query in the place of a view. False: a column may then mean another table's, or it is TABLE v, which not
// every server knows, or index hints stand behind it.
func (e *expansion) table(place stmt.TablePlace) bool {
	ref := &place.Block.Tables[place.Index]
	if ref.Derived {
		return true
	}
	query := e.context.derived(ref.TableName)
	if query == "" {
		return true
	}
	if place.Statement || place.Hints.Text != "" { // a derived table has no indexes
		return false
	}
	for i := range place.Block.Tables {
		if i != place.Index && strings.EqualFold(place.Block.Tables[i].Alias, ref.Alias) { // they are told apart by their schemas
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

// longestAlias is that of a column, in bytes.
const longestAlias = 256

// field names a field by its text, as it was named, if another text stands in it now.
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

// viewEverywhere tells CREATE VIEW over what is on every shard alone, and DROP VIEW of such views.
func (c Context) viewEverywhere(s *stmt.Statement) bool {
	if !s.View || len(s.Tables) == 0 {
		return false
	}
	if s.Verb == "DROP" {
		return !slices.ContainsFunc(s.Tables, func(t stmt.TableName) bool { return !c.Catalog.Everywhere(c.full(t)) })
	}
	view := c.full(s.Tables[0])
	if _, declared := c.Catalog.Declared(view); declared || c.Catalog.HasTable(view) {
		return false
	}
	return len(s.Tables) > 1 && !slices.ContainsFunc(s.Tables[1:], func(t stmt.TableName) bool {
		spread, err := c.spread(t)
		return err != nil || !spread && c.derived(t) == ""
	})
}

// altersView has ALTER VIEW of a view that is on several shards done by the CREATE OR REPLACE VIEW that means the same. Nil: it is
// another statement.
func (c Context) altersView(l *stmt.Lexed) Plan {
	view, replacing, is := l.AlteredView()
	if !is || !c.Catalog.Everywhere(c.full(view)) {
		return nil
	}
	return &Rewritten{Facts: Facts{Statement: noted(l, &stmt.Statement{Kind: stmt.DDL, View: true})}, Text: replacing, What: "views"}
}

// viewable refuses to make a view on every shard that could not be read there.
func (c Context) viewable(s *stmt.Statement) error {
	if s.Verb == "DROP" {
		return nil
	}
	if why := catalog.ViewObstacle(s); why != "" {
		return refuse(TooFar, "view %s over tables that are on every shard: %s", c.full(s.Tables[0]), why)
	}
	return c.unnamed(s.Tables[1:]) // each shard would put its own columns in the place of a star
}
