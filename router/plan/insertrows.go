package plan

import (
	"strconv"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/stmt"
)

// Rows returns the number of rows of one execution.
func (in *Insertion) Rows(a *stmt.Args) int {
	if in.Set {
		return 1
	}
	return len(a.Rows)
}

// OneByOne reports whether each row is inserted by a statement of its own, in the order of the rows.
func (in *Insertion) OneByOne() bool { return in.Indexing != nil && in.Indexing.Duplicates != nil }

// Value returns one value of a row. For a row that was issued a number, that is the number.
func (in *Insertion) Value(v *Values, row, at int) stmt.Value {
	if at == in.numbered && v.Numbers != nil && v.Numbers[row] != 0 {
		return numberValue(v.Numbers[row])
	}
	written := in.written(v, row, at)
	if at == in.numbered && v.Numbers != nil && written.Kind == stmt.Default { // it requests no number
		return stmt.IntValue(0)
	}
	return written
}

// written returns the value that is written in the statement.
func (in *Insertion) written(v *Values, row, at int) stmt.Value {
	if in.Set {
		return v.operand(&in.Values[at])
	}
	cell := v.Cells[int(v.Args.Rows[row].First)+at]
	value := v.Cell(cell)
	if value.Kind != stmt.Unknown || cell.Literal >= 0 {
		return value
	}
	if _, insertID := v.Computed(cell); at == in.numbered && !insertID { // numbers that rows have are written as such
		return value
	}
	return v.computed(cell)
}

// AsksForValue reports whether a value in a stamped column asks for a generated one.
func AsksForValue(v stmt.Value) bool {
	n, ok := v.Integer() // '0' is 0 to a column of numbers
	return v.Kind == stmt.Null || v.Kind == stmt.Default || ok && n.IsZero()
}

// LayoutGene returns a row's gene in the width of the ID layout, which may be greater than the map's.
func (in *Insertion) LayoutGene(v *Values, row int) (gene.Gene, error) {
	return in.Table.Root().StoredAs(in.root(v, row), in.Table.GeneWidth())
}

// Genes appends the gene of every row to dst. It refuses rows whose keys have different genes.
func (in *Insertion) Genes(v *Values, dst []gene.Gene) ([]gene.Gene, error) {
	rows := in.Rows(v.Args)
	if rows == 0 {
		return nil, refuse(Unreadable, "the rows of an INSERT into %s could not be read: write VALUES (…), (…)", in.Table.TableName)
	}
	for row := range rows {
		g, err := in.rowGene(v, row)
		if err != nil {
			return nil, err
		}
		dst = append(dst, g)
	}
	return dst, nil
}

// Issued is an ID, or a number, that was generated for a row of an INSERT.
type Issued struct {
	Row, Shard int
	Layout     orderid.Layout
	ID         orderid.ID
}

// Find returns a query for the first of some IDs that a row has, as its position in ids from 1. The query returns NULL if no row
// has one.
func (in *Insertion) Find(ids []Issued) string {
	t := in.Table
	var list []byte
	at := t.IDColumn
	if at < 0 {
		at = in.number
	}
	column := &t.Columns[at]
	for i, issued := range ids {
		if i > 0 {
			list = append(list, ", "...)
		}
		if t.IDColumn < 0 {
			list = strconv.AppendUint(list, issued.ID.Lo, 10)
		} else {
			list = column.AppendID(list, issued.Layout, issued.ID)
		}
	}
	name := quote(column.Name)
	return "SELECT MIN(FIELD(" + name + ", " + string(list) + ")) FROM " + quote(t.Schema) + "." + quote(t.Name) + " WHERE " + name + " IN (" + string(list) + ")"
}

// CheckReturning refuses LAST_INSERT_ID(expression) for rows of several shards, and RETURNING where their answers don't show which rows
// of the statement they are about.
func (p *Stamped) CheckReturning(shards int) error {
	switch f := p.Statement.Features; {
	case shards < 2:
		return nil
	case f&stmt.SetsInsertID != 0 && p.Insert.OneByOne():
		return refuse(Indexed, "LAST_INSERT_ID(…) in an INSERT of several rows into %s, which has a look-up index: write one INSERT for each row", p.Insert.Table.TableName)
	case f&stmt.SetsInsertID != 0:
		return refuse(ScatterShape, "LAST_INSERT_ID(…) in an INSERT of rows that live on %d shards, of which the last one would count: write one INSERT for each owner", shards)
	case f&stmt.Returning != 0 && p.Statement.Insert.Ignore:
		return refuse(ScatterShape, "RETURNING in an INSERT IGNORE of rows that live on %d shards: write one INSERT for each owner", shards)
	}
	return nil
}

func (in *Insertion) rowGene(v *Values, row int) (gene.Gene, error) {
	if !in.Set && int(v.Args.Rows[row].Count) != len(in.Columns) {
		return 0, refuse(RowShape, "Column count doesn't match value count at row %d", row+1)
	}
	root := in.Table.Root()
	if in.rootNumbered() && v.Numbers == nil && in.asksNumber(v, row) {
		return 0, refuse(OwnerUnusable, "row %d: %s, the %s of %s, is numbered when the statement runs", row+1, root.Column.Name, root.Role, in.Table.TableName)
	}
	value := in.root(v, row)
	g, err := root.Stored(value)
	if err != nil {
		return 0, refuse(OwnerUnusable, "row %d: %s, the %s of %s, %v", row+1, root.Column.Name, root.Role, in.Table.TableName, err)
	}
	if err := in.checkRow(v, row); err != nil {
		return 0, err
	}
	for _, k := range in.keys {
		given := in.Value(v, row, k.at)
		if AsksForValue(given) {
			continue
		}
		other, err := k.key.Stored(given)
		if err != nil {
			return 0, refuse(GeneMismatch, "row %d: %s, the %s of %s, %v", row+1, k.key.Column.Name, k.key.Role, in.Table.TableName, err)
		}
		if other != g {
			return 0, refuse(GeneMismatch, "row %d: %s = %s has gene %s, but %s = %s has gene %s: leave %s out and it is generated",
				row+1, k.key.Column.Name, given, other, root.Column.Name, value, g, k.key.Column.Name)
		}
	}
	return g, nil
}
