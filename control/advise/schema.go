package advise

import (
	"cmp"
	"slices"
	"strings"

	"locus/idgen/gene"
	"locus/proxy/schema"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Schema is the schema of a server.
type Schema struct {
	Tables []schema.Surveyed
	// Listing contains the server's views, programs and foreign keys.
	Listing *catalog.Listing

	// Notes are about the objects that the account can't see.
	Notes []string
	// Width is the width of genes.
	Width gene.Width

	byName map[catalog.TableName]*schema.Surveyed
	folded map[foldedName]string
	rows   uint64
}

// foldedName is the name of a table in lower case.
type foldedName struct{ database, name string }

// NewSchema returns a schema with these tables. A listing lists them too.
func NewSchema(tables []schema.Surveyed, listing *catalog.Listing) *Schema {
	s := &Schema{Tables: tables, Listing: listing, Width: gene.W16, byName: map[catalog.TableName]*schema.Surveyed{}, folded: map[foldedName]string{}}
	for i := range tables {
		s.byName[tables[i].TableName] = &tables[i]
		s.rows += tables[i].Rows
	}
	for i := range listing.Tables {
		t := &listing.Tables[i]
		s.folded[foldedName{t.Schema, lowered(t.Name)}] = t.Name
	}
	return s
}

// find returns the table with a name, or nil. The name may be without a schema.
func (s *Schema) find(database, name string) *schema.Surveyed {
	return s.byName[catalog.TableName{Schema: database, Name: name}]
}

// named finds a table by a text as in a proposal. It returns nil if there is none.
func (s *Schema) named(text string) *schema.Surveyed {
	name, err := catalog.ParseTableName(text)
	if err != nil {
		return nil
	}
	return s.byName[name]
}

// column returns a column of a table, or nil. Letter case doesn't count.
func column(t *schema.Surveyed, name string) *catalog.Column {
	at := columnAt(t, name)
	if at < 0 {
		return nil
	}
	return &t.Columns[at]
}

func columnAt(t *schema.Surveyed, name string) int {
	return slices.IndexFunc(t.Columns, func(c catalog.Column) bool { return strings.EqualFold(c.Name, name) })
}

// identifies reports whether a column alone is a unique key.
func identifies(t *schema.Surveyed, column string) bool {
	at := columnAt(t, column)
	return slices.ContainsFunc(t.Unique, func(u catalog.UniqueKey) bool {
		return !u.Partial && len(u.Columns) == 1 && u.Columns[0] == at
	})
}

// primary returns the positions of the columns of the primary key, or nil.
func primary(t *schema.Surveyed) []int {
	for _, u := range t.Unique {
		if u.Name == "PRIMARY" {
			return u.Columns
		}
	}
	return nil
}

// tells reports whether a column can distinguish many owners, and can be hashed, if necessary after a change of its collation.
func tells(c *catalog.Column) bool {
	switch c.DataType {
	case "smallint", "mediumint", "int", "bigint", "varbinary":
		return !c.Generated
	case "char", "varchar":
		return !c.Generated && c.Length > 2
	}
	return false
}

// caseless reports whether an owner in this column needs another collation.
func caseless(c *catalog.Column) bool {
	return c.IsText() && (!strings.HasSuffix(c.Collation, "_bin") || c.Charset != "utf8mb4" && c.Charset != "utf8mb3" && c.Charset != "utf8" && c.Charset != "ascii")
}

// sameType reports whether equal values of two columns have equal hashes.
func sameType(a, b *catalog.Column) bool {
	switch {
	case a.IsInteger() && b.IsInteger(), a.IsText() && b.IsText(), a.IsBinary() && b.IsBinary():
		return true
	}
	return false
}

func lowered(name string) string { return strings.ToLower(name) }

// shellWord returns a word for a shell.
func shellWord(word string) string {
	if strings.ContainsAny(word, " `'\"$\\") {
		return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
	}
	return word
}

// spelled returns a column's type as it is written in a definition.
func spelled(c *catalog.Column) string {
	if c.Charset == "" {
		return c.SQLType()
	}
	return c.SQLType() + " CHARACTER SET " + c.Charset + " COLLATE " + c.Collation
}

// unseen returns a table that a query or a change of rows names and the server doesn't show, or "". The account may have too few privileges.
func (s *Schema) unseen(database string, of *stmt.Statement) string {
	switch of.Kind {
	case stmt.Select, stmt.Insert, stmt.Replace, stmt.Update, stmt.Delete:
	default:
		return ""
	}
	for _, n := range of.Named() {
		schema := cmp.Or(n.Schema, database)
		if n.Schema == "" && of.Features&stmt.With != 0 {
			continue // it may be a name that WITH defines
		}
		if schema != "" && !catalog.IsSystemSchema(schema) && s.folded[foldedName{schema, lowered(n.Name)}] == "" {
			return catalog.TableName{Schema: schema, Name: n.Name}.String()
		}
	}
	return ""
}
