package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// withoutGenes returns the condition that removes the gene columns made by locus from the rows of a table of information_schema.
// It is empty if the table has no such rows.
func (c Context) withoutGenes(qualifier, table string) string {
	if !c.Catalog.MakesGenes() {
		return ""
	}
	switch strings.ToLower(table) {
	case "columns":
		return qualifier + "COLUMN_NAME <> '" + catalog.OwnGene + "'"
	case "statistics": // the column of an expression is NULL
		return "(" + qualifier + "COLUMN_NAME IS NULL OR " + qualifier + "COLUMN_NAME <> '" + catalog.OwnGene + "')"
	}
	return ""
}

// hidesRows reports whether such rows of a table must be removed.
func (c Context) hidesRows(t stmt.TableName) bool {
	return strings.EqualFold(c.schemaOf(t), "information_schema") && c.withoutGenes("", t.Name) != ""
}

// describe changes a SELECT of information_schema so that it returns the tables as clients created them, and sizes over all
// shards.
func describe(l *stmt.Lexed, p Plan, ctx Context) error {
	one, is := p.(*OneShard)
	described := func(t stmt.TableName) bool { return ctx.hidesRows(t) || ctx.sums(t) }
	if !is || one.Named || one.Statement.Kind != stmt.Select || len(one.Added) > 0 || !slices.ContainsFunc(TablesOf(one.Statement), described) {
		return nil
	}
	places, err := stmt.FindPlaces(l)
	if err != nil {
		return ctx.checkSizes(l, one.Statement, err)
	}
	h := hiding{l: l, places: places, sourceNames: ctx.SourceNames, terms: places.Terms(), conditions: map[*stmt.Block]string{}}
	for _, at := range places.Tables {
		switch t := at.Block.Tables[at.Index]; {
		case ctx.hidesRows(t.TableName):
			h.hide(at, ctx.withoutGenes(qualifierOf(&t), t.Name))
		case ctx.sums(t.TableName) && namesSizes(places):
			h.summed = append(h.summed, summed(l, at, ""))
		}
	}
	one.Added, one.Summed = append(one.Added, h.splices()...), h.summed
	return checkQualified(places, h.summed)
}

// hiding removes rows from what a SELECT reads. If possible it adds a condition to an existing one, because names, definitions of
// columns and qualifiers then remain the client's. Otherwise a derived table replaces the table.
type hiding struct {
	l          *stmt.Lexed
	places     *stmt.Places
	terms      []stmt.Conjunct
	conditions map[*stmt.Block]string // conditions on all rows of a block
	blocks     []*stmt.Block
	added      []Splice
	derived    bool
	summed     []Summed

	sourceNames bool
}

// qualifierOf returns the qualifier of a table's columns.
func qualifierOf(t *stmt.TableRef) string {
	if t.Schema != "" && t.Alias == t.Name {
		return quote(t.Schema) + "." + quote(t.Alias) + "."
	}
	return quote(t.Alias) + "."
}

// hide removes the rows of a table that don't satisfy a condition.
func (h *hiding) hide(at stmt.TablePlace, condition string) {
	switch t := at.Block.Tables[at.Index]; {
	case at.Statement:
	case t.Nullable:
		for _, c := range h.terms { // its own ON
			if c.Outer && c.Block == at.Block && c.First == at.Index && c.Last == at.Index+1 {
				h.addCondition(c.Start, c.End, condition)
				return
			}
		}
	case h.conditions[at.Block] != "":
		h.conditions[at.Block] += " AND " + condition
		return
	case at.Block.HasFilter, h.term(at.Block) != nil:
		h.conditions[at.Block] = condition
		h.blocks = append(h.blocks, at.Block)
		return
	}
	h.derived = true
	h.added = append(h.added, among(h.l, at, strings.ReplaceAll(condition, qualifierOf(&at.Block.Tables[at.Index]), ""))...)
}

// term returns a condition on all rows of a block, or nil if there is none.
func (h *hiding) term(b *stmt.Block) *stmt.Conjunct {
	at := slices.IndexFunc(h.terms, func(c stmt.Conjunct) bool { return c.Block == b && !c.Outer })
	if at < 0 {
		return nil
	}
	return &h.terms[at]
}

// addCondition adds a condition to the one between start and end.
func (h *hiding) addCondition(start, end stmt.Anchor, condition string) {
	h.added = append(h.added, Splice{start, " ("}, Splice{end, "\n) AND " + condition + " "})
}

// splices returns the insertions in the order of the text.
func (h *hiding) splices() []Splice {
	for _, b := range h.blocks {
		condition := h.conditions[b]
		switch {
		case !b.HasFilter:
			c := h.term(b)
			h.addCondition(c.Start, c.End, condition)
		case b.Filter.There:
			h.addCondition(b.Filter.Open, b.Filter.Close, condition)
		default:
			h.added = append(h.added, Splice{b.Filter.Open, " WHERE " + condition + " "})
		}
	}
	derived := h.derived || len(h.summed) > 0
	h.added = append(h.added, fieldNames(h.l, h.places, slices.Concat(h.added, openings(h.summed)), derived && h.sourceNames)...)
	slices.SortStableFunc(h.added, func(a, b Splice) int { return h.l.Offset(a.At) - h.l.Offset(b.At) })
	return h.added
}

// fieldNames returns aliases for the fields whose names the insertions would change. If plain is true, columns get an alias too.
func fieldNames(l *stmt.Lexed, places *stmt.Places, added []Splice, plain bool) (names []Splice) {
	for _, u := range places.Unnamed {
		start, end := l.Offset(u.Start), l.Offset(u.End)
		changed := slices.ContainsFunc(added, func(s Splice) bool { at := l.Offset(s.At); return start <= at && at < end })
		if changed && end-start <= longestAlias && !l.Commented(start) {
			names = append(names, Splice{u.End, " AS " + quote(string(l.Text[start:end]))})
		}
	}
	if plain {
		for _, f := range places.Plain {
			names = append(names, Splice{f.End, " AS " + quote(f.Name)})
		}
	}
	return names
}
