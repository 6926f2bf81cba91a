package catalog

import (
	"strconv"

	"locus/idgen/orderid"
	"locus/router"
	"locus/router/stmt"
)

// Side returns the key whose residue places a row of a divided gene. That is the parent's ID, so that rows are on their parent's shard, or
// else the row's own ID. It returns nil if the table has neither, or if the column allows NULL: its genes can't be divided.
func (t *Table) Side() *Key {
	var found *Key
	for i := range t.Keys {
		if k := &t.Keys[i]; k.Role == Parent || k.Role == ID && found == nil {
			found = k
		}
	}
	if found == nil || found.Column.Nullable {
		return nil
	}
	return found
}

// DeterminesSide reports whether rows with equal values in a column have equal residues. The column is given by its position. It is true for the
// column of side, and for the order number of that ID.
func (t *Table) DeterminesSide(side *Key, column int) bool {
	c := &t.Columns[column]
	return c == side.Column || side.Role == ID && column == t.OrderNumberColumn
}

// Residue returns the residue of the IDs for which `column = v` is true. ok is false if these IDs may have several residues, or if the column
// contains no IDs. Like [Key.Of], it follows the servers' rules of comparison.
func (k *Key) Residue(v stmt.Value) (r orderid.Residue, ok bool) {
	switch {
	case k.Role != ID && k.Role != Parent:
		return 0, false
	case !k.Column.IsInteger():
		if v.Kind != stmt.Bytes && v.Kind != stmt.String {
			return 0, false
		}
		l, id, err := k.Read(v.Text)
		if err != nil {
			return 0, false
		}
		return l.Residue(id), true
	}
	n, whole := v.Integer()
	switch {
	case !whole || v.Kind != stmt.Int && v.Kind != stmt.Uint && v.Kind != stmt.String:
		return 0, false
	case v.Kind == stmt.String && !k.Column.holds(n):
		return 0, false
	}
	return k.Layout.Residue(orderid.ID{Lo: n.Bits()}), true // the residue is the same for both signs of the comparison
}

// ResidueInList is Residue for an element of a list of several values, including a list of rows. A value that servers may compare as a double
// doesn't determine the last digits.
func (k *Key) ResidueInList(v stmt.Value) (r orderid.Residue, ok bool) {
	if n, whole := v.Integer(); k.Column.IsInteger() && v.Kind != stmt.Int && v.Kind != stmt.Uint && (!whole || beyondDouble(n)) {
		return 0, false
	}
	return k.Residue(v)
}

// StoredResidue returns the residue of the ID that an INSERT would store. v is a value that [Key.Stored] accepts.
func (k *Key) StoredResidue(v stmt.Value) (r orderid.Residue, ok bool) {
	if n, whole := v.Integer(); k.Column.IsInteger() && whole {
		return k.Layout.Residue(orderid.ID{Lo: n.Bits()}), true
	}
	if v.Kind == stmt.String || v.Kind == stmt.Bytes {
		return k.Residue(v)
	}
	return 0, false
}

// residueSQL returns the SQL expression for the residue of the value in the key's column.
func (k *Key) residueSQL(column string) string {
	switch {
	case k.Column.IsInteger():
		return k.Layout.ResidueSQL(column)
	case k.Wide.IsZero():
		return k.Layout.ResidueOfBytesSQL(column)
	}
	return "CASE LENGTH(" + column + ") WHEN " + strconv.Itoa(k.Wide.Bytes()) +
		" THEN " + k.Wide.ResidueOfBytesSQL(column) + " ELSE " + k.Layout.ResidueOfBytesSQL(column) + " END"
}

// residuesSQL returns the SQL condition that the residue of the key's column belongs to a part.
func (k *Key) residuesSQL(qualifier string, p router.Part) string {
	residue, text := k.residueSQL(quoted(qualifier)+"."+quoted(k.Column.Name)), ""
	if p.First > 0 {
		text = residue + " >= " + strconv.Itoa(int(p.First))
	}
	if p.End < orderid.Modulus {
		if text != "" {
			text += " AND "
		}
		text += residue + " < " + strconv.Itoa(int(p.End))
	}
	return text
}

// Residues returns the SQL condition that a row's residue belongs to a part that does not contain all residues. The table must have
// [Table.Side].
func (t *Table) Residues(qualifier string, p router.Part) string {
	return t.Side().residuesSQL(qualifier, p)
}

// NoneOf returns the SQL condition that a row is none of the foreign ones. qualifier is the table's name in the statement. The condition is
// true for a row whose gene isn't known. The text is empty if SQL can't express it.
func (t *Table) NoneOf(qualifier string, f router.Foreign) string {
	k, side := t.ComputableKey(), t.Side()
	if k == nil || side == nil && len(f.Parts) > 0 {
		return ""
	}
	column := quoted(qualifier) + "." + quoted(k.Column.Name)
	var b []byte
	if !f.Genes.Empty() {
		b = AppendSpans(b, column, k.Spans(f.Genes))
	}
	for _, p := range f.Parts {
		if len(b) > 0 {
			b = append(b, " OR "...)
		}
		b = AppendSpans(append(b, '('), column, k.Spans(p.Genes))
		b = append(b, " AND "+side.residuesSQL(qualifier, p)+")"...)
	}
	if len(f.Parts) > 0 {
		b = append(append([]byte{'('}, b...), ')')
	}
	return string(append(b, " IS NOT TRUE"...))
}
