package stmt

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/pingcap/tidb/pkg/parser/ast"
	"github.com/pingcap/tidb/pkg/parser/charset"
	"github.com/pingcap/tidb/pkg/parser/mysql"
	"github.com/pingcap/tidb/pkg/parser/types"
)

// Altering describes the changes of an ALTER TABLE to the table's columns.
type Altering struct {
	// Columns are those that it drops, renames or redefines.
	Columns []AlteredColumn
	// Converts is the character set that it gives all text columns, or nil.
	Converts *ColumnType
	// Adds are the columns that it adds, one clause each, if it does nothing else.
	Adds []AddedColumn
	// Reshapes: rows have other columns afterwards, or columns of another kind.
	Reshapes bool
	// Rows is the clause by which it removes or adds rows, such as TRUNCATE PARTITION, or IGNORE, by which it removes duplicates. It is empty
	// if all rows stay.
	Rows string
	// Engine is the storage engine that it gives the table, in lower case, or empty.
	Engine string
	// Instant: it contains ALGORITHM=INSTANT.
	Instant bool
	// Clauses is the place for a clause ALGORITHM or LOCK. It is nil if the statement already has one, or if
	// the place is not known.
	Clauses *Anchor
}

// AlteredColumn is a column that existed. Name is its old name.
type AlteredColumn struct {
	Name string
	// Becomes is its new name; empty if it is dropped.
	Becomes string
	// Type is its new type, or nil if unchanged.
	Type *ColumnType
}

// ColumnType is a type as written.
type ColumnType struct {
	DataType           string // as in information_schema
	Unsigned           bool
	Length             int    // -1 if none is given
	Charset, Collation string // empty if none is given
}

// AddedColumn is a column added by ALTER TABLE … ADD COLUMN.
type AddedColumn struct {
	Name string
	// Definition is its name and definition. Position is FIRST, AFTER another column, or empty.
	Definition, Position Stretch
	// Optional reports whether rows may omit it. Constant reports whether their value then depends on neither time nor
	// server.
	Optional, Constant bool
}

// Redefined returns the tables and views that a definition makes, changes, renames or drops, without those that it only mentions. Alone reports
// that no other object can change together with them: each has the same name and columns afterwards.
func (s *Statement) Redefined() (names []TableName, alone bool) {
	first := s.Tables[:min(1, len(s.Tables))]
	index := s.Verb == "CREATE" && s.Features&MakesTable == 0 && !s.View || s.DroppedKeys != nil
	switch {
	case s.Altering != nil && s.Features&Redefines != 0: // it renames no table
		return first, !s.Altering.Reshapes
	case s.Features&Redefines != 0 && index:
		return first, true
	case s.Features&MakesTable != 0, s.View && s.Verb == "CREATE":
		return first, false
	}
	names = slices.Concat(s.Tables, s.Dropped)
	for _, one := range s.Renames {
		names = append(names, one.From, one.To)
	}
	return names, false
}

// Names reports whether the text contains a word as a name, in any letter case.
func (l *Lexed) Names(name string) bool {
	r := lexemeReader{l: l, list: l.lexemes(math.MaxInt)}
	for ; len(r.list) > 0; r.next() {
		at := r
		if word, ok := at.name(); ok && strings.EqualFold(word, name) {
			return true
		}
	}
	return false
}

// Written returns a stretch of the text.
func (l *Lexed) Written(s Stretch) string { return string(l.Text[l.Offset(s.Start):l.Offset(s.End)]) }

// altering reads the changes of columns in an ALTER TABLE.
func (r *reader) altering(n *ast.AlterTableStmt) *Altering {
	a := &Altering{}
	for _, spec := range n.Specs {
		switch spec.Tp {
		case ast.AlterTableDropColumn:
			a.Columns = append(a.Columns, AlteredColumn{Name: spec.OldColumnName.Name.O})
		case ast.AlterTableRenameColumn:
			a.Columns = append(a.Columns, AlteredColumn{Name: spec.OldColumnName.Name.O, Becomes: spec.NewColumnName.Name.O})
		case ast.AlterTableModifyColumn, ast.AlterTableChangeColumn:
			made := spec.NewColumns[0]
			c := AlteredColumn{Name: made.Name.Name.O, Becomes: made.Name.Name.O, Type: columnType(made)}
			if spec.OldColumnName != nil {
				c.Name = spec.OldColumnName.Name.O
			}
			a.Columns = append(a.Columns, c)
		case ast.AlterTableOption:
			a.Converts = cmp.Or(converts(spec.Options), a.Converts)
			for _, o := range spec.Options {
				if o.Tp == ast.TableOptionEngine {
					a.Engine = strings.ToLower(o.StrValue)
				}
			}
		default:
			a.Rows = cmp.Or(rowsClauses[spec.Tp], a.Rows)
		}
	}
	if r.ignores() {
		a.Rows = "IGNORE"
	}
	a.Adds = r.adds(n)
	a.Reshapes = slices.ContainsFunc(n.Specs, reshapes)
	a.Instant = slices.ContainsFunc(n.Specs, func(s *ast.AlterTableSpec) bool {
		return s.Tp == ast.AlterTableAlgorithm && s.Algorithm == ast.AlgorithmTypeInstant
	})
	if !slices.ContainsFunc(n.Specs, saysHow) {
		a.Clauses = r.clausesBegin(n)
	}
	return a
}

// rowsClauses are the clauses of ALTER TABLE that remove or add rows.
var rowsClauses = map[ast.AlterTableType]string{
	ast.AlterTableDropPartition: "DROP PARTITION", ast.AlterTableTruncatePartition: "TRUNCATE PARTITION", ast.AlterTableExchangePartition: "EXCHANGE PARTITION",
}

// ignores reports whether the text is ALTER IGNORE TABLE.
func (r *reader) ignores() bool {
	head := lexemeReader{l: r.l, list: r.l.lexemes(maxHead)}
	for ; len(head.list) > 0 && !head.at("table"); head.next() {
		if head.at("ignore") {
			return true
		}
	}
	return false
}

// dropsKey adds the key that a clause of ALTER TABLE drops.
func (s *Statement) dropsKey(spec *ast.AlterTableSpec) {
	switch spec.Tp {
	case ast.AlterTableDropPrimaryKey:
		s.DroppedKeys = append(s.DroppedKeys, "PRIMARY")
	case ast.AlterTableDropIndex:
		s.DroppedKeys = append(s.DroppedKeys, spec.Name)
	case ast.AlterTableDropCheck: // DROP CONSTRAINT drops keys too
		s.DroppedKeys = append(s.DroppedKeys, spec.Constraint.Name)
	default:
	}
}

// reshapes reports whether a clause changes the number or the types of columns. While only some shards have run
// it, statements over several shards can't be planned.
func reshapes(spec *ast.AlterTableSpec) bool {
	switch spec.Tp {
	case ast.AlterTableAddColumns, ast.AlterTableDropColumn, ast.AlterTableModifyColumn, ast.AlterTableChangeColumn, ast.AlterTableRenameColumn,
		ast.AlterTableAlterColumn, ast.AlterTableDropPrimaryKey:
		return true
	case ast.AlterTableAddConstraint: // the constraint makes its columns NOT NULL
		return spec.Constraint.Tp == ast.ConstraintPrimaryKey
	case ast.AlterTableOption:
		return converts(spec.Options) != nil
	default:
		return false
	}
}

// saysHow reports whether a clause is ALGORITHM or LOCK.
func saysHow(spec *ast.AlterTableSpec) bool {
	return spec.Tp == ast.AlterTableAlgorithm || spec.Tp == ast.AlterTableLock
}

// clausesBegin finds the first clause.
func (r *reader) clausesBegin(n *ast.AlterTableStmt) *Anchor {
	scan := lexemeReader{l: r.l, list: r.l.lexemes(maxHead)}
	if !scan.takes("alter", "table") {
		return nil
	}
	if name, ok := scan.table(); !ok || !strings.EqualFold(name.Name, n.Table.Name.O) || len(scan.list) == 0 || scan.at("wait", "nowait") {
		return nil
	}
	at := r.l.Anchor(scan.peek().start)
	return &at
}

func columnType(c *ast.ColumnDef) *ColumnType {
	t := &ColumnType{
		DataType: types.TypeToStr(c.Tp.GetType(), c.Tp.GetCharset()), Unsigned: mysql.HasUnsignedFlag(c.Tp.GetFlag()),
		Length: c.Tp.GetFlen(), Charset: c.Tp.GetCharset(), Collation: c.Tp.GetCollate(),
	}
	for _, o := range c.Options {
		if o.Tp == ast.ColumnOptionCollate {
			t.Collation = o.StrValue
		}
	}
	if t.Charset == charset.CharsetBin { // it marks binary data
		t.Charset, t.Collation = "", ""
	}
	return t
}

// converts reads CONVERT TO CHARACTER SET.
func converts(options []*ast.TableOption) *ColumnType {
	if len(options) == 0 || options[0].Tp != ast.TableOptionCharset || options[0].UintValue != ast.TableOptionCharsetWithConvertTo {
		return nil
	}
	t := &ColumnType{Charset: options[0].StrValue}
	for _, o := range options[1:] {
		t.Collation = o.StrValue
	}
	return t
}

// adds reads an ALTER TABLE that only adds columns. It returns nil for any other ALTER TABLE, and for syntax that it doesn't
// support.
func (r *reader) adds(n *ast.AlterTableStmt) (list []AddedColumn) {
	scan := lexemeReader{l: r.l, list: r.l.lexemes(math.MaxInt)}
	if !scan.takes("alter", "table") {
		return nil
	}
	if _, ok := scan.table(); !ok {
		return nil
	}
	clauses := scan.clauses()
	if len(clauses) != len(n.Specs) {
		return nil
	}
	for i, spec := range n.Specs {
		if spec.Tp != ast.AlterTableAddColumns || spec.IfNotExists || len(spec.NewColumns) != 1 || len(spec.NewConstraints) > 0 || !plainColumn(spec.NewColumns[0]) {
			return nil
		}
		c, ok := clauses[i].added(spec)
		if !ok {
			return nil
		}
		list = append(list, c)
	}
	return list
}

// clauses returns the stretches between commas outside of parentheses.
func (r *lexemeReader) clauses() (list []lexemeReader) {
	depth, from := 0, 0
	for i, x := range r.list {
		switch {
		case x.kind != punctuation:
		case x.char == '(':
			depth++
		case x.char == ')':
			depth--
		case x.char == ',' && depth == 0:
			list = append(list, lexemeReader{l: r.l, list: r.list[from:i]})
			from = i + 1
		}
	}
	return append(list, lexemeReader{l: r.l, list: r.list[from:]})
}

// plainColumn reports whether a column creates no key or constraint and no other column is computed for it.
func plainColumn(c *ast.ColumnDef) bool {
	plain := []ast.ColumnOptionType{
		ast.ColumnOptionNoOption, ast.ColumnOptionNotNull, ast.ColumnOptionNull, ast.ColumnOptionDefaultValue, ast.ColumnOptionOnUpdate,
		ast.ColumnOptionComment, ast.ColumnOptionCollate,
	}
	return !slices.ContainsFunc(c.Options, func(o *ast.ColumnOption) bool { return !slices.Contains(plain, o.Tp) })
}

// has reports whether a word occurs.
func (r lexemeReader) has(word string) bool {
	for ; len(r.list) > 0; r.next() {
		if r.at(word) {
			return true
		}
	}
	return false
}

// added reads ADD [COLUMN] name definition [FIRST | AFTER name].
func (r lexemeReader) added(spec *ast.AlterTableSpec) (c AddedColumn, ok bool) {
	if !r.takes("add") {
		return c, false
	}
	if r.has("invisible") { // the column must stay invisible on all shards
		return c, false
	}
	r.takes("column")
	start := r.peek().start
	column := spec.NewColumns[0]
	if c.Name, ok = r.name(); !ok || !strings.EqualFold(c.Name, column.Name.Name.O) || column.Name.Table.O != "" {
		return c, false
	}
	behind := 0
	if spec.Position != nil {
		behind = map[ast.ColumnPositionType]int{ast.ColumnPositionFirst: 1, ast.ColumnPositionAfter: 2}[spec.Position.Tp]
	}
	if behind >= len(r.list) {
		return c, false
	}
	if position := (&lexemeReader{l: r.l, list: r.list[len(r.list)-behind:]}); behind > 0 && !position.at("first", "after") {
		return c, false
	}
	end, last := r.list[len(r.list)-behind-1].end, r.list[len(r.list)-1].end
	c.Definition, c.Position = Stretch{r.l.Anchor(start), r.l.Anchor(end)}, Stretch{r.l.Anchor(end), r.l.Anchor(last)}
	c.Optional, c.Constant = true, true
	for _, o := range column.Options {
		switch o.Tp {
		case ast.ColumnOptionNotNull:
			c.Optional = slices.ContainsFunc(column.Options, func(o *ast.ColumnOption) bool { return o.Tp == ast.ColumnOptionDefaultValue })
		case ast.ColumnOptionOnUpdate:
			c.Constant = false
		case ast.ColumnOptionDefaultValue:
			_, literal := o.Expr.(ast.ValueExpr)
			c.Constant = c.Constant && literal
		default:
		}
	}
	return c, true
}
