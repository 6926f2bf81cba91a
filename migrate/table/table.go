package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/router/catalog"
)

// Table is a sharded table whose rows are moved. It is immutable.
type Table struct {
	// Declared is the table's declaration, with its columns.
	Declared *catalog.Table
	Name     catalog.TableName
	Columns  []Column
	// Key is the row's key: the unique index by which rows are found, copied and compared.
	Key Index
	// Version is an index into Columns, or -1 if the table has no version column.
	Version int
	// Unique are the unique indexes other than Key.
	Unique []Index
	// Estimate is the approximate number of rows of all genes.
	Estimate uint64
	// RowBytes is the approximate length of a row.
	RowBytes uint64

	telling  *tellingKey
	enums    []int // columns whose values may be the error value, 0
	readList string
	intoList string
	bound    bound
	ties     ties
}

// Index is an index and its columns as indexes into Table.Columns. -1 represents an expression or a column prefix.
type Index struct {
	Name    string
	Columns []int

	unused bool // a statement may not name it, or can't read rows in its order
}

// newTable builds a table from information_schema's description.
func newTable(d *catalog.Table, columns []Column, unique []Index) (*Table, error) {
	t := &Table{Declared: d, Name: d.TableName, Columns: columns, Version: d.VersionColumn}
	var err error
	if t.Key, t.Unique, err = rowKey(columns, unique); err != nil {
		return nil, fmt.Errorf("table %s: %w", t.Name, err)
	}
	for i := range columns {
		if !columns[i].Carried() {
			return nil, fmt.Errorf("table %s: column %s is %s, which is not carried without loss; the table can't be moved",
				t.Name, columns[i].Name, columns[i].FullType)
		}
		if columns[i].DataType == "enum" {
			t.enums = append(t.enums, i)
		}
	}
	t.lists()
	t.bind()
	return t, nil
}

func (t *Table) lists() {
	var read, into []string
	for i := range t.Columns {
		c := &t.Columns[i]
		read = append(read, string(c.appendRead(nil)))
		if !c.Generated {
			into = append(into, link.Name(c.Name))
		}
	}
	t.readList, t.intoList = strings.Join(read, ","), strings.Join(into, ",")
}

// Computes reports whether a server computes a column from others of its row, and the column neither identifies nor places rows. Such a
// column's value isn't needed. MariaDB 11.8 omits such columns from its log of an UPDATE or DELETE.
func (t *Table) Computes(column int) bool {
	if !t.Columns[column].Generated || column == t.Version || slices.Contains(t.Key.Columns, column) {
		return false
	}
	_, tells := t.Declared.KeyOf(t.Columns[column].Name)
	return !tells
}

// SQL returns the table's name for a statement.
func (t *Table) SQL() string { return link.Name(t.Name.Schema) + "." + link.Name(t.Name.Name) }

// ReadList returns the select list of whole rows. [Table.Canonical] converts its results.
func (t *Table) ReadList() string { return t.readList }

// Canonical converts a result of ReadList into a Row, in place.
func (t *Table) Canonical(values [][]byte) (Row, error) {
	if len(values) != len(t.Columns) {
		return nil, fmt.Errorf("table %s: %d values, and %d columns were asked for", t.Name, len(values), len(t.Columns))
	}
	for i := range t.Columns {
		v, err := t.Columns[i].Canonical(values[i])
		if err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		values[i] = v
	}
	return values, nil
}

// Logged is Canonical for a row that is compared with rows of a log, in which JSON values have only their text.
func (t *Table) Logged(values [][]byte) (Row, error) {
	for i := range min(len(values), len(t.Columns)) {
		if t.Columns[i].class == json {
			values[i] = bytes.TrimPrefix(values[i], []byte(typedMark))
		}
	}
	return t.Canonical(values)
}

// AppendInsert appends an INSERT up to VALUES.
func (t *Table) AppendInsert(b []byte) []byte {
	return append(b, "INSERT INTO "+t.SQL()+" ("+t.intoList+") VALUES "...)
}

// AppendValues appends a row's values in parentheses, without generated columns, which the server computes.
func (t *Table) AppendValues(b []byte, r Row) []byte {
	b = append(b, '(')
	first := true
	for i := range t.Columns {
		if t.Columns[i].Generated {
			continue
		}
		if !first {
			b = append(b, ',')
		}
		first = false
		b = t.Columns[i].AppendLiteral(b, r[i])
	}
	return append(b, ')')
}

// KeyValues returns a row's values of the columns that carry a gene, in the order of the declaration's keys.
func (t *Table) KeyValues(r Row) [][]byte {
	values := make([][]byte, len(t.Declared.Keys))
	for i := range t.Declared.Keys {
		at, _ := t.Declared.Column(t.Declared.Keys[i].Column.Name)
		values[i] = r[at]
	}
	return values
}

// Lax reports whether a row has the error value of an ENUM, which a server in strict mode refuses.
func (t *Table) Lax(r Row) bool {
	for _, i := range t.enums {
		if len(r[i]) == 1 && r[i][0] == '0' {
			return true
		}
	}
	return false
}

// VersionOf reads a row's version. ok is false if there is none.
func (t *Table) VersionOf(r Row) (version int64, ok bool) {
	if t.Version < 0 || r == nil || r[t.Version] == nil {
		return 0, false
	}
	return Version(r[t.Version]), true
}

// Version reads a value of a version column. A value above the maximum of BIGINT is reduced to that maximum.
func Version(v []byte) int64 {
	n, err := strconv.ParseInt(string(v), 10, 64)
	if err != nil {
		u, _ := strconv.ParseUint(string(v), 10, 64)
		n = int64(min(u, 1<<63-1))
	}
	return n
}

// ErrGene means that a row's keys yield different genes, or none.
var ErrGene = errors.New("the gene of a row is not certain")

// GeneOf returns the gene by which SQL selects the row. It checks it against the owner's gene if the table has an owner's column.
func (t *Table) GeneOf(r Row) (gene.Gene, error) {
	g, err := t.telling.of(r)
	if err != nil {
		return 0, fmt.Errorf("%w: table %s, key %q: %w", ErrGene, t.Name, t.KeyOf(r), err)
	}
	return g, nil
}

// CheckGene returns an error if a row's owner has another gene than its ID.
func (t *Table) CheckGene(r Row, g gene.Gene) error {
	owner, err := t.telling.ownerGene(r)
	if err == nil && owner != g {
		err = fmt.Errorf("its %s says %s and its owner %s", t.telling.Column.Name, g, owner)
	}
	if err != nil {
		return fmt.Errorf("%w: table %s, key %q: %w; correct the row, then resume", ErrGene, t.Name, t.KeyOf(r), err)
	}
	return nil
}

// KeyTellsGene reports whether the row's key determines its gene.
func (t *Table) KeyTellsGene() bool { return t.telling.leads || t.telling.whole }

// TypedInside returns a condition that finds rows with JSON values that can't be moved. It is empty if the table can't have any.
func (t *Table) TypedInside() string {
	var some []string
	for i := range t.Columns {
		if t.Columns[i].class == json {
			some = append(some, typedInside(link.Name(t.Columns[i].Name)))
		}
	}
	if some == nil {
		return ""
	}
	return "(" + strings.Join(some, " OR ") + ")"
}

// KeepsEqual reports whether the server may keep a different value that compares equal to a new one, as MySQL's JSON does with 1 and
// 1.0.
func (t *Table) KeepsEqual() bool { return t.TypedInside() != "" }

// Large reports whether a row may be very long, because of its columns' types.
func (t *Table) Large() bool {
	for i := range t.Columns {
		if t.Columns[i].large() {
			return true
		}
	}
	return false
}

// Digest returns an expression of a row's bytes: 64 hexadecimal digits, distinct for rows that differ in any value, barring a collision
// of SHA-256. MySQL 9 has no MD5.
func (t *Table) Digest() string {
	b := []byte("SHA2(CONCAT(")
	for i := range t.Columns {
		if i > 0 {
			b = append(b, ',')
		}
		b = t.Columns[i].AppendDigest(b)
	}
	return string(append(b, "),256)"...))
}
