package plan

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// checkKeptColumns refuses a definition after which rows of a sharded table could not be found on their shards, or would not be
// created as declared. The table would then be refused, or statements would apply to other rows.
func (c Context) checkKeptColumns(l *stmt.Lexed, s *stmt.Statement) error {
	if s.Features&stmt.TemporaryTable != 0 {
		return nil
	}
	for _, name := range s.Tables {
		if table := c.fullName(name); !c.isTemporary(table) && c.declaration(s, table).MakesGene() && l.Names(catalog.OwnGene) {
			return refuse(ColumnKept, "it names %s, the column of table %s that locus makes, fills and hides: leave it out, and give a column or an index of your own another name", catalog.OwnGene, table)
		}
	}
	if s.Altering == nil || c.isTemporary(c.fullName(s.Tables[0])) {
		return nil
	}
	return c.checkDeclaredColumns(s.Altering, c.fullName(s.Tables[0]))
}

// declaration returns the declaration of a table, or the one in a comment of the statement.
func (c Context) declaration(s *stmt.Statement, table catalog.TableName) catalog.Declaration {
	d, is := c.Catalog.Declared(table)
	if !is && s.Comment != nil && table == c.fullName(s.Tables[0]) {
		if words, says := catalog.CommentWords(*s.Comment); says {
			d, _ = catalog.ParseWords(words)
		}
	}
	return d
}

// checkDeclaredColumns refuses to drop or rename a declared column, and to change the type of a column that determines a row's gene.
func (c Context) checkDeclaredColumns(a *stmt.Altering, table catalog.TableName) error {
	d, _ := c.Catalog.Declared(table)
	if d.Kind != catalog.Sharded {
		return nil
	}
	t, err := c.Catalog.Find(table)
	if err != nil {
		t = nil // the table doesn't fit its declaration, and this statement may correct that
	}
	for _, column := range a.Columns {
		role := d.RoleOf(column.Name)
		switch {
		case role == "":
		case column.Becomes == "":
			return refuse(ColumnKept, "column %s is declared as %s of table %s, and would be gone: change what is declared first (locus apply, locus table drop)", column.Name, role, table)
		case !strings.EqualFold(column.Becomes, column.Name):
			return refuse(ColumnKept, "column %s is declared as %s of table %s, and would be called %s: keep its name", column.Name, role, table, column.Becomes)
		case t != nil && column.Type != nil:
			if err := checkType(t, column); err != nil {
				return err
			}
		}
	}
	if t != nil && a.Converts != nil {
		return checkCharset(t, a.Converts)
	}
	return nil
}

// checkType refuses a type under which an existing value may have another gene. A longer type is allowed.
func checkType(t *catalog.Table, column stmt.AlteredColumn) error {
	key, is := t.KeyOf(column.Name)
	if !is || key.Column.FitsType(column.Type) {
		return nil
	}
	if key.Column.IsText() && column.Type.DataType == key.Column.DataType && column.Type.Collation == "" {
		return refuse(ColumnKept, "column %s decides where a row of %s lives, and without COLLATE it would get the table's default: say %s, or longer", column.Name, t.TableName, key.Column.Spelled())
	}
	return refuse(ColumnKept, "column %s decides where a row of %s lives, and values of another type may be of other genes: it is %s, and may be made longer, of the same kind, sign and collation", column.Name, t.TableName, key.Column.Spelled())
}

// checkCharset is checkType for a conversion of all text columns.
func checkCharset(t *catalog.Table, to *stmt.ColumnType) error {
	for _, key := range t.Keys {
		if c := key.Column; c.IsText() && !strings.EqualFold(to.Collation, c.Collation) {
			return refuse(ColumnKept, "column %s decides where a row of %s lives, and values in another collation than %s may be of other genes: convert the other columns one by one, or say COLLATE %s", c.Name, t.TableName, c.Collation, c.Collation)
		}
	}
	return nil
}

// checkLike refuses CREATE TABLE … LIKE a table with the gene column of locus, if the new table is not declared to have that
// column.
func (c Context) checkLike(s *stmt.Statement, d catalog.Declaration) error {
	if s.DefinitionsEnd != nil || len(s.Tables) < 2 || d.MakesGene() {
		return nil
	}
	if like, is := c.Catalog.Declared(c.fullName(s.Tables[1])); is && like.MakesGene() {
		return refuse(Unsupported, "CREATE TABLE of %s like %s, which has a column that locus made: write its columns out", c.fullName(s.Tables[0]), c.fullName(s.Tables[1]))
	}
	return nil
}
