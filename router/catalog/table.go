package catalog

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/config/strict"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router/stmt"
)

// Table is a declared table that fits its live schema. It is immutable.
type Table struct {
	TableName
	Declaration
	Columns []Column
	// Keys are the columns that carry a gene, the owner first.
	Keys []Key
	// Positions of the stamped columns in Columns, or -1.
	IDColumn, OrderNumberColumn, VersionColumn, GeneColumn int
	Layout                                                 orderid.Layout // of the ID column
	// Wide is the layout in which the table's IDs continue; zero if there is none.
	Wide orderid.Layout
	// Unique are the unique keys of the table. Unseen are the keys of a sharded table whose equal values may be in rows on
	// several shards: one shard doesn't see the other's row.
	Unique, Unseen []UniqueKey
	// Uneven contains the columns that not all shards have or show.
	Uneven Unevenness
	// StampedColumns are the columns that generators fill, sorted by name.
	StampedColumns []StampedColumn

	// Counters is the name under which the table's IDs and numbers are counted, if the table was renamed; see [Table.Counted].
	Counters TableName

	Width  gene.Width
	byName map[string]int
}

// StampedColumn is a column that a generator fills, given by its position.
type StampedColumn struct {
	Column    int
	Generator string
}

// Counted returns the name under which the table's IDs and numbers are counted: the first name that the table had.
func (t *Table) Counted() TableName {
	if t.Counters == (TableName{}) {
		return t.TableName
	}
	return t.Counters
}

// Column returns the position of a column. MySQL compares column names without letter case.
func (t *Table) Column(name string) (int, bool) {
	i, ok := t.byName[strings.ToLower(name)]
	return i, ok
}

// KeyOf returns the key of a column, if the column is one.
func (t *Table) KeyOf(name string) (*Key, bool) {
	i, ok := t.Column(name)
	if !ok {
		return nil, false
	}
	for k := range t.Keys {
		if t.Keys[k].Column == &t.Columns[i] {
			return &t.Keys[k], true
		}
	}
	return nil, false
}

// Root returns the key that determines the gene of an inserted row: the owner or the parent's ID.
func (t *Table) Root() *Key { return &t.Keys[0] }

// GeneWidth returns the greatest width of a gene that IDs of the table can carry.
func (t *Table) GeneWidth() gene.Width {
	if !t.Wide.IsZero() {
		return t.Wide.GeneWidth()
	}
	return t.Layout.GeneWidth()
}

// Resolve checks a declaration against the live columns of its table. The error contains everything that does not fit, each with its remedy.
// It is a *NoGeneColumnError if only [OwnGene] is missing.
func Resolve(name TableName, d Declaration, columns []Column, width gene.Width) (*Table, error) {
	if err := d.Validate(); err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	t := &Table{
		TableName: name, Declaration: d, Columns: columns, Width: width,
		IDColumn: -1, OrderNumberColumn: -1, VersionColumn: -1, GeneColumn: -1,
		byName: make(map[string]int, len(columns)),
	}
	for i := range columns {
		t.byName[strings.ToLower(columns[i].Name)] = i
	}
	if d.Kind != Sharded {
		return t, nil
	}
	r := &resolver{t: t}
	r.keys()
	r.stamped()
	r.lookupColumns()
	if err := errors.Join(r.errs...); err != nil {
		return nil, fmt.Errorf("table %s: %w", name, err)
	}
	if r.unmade {
		return nil, &NoGeneColumnError{t}
	}
	return t, nil
}

type resolver struct {
	t      *Table
	errs   []error
	unmade bool // the table lacks the column for the gene
}

func (r *resolver) refuse(column, format string, args ...any) {
	r.errs = append(r.errs, fmt.Errorf("column %s: %s", column, fmt.Sprintf(format, args...)))
}

func (r *resolver) column(name, role string) (*Column, int) {
	i, ok := r.t.Column(name)
	if !ok {
		names := make([]string, len(r.t.Columns))
		for i, c := range r.t.Columns {
			names[i] = c.Name
		}
		r.refuse(name, "declared as %s, but the table has no such column: create it on every shard or correct the declaration%s", role, strict.DidYouMean(name, names))
		return nil, -1
	}
	return &r.t.Columns[i], i
}

func (r *resolver) keys() {
	d := r.t.Declaration
	if d.Owner != "" {
		if c, _ := r.column(d.Owner, "owner"); c != nil && r.checkOwner(c) {
			r.add(Key{Role: Owner, Column: c})
		}
	}
	if d.Parent != nil {
		r.idKey(d.Parent, Parent)
	}
	if d.ID != nil {
		r.t.IDColumn = r.idKey(d.ID, ID)
		r.t.Layout, _ = orderid.ByName(d.ID.Layout)
		r.t.Wide = d.ID.Wide()
	}
	if d.OrderNumber != "" && d.ID != nil {
		r.t.OrderNumberColumn = r.idKey(&IDColumn{Column: d.OrderNumber, Layout: d.ID.Layout, Overflow: d.ID.Overflow}, OrderNumber)
	}
	r.geneText()
	if name := d.geneColumn(); name != OwnGene && name != "" || name == OwnGene && r.checkOwnGene(name) {
		r.t.GeneColumn = r.geneColumn(name)
	}
	r.refuseDuplicates()
}

func (r *resolver) geneColumn(name string) int {
	c, i := r.column(name, Gene.String())
	switch last := int64(r.t.Width.Last()); {
	case c == nil:
	case !c.IsInteger():
		r.refuse(c.Name, "a gene column is an integer, this is %s: ALTER TABLE %s MODIFY %s INT UNSIGNED NOT NULL", c.DataType, r.t.TableName, c.Name)
	case !c.holds(stmt.IntValue(last)):
		r.refuse(c.Name, "it can't hold genes of %d bits, which go up to %d: ALTER TABLE %s MODIFY %s INT UNSIGNED NOT NULL", r.t.Width, last, r.t.TableName, c.Name)
	case r.checkWritable(c):
		r.add(Key{Role: Gene, Column: c})
	}
	return i
}

// checkWritable refuses a column that the server fills by itself. It reports whether the column is allowed.
func (r *resolver) checkWritable(c *Column) bool {
	switch {
	case c.AutoIncrement:
		r.refuse(c.Name, "the server would number it by AUTO_INCREMENT: ALTER TABLE %s MODIFY %s %s NOT NULL", r.t.TableName, c.Name, c.SQLType())
	case c.Generated:
		r.refuse(c.Name, "it is a generated column, whose value is not known beforehand: make it a plain column")
	default:
		return true
	}
	return false
}

// refuseDuplicates refuses a column that is declared in two roles.
func (r *resolver) refuseDuplicates() {
	for i := range r.t.Keys {
		for j := range i {
			if a, b := r.t.Keys[j], r.t.Keys[i]; a.Column == b.Column {
				r.refuse(a.Column.Name, "declared as %s and as %s: it can only be one of them", a.Role, b.Role)
			}
		}
	}
}

func (r *resolver) add(k Key) {
	k.width = r.t.Width
	r.t.Keys = append(r.t.Keys, k)
}

// hashable are the character sets in which the bytes of a value equal those that a client sends in utf8mb4.
var hashable = map[string]bool{"utf8mb4": true, "utf8mb3": true, "utf8": true, "ascii": true}

func (r *resolver) checkOwner(c *Column) bool {
	before := len(r.errs)
	switch {
	case c.IsInteger() && c.AutoIncrement: // the cluster generates the numbers
	case !r.checkWritable(c):
	case c.IsInteger():
	case c.DataType == "binary":
		r.refuse(c.Name, "an owner of type BINARY is padded by the server: ALTER TABLE %s MODIFY %s VARBINARY(%d) NOT NULL", r.t.TableName, c.Name, c.Length)
	case c.IsBinary():
	case !c.IsText():
		r.refuse(c.Name, "an owner is an integer, VARCHAR, CHAR or VARBINARY, not %s: declare another column as owner", c.SQLType())
	case !strings.HasSuffix(c.Collation, "_bin"):
		r.refuse(c.Name, "its collation %s makes different spellings of an owner equal, which would hash to different genes: "+
			"ALTER TABLE %s MODIFY %s %s CHARACTER SET %s COLLATE %s_bin", c.Collation, r.t.TableName, c.Name, c.SQLType(), c.Charset, c.Charset)
	case !hashable[c.Charset]:
		r.refuse(c.Name, "an owner's character set is utf8mb4, utf8mb3 or ascii, not %s: ALTER TABLE %s MODIFY %s %s CHARACTER SET utf8mb4 COLLATE utf8mb4_bin",
			c.Charset, r.t.TableName, c.Name, c.SQLType())
	}
	return len(r.errs) == before
}

// idKey checks a column of IDs and returns its position, or -1 if it doesn't exist.
func (r *resolver) idKey(d *IDColumn, role Role) int {
	c, i := r.column(d.Column, role.String())
	layout, err := orderid.ByName(d.Layout)
	if c == nil || err != nil {
		return i
	}
	if layout.GeneWidth() < r.t.Width {
		r.refuse(c.Name, "layout %s has %d bits of gene and the cluster routes by %d: use another layout", d.Layout, layout.GeneBits(), r.t.Width)
		return i
	}
	if c.AutoIncrement {
		r.refuse(c.Name, "the server numbers it by AUTO_INCREMENT, and locus makes IDs of layout %s: leave it out of the declaration, so that the cluster numbers it as it is; "+
			"or make it a %s without AUTO_INCREMENT, and rows must give it until the table is declared", d.Layout, idType(layout))
		return i
	}
	if !r.checkType(c, layout, d.Wide()) {
		return i
	}
	r.add(Key{Role: role, Column: c, Layout: layout, Wide: d.Wide()})
	return i
}

func idType(l orderid.Layout) string {
	if l.Bytes() == 8 {
		return "BIGINT"
	}
	return "BINARY(16)"
}

func (r *resolver) checkType(c *Column, l, wide orderid.Layout) bool {
	switch {
	case !wide.IsZero():
		if c.DataType == "varbinary" && c.Length == 16 {
			return r.checkWritable(c)
		}
		r.refuse(c.Name, "IDs of layout %s that go on in %s need VARBINARY(16), this is %s: a column of that type has to be made and filled with the IDs' bytes, big endian",
			l.Name(), wide.Name(), c.SQLType())
	case l.Bytes() == 8 && c.DataType != "bigint":
		r.refuse(c.Name, "layout %s needs BIGINT, this is %s: ALTER TABLE %s MODIFY %s BIGINT NOT NULL", l.Name(), c.SQLType(), r.t.TableName, c.Name)
	case l.Bytes() == 16 && (!c.IsBinary() || c.Length != 16):
		r.refuse(c.Name, "layout %s needs BINARY(16) or VARBINARY(16), this is %s: ALTER TABLE %s MODIFY %s BINARY(16) NOT NULL", l.Name(), c.SQLType(), r.t.TableName, c.Name)
	default:
		return r.checkWritable(c)
	}
	return false
}

func (r *resolver) stamped() {
	r.version()
	for _, name := range slices.Sorted(maps.Keys(r.t.Stamped)) {
		c, i := r.column(name, "stamped")
		if c == nil {
			continue
		}
		if key, isKey := r.t.KeyOf(c.Name); isKey && key.Role != Text || i == r.t.VersionColumn {
			r.refuse(c.Name, "declared as stamped by generator %s, and as what the gene is read from or the version: it can only be one of them", r.t.Stamped[name])
			continue
		}
		if r.checkWritable(c) {
			r.t.StampedColumns = append(r.t.StampedColumns, StampedColumn{i, r.t.Stamped[name]})
		}
	}
}

func (r *resolver) version() {
	if r.t.Version == "" {
		return
	}
	c, i := r.column(r.t.Version, "version")
	if c == nil {
		return
	}
	if !c.IsInteger() {
		r.refuse(c.Name, "a version column is an integer, this is %s: ALTER TABLE %s MODIFY %s INT UNSIGNED NOT NULL", c.SQLType(), r.t.TableName, c.Name)
		return
	}
	if _, isKey := r.t.KeyOf(c.Name); isKey {
		r.refuse(c.Name, "declared as version, and as what the gene is read from: it can only be one of them")
		return
	}
	if r.checkWritable(c) {
		r.t.VersionColumn = i
	}
}
