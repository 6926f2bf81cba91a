package plan

import (
	"strings"

	"locus/router/catalog"
	"locus/router/stmt"
)

// Declaring is a table that is declared by its comment, or by being created like a declared table, and that was not declared
// before.
type Declaring struct {
	Table       catalog.TableName
	Declaration catalog.Declaration
	// Exists is true if the table must already exist, without rows, on the default shard.
	Exists bool
}

// planDeclaring plans CREATE and ALTER TABLE with a comment that declares the table. It returns nil, nil if there is no such comment,
// or if the table already has this declaration.
func (c Context) planDeclaring(s *stmt.Statement) (Plan, error) {
	if s.Comment == nil || len(s.Tables) == 0 {
		return nil, nil
	}
	name := c.fullName(s.Tables[0])
	words, declares := catalog.CommentWords(*s.Comment)
	if !declares || c.isTemporary(name) {
		return nil, nil
	}
	said, err := catalog.ParseWords(words)
	if err != nil {
		return nil, refuse(Undeclarable, "the comment of table %s declares nothing that can be: %v", name, err)
	}
	if declared, is := c.Catalog.Declared(name); is {
		return nil, checkAgreement(name, declared, said)
	}
	if _, err := c.find(s.Tables[0]); err != nil {
		return nil, err
	}
	if err := c.checkDeclarable(s, name, said); err != nil {
		return nil, err
	}
	added, err := c.ownGene(s, said)
	return &Definition{Facts: Facts{Writes: true}, Declares: &Declaring{name, said, s.Features&stmt.MakesTable == 0}, Added: added}, err
}

// checkAgreement refuses a comment that differs from the existing declaration. Neither may silently override the other.
func checkAgreement(name catalog.TableName, declared, said catalog.Declaration) error {
	if declared.Agrees(said) {
		return nil
	}
	return refuse(Undeclarable, "table %s is declared as %q, and the comment says %q: make the comment agree, or change what is declared by locus apply", name, declared.Words(), said.Words())
}

func (c Context) checkDeclarable(s *stmt.Statement, name catalog.TableName, said catalog.Declaration) error {
	if err := c.checkDeclarableName(name); err != nil {
		return err
	}
	if l := said.Lookup; l != nil {
		for _, other := range c.Catalog.LookupsOn(catalog.TableName{Schema: name.Schema, Name: l.Table}) {
			if d, _ := c.Catalog.Declared(other); strings.EqualFold(d.Lookup.Column, l.Column) {
				return refuse(Undeclarable, "column %s of table %s.%s has the look-up table %s already: DROP TABLE %s first", l.Column, name.Schema, l.Table, other, other)
			}
		}
	}
	switch {
	case said.Kind == catalog.Single:
		return refuse(Undeclarable, "the comment says that table %s is on shard %s alone, which comments can't: locus table add %s shard=%s declares it", name, said.Shard, name, said.Shard)
	case s.Features&stmt.MakesTable != 0:
		return c.checkCreate(s)
	case !s.CommentAlone:
		return refuse(Undeclarable, "an ALTER TABLE whose comment declares table %s does nothing else: send the COMMENT by itself", name)
	}
	return nil
}

// checkDeclarableName refuses a name in a schema where no table can be declared.
func (c Context) checkDeclarableName(name catalog.TableName) error {
	switch schema := strings.ToLower(name.Schema); {
	case name.Schema == "": // servers return this error without a default database
		return &Unknown{Number: erNoDatabase, State: "3D000", Message: "No database selected"}
	case systemTables[schema] != nil || schema == "information_schema" || schema == stmt.Own:
		return refuse(Undeclarable, "table %s is in a schema of the servers' own", name)
	}
	return nil
}

// checkDeclaringComment refuses a text that the parser can't read if it has a comment that may declare a table. The table would be created
// without the declaration.
func checkDeclaringComment(l *stmt.Lexed, syntax *stmt.SyntaxError) error {
	if !stmt.DefinesTable(l) || !l.SaysInString("locus:") {
		return nil
	}
	if l.Versions() {
		return refuse(Undeclarable, "WITH SYSTEM VERSIONING of a table that its comment declares: the former versions of a row would stay behind when the row moves to another shard; leave it out")
	}
	return refuse(Undeclarable, "%s, so the table's comment can't declare it: leave the comment out, and declare the table by locus table add", syntax.Error())
}
