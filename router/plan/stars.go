package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// named plans the statement with each * replaced by the columns that all shards show, where shards differ in that or are about to. It
// returns nil if no table of a * does.
func (c Context) named(l *stmt.Lexed, s *stmt.Statement) (Plan, error) {
	switch s.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
	default:
		return nil, nil
	}
	e := expansion{context: c, l: l}
	for _, b := range s.Blocks {
		if err := e.block(b); err != nil {
			return nil, err
		}
	}
	if s.Features&stmt.Returning != 0 && l.ReturnsAll() {
		if err := c.unnamed(s.Named()); err != nil {
			return nil, err
		}
	}
	if e.edits == nil {
		return nil, nil
	}
	return &Rewritten{Facts: Facts{Statement: s}, Text: e.text(), What: "columns"}, nil
}

// block names the columns of a block's stars, and refuses what means all columns in a way that can't be written out.
func (e *expansion) block(b *stmt.Block) error {
	stars := slices.ContainsFunc(b.Fields, func(f stmt.Field) bool { return f.Star })
	var uneven []stmt.TableName
	for i := range b.Tables {
		if t := e.changing(&b.Tables[i]); t != nil {
			uneven = append(uneven, b.Tables[i].TableName)
		}
	}
	switch {
	case uneven == nil || !stars && !b.Natural:
		return nil
	case b.Natural || b.Using || !told(b):
		return e.context.unnamed(uneven)
	}
	for i := range b.Fields {
		f := &b.Fields[i]
		if !f.Star {
			continue
		}
		start := e.l.Offset(f.StarAt)
		end, ok := e.l.StarEnd(start)
		if !ok {
			return e.context.unnamed(uneven)
		}
		text, ok := e.columns(b, f.StarOf), true
		if f.StarOf == "" && len(b.Merged) > 0 {
			text, ok = e.merged(b)
		}
		if !ok {
			return e.context.unnamed(uneven)
		}
		if text != "" {
			e.edits = append(e.edits, edit{start, end, text})
		}
	}
	return nil
}

// told tells whether a block's tables have names by which they are told apart.
func told(b *stmt.Block) bool {
	for i := range b.Tables {
		for j := range i {
			if strings.EqualFold(b.Tables[i].Alias, b.Tables[j].Alias) {
				return false
			}
		}
	}
	return true
}

// changing is a table of a block of which all columns have to be named; nil: it is none.
func (e *expansion) changing(ref *stmt.TableRef) *catalog.Table {
	if ref.Derived {
		return nil
	}
	t, err := e.context.find(ref.TableName)
	if err != nil || t == nil || t.ShowsAlike() {
		return nil
	}
	return t
}

// columns are those of a star, or of t.*; empty: it may stay.
func (e *expansion) columns(b *stmt.Block, of string) string {
	var list []string
	names := false
	for i := range b.Tables {
		ref := &b.Tables[i]
		if of != "" && !strings.EqualFold(of, ref.Alias) {
			continue
		}
		t := e.changing(ref)
		if t == nil {
			list = append(list, quote(ref.Alias)+".*")
			continue
		}
		names = true
		list = append(list, shownOf(t, ref.Alias, nil)...)
	}
	if !names {
		return ""
	}
	return strings.Join(list, ", ")
}

// merged are the columns of a star of two tables that are joined by USING: those that are made one of, as the first table has them
// in order, then the others of each. False: the order of others is not known, as of a RIGHT JOIN.
func (e *expansion) merged(b *stmt.Block) (text string, ok bool) {
	if len(b.Tables) != 2 || slices.ContainsFunc(b.Merged, func(m stmt.MergedColumn) bool { return m.Alias != b.Tables[0].Alias }) {
		return "", false
	}
	one := func(c catalog.Column) bool {
		return slices.ContainsFunc(b.Merged, func(m stmt.MergedColumn) bool { return strings.EqualFold(m.Name, c.Name) })
	}
	var list []string
	for i := range b.Tables {
		ref := &b.Tables[i]
		t, err := e.context.find(ref.TableName)
		if ref.Derived || err != nil || t == nil || len(t.Columns) == 0 {
			return "", false
		}
		if i == 0 {
			list = shownOf(t, ref.Alias, one)
		}
		list = append(list, shownOf(t, ref.Alias, func(c catalog.Column) bool { return !one(c) })...)
	}
	return strings.Join(list, ", "), true
}

// shownOf are the columns that every shard shows of a table, in SQL. Nil which: all.
func shownOf(t *catalog.Table, alias string, which func(catalog.Column) bool) (list []string) {
	for _, c := range t.Columns {
		if !c.Invisible && (which == nil || which(c)) {
			list = append(list, quote(alias)+"."+quote(c.Name))
		}
	}
	return list
}

// unnamed refuses a statement that means all columns of tables, in a way that isn't written out, while the shards differ in them.
func (c Context) unnamed(tables []stmt.TableName) error {
	for _, name := range tables {
		if t, err := c.find(name); err == nil && t != nil && !t.Uneven.Even() {
			return refuse(BrokenTable, "the columns of table %s differ between shards (%s), and a statement of this shape means all of them: name the columns, without NATURAL JOIN, USING and TABLE, or make the table alike on every shard", t.TableName, t.Uneven)
		}
	}
	return nil
}
