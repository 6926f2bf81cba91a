package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// planStars plans the statement with each * replaced by the columns that all shards show, if shards differ in their columns or soon
// will. It returns nil, nil if no table of a * is such a table.
func (c Context) planStars(l *stmt.Lexed, s *stmt.Statement) (Plan, error) {
	switch s.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
	default:
		return nil, nil
	}
	e := expansion{context: c, l: l}
	for _, b := range s.Blocks {
		if err := e.expandStars(b); err != nil {
			return nil, err
		}
	}
	if s.Features&stmt.Returning != 0 && l.ReturnsAll() {
		if err := c.checkUneven(s.Named()); err != nil {
			return nil, err
		}
	}
	if e.edits == nil {
		return nil, nil
	}
	return &Rewritten{Facts: Facts{Statement: s}, Text: e.text(), What: "columns"}, nil
}

// expandStars replaces the stars of a block by columns. It refuses a block that refers to all columns in a form that can't be written
// out.
func (e *expansion) expandStars(b *stmt.Block) error {
	stars := slices.ContainsFunc(b.Fields, func(f stmt.Field) bool { return f.Star })
	var uneven []stmt.TableName
	for i := range b.Tables {
		if t := e.unevenTable(&b.Tables[i]); t != nil {
			uneven = append(uneven, b.Tables[i].TableName)
		}
	}
	switch {
	case uneven == nil || !stars && !b.Natural:
		return nil
	case b.Natural || b.Using || !haveDistinctNames(b):
		return e.context.checkUneven(uneven)
	}
	for i := range b.Fields {
		f := &b.Fields[i]
		if !f.Star {
			continue
		}
		start := e.l.Offset(f.StarAt)
		end, ok := e.l.StarEnd(start)
		if !ok {
			return e.context.checkUneven(uneven)
		}
		text, ok := e.columns(b, f.StarOf), true
		if f.StarOf == "" && len(b.Merged) > 0 {
			text, ok = e.mergedColumns(b)
		}
		if !ok {
			return e.context.checkUneven(uneven)
		}
		if text != "" {
			e.edits = append(e.edits, edit{start, end, text})
		}
	}
	return nil
}

// haveDistinctNames reports whether a block's tables have different names.
func haveDistinctNames(b *stmt.Block) bool {
	for i := range b.Tables {
		for j := range i {
			if strings.EqualFold(b.Tables[i].Alias, b.Tables[j].Alias) {
				return false
			}
		}
	}
	return true
}

// unevenTable returns the table of a reference if all of its columns must be named, or nil.
func (e *expansion) unevenTable(ref *stmt.TableRef) *catalog.Table {
	if ref.Derived {
		return nil
	}
	t, err := e.context.find(ref.TableName)
	if err != nil || t == nil || t.ShowsAlike() {
		return nil
	}
	return t
}

// columns returns the columns that replace * or t.*. Empty means that the star may remain.
func (e *expansion) columns(b *stmt.Block, of string) string {
	var list []string
	names := false
	for i := range b.Tables {
		ref := &b.Tables[i]
		if of != "" && !strings.EqualFold(of, ref.Alias) {
			continue
		}
		t := e.unevenTable(ref)
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

// mergedColumns returns the columns that replace the * of two tables joined by USING: the merged columns in the first table's order,
// then the others of each table. ok is false if the order is not known, as for a RIGHT JOIN.
func (e *expansion) mergedColumns(b *stmt.Block) (text string, ok bool) {
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

// shownOf returns the columns of a table that every shard shows, in SQL. If which is nil, it returns all of them.
func shownOf(t *catalog.Table, alias string, which func(catalog.Column) bool) (list []string) {
	for _, c := range t.Columns {
		if !c.Invisible && (which == nil || which(c)) {
			list = append(list, quote(alias)+"."+quote(c.Name))
		}
	}
	return list
}

// checkUneven refuses a statement that refers to all columns of tables in a form that can't be written out, if the shards differ in
// these columns.
func (c Context) checkUneven(tables []stmt.TableName) error {
	for _, name := range tables {
		if t, err := c.find(name); err == nil && t != nil && !t.Uneven.Even() {
			return refuse(BrokenTable, "the columns of table %s differ between shards (%s), and a statement of this shape means all of them: name the columns, without NATURAL JOIN, USING and TABLE, or make the table alike on every shard", t.TableName, t.Uneven)
		}
	}
	return nil
}
