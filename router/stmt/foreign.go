package stmt

import "github.com/pingcap/tidb/pkg/parser/ast"

// ForeignKey is a foreign key as written. Name may be empty, and so may Referred, which means the primary key.
type ForeignKey struct {
	Name       string
	Columns    []string
	References TableName
	Referred   []string
	// OnDelete and OnUpdate are as in information_schema, such as CASCADE.
	OnDelete, OnUpdate string
}

// foreignKeys reads the foreign keys among the columns and constraints of a CREATE TABLE, or of a clause of an ALTER TABLE.
func (s *Statement) foreignKeys(columns []*ast.ColumnDef, constraints []*ast.Constraint) {
	for _, c := range columns {
		for _, o := range c.Options {
			if o.Tp == ast.ColumnOptionReference && o.Refer != nil {
				s.foreignKey("", []string{c.Name.Name.O}, o.Refer)
			}
		}
	}
	for _, c := range constraints {
		if c.Tp == ast.ConstraintForeignKey && c.Refer != nil {
			s.foreignKey(c.Name, parts(c.Keys), c.Refer)
		}
	}
}

func (s *Statement) foreignKey(name string, columns []string, refer *ast.ReferenceDef) {
	key := ForeignKey{
		Name: name, Columns: columns, References: tableNamesOf(refer.Table)[0], Referred: parts(refer.IndexPartSpecifications),
		OnDelete: "NO ACTION", OnUpdate: "NO ACTION",
	}
	if refer.OnDelete != nil && refer.OnDelete.ReferOpt != ast.ReferOptionNoOption {
		key.OnDelete = refer.OnDelete.ReferOpt.String()
	}
	if refer.OnUpdate != nil && refer.OnUpdate.ReferOpt != ast.ReferOptionNoOption {
		key.OnUpdate = refer.OnUpdate.ReferOpt.String()
	}
	s.ForeignKeys = append(s.ForeignKeys, key)
}

func parts(specs []*ast.IndexPartSpecification) (names []string) {
	for _, p := range specs {
		if p.Column != nil {
			names = append(names, p.Column.Name.O)
		}
	}
	return names
}
