package plan

import (
	"slices"
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// withoutGenes is the condition on rows of a table of information_schema that keeps the columns for genes out which nobody
// but locus has made; empty: it has none of them.
func (c Context) withoutGenes(table string) string {
	if !c.Catalog.MakesGenes() {
		return ""
	}
	switch strings.ToLower(table) {
	case "columns":
		return "COLUMN_NAME <> '" + catalog.OwnGene + "'"
	case "statistics": // of an expression it is NULL
		return "(COLUMN_NAME IS NULL OR COLUMN_NAME <> '" + catalog.OwnGene + "')"
	}
	return ""
}

// hidesIn tells a table of which such rows are kept out.
func (c Context) hidesIn(t stmt.TableName) bool {
	return strings.EqualFold(c.schemaOf(t), "information_schema") && c.withoutGenes(t.Name) != ""
}

// hideGenes has a statement that asks how tables are built be told nothing of those columns.
func hideGenes(l *stmt.Lexed, p Plan, ctx Context) {
	one, is := p.(*OneShard)
	if !is || one.Statement.Kind != stmt.Select || len(one.Added) > 0 || !slices.ContainsFunc(TablesOf(one.Statement), ctx.hidesIn) {
		return
	}
	places, err := stmt.FindPlaces(l)
	if err != nil { // of a shape that isn't taken apart
		return
	}
	for _, at := range places.Tables {
		t := at.Block.Tables[at.Index]
		if ctx.hidesIn(t.TableName) {
			one.Added = append(one.Added, among(l, at, ctx.withoutGenes(t.Name))...)
		}
	}
}
