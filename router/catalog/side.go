package catalog

import (
	"strconv"

	"locus/idgen/orderid"
	"locus/router"
	"locus/router/stmt"
)

// Side returns the key whose residue places a row of a divided gene: the parent's ID, so that rows are where their parent is, else the
// row's own. It returns nil if the table has neither, or allows NULL there: its genes can't be divided.
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

// TellsSide reports whether rows with equal values in a column, given by its position, have equal residues. That is the column of the
// side's key, and the one with the order number of that ID.
func (t *Table) TellsSide(side *Key, column int) bool {
	c := &t.Columns[column]
	return c == side.Column || side.Role == ID && column == t.OrderNumberColumn
}

// Residue is that of the IDs for which `column = v` holds; ok is false where they may
// have several, or the column has no IDs. Like [Key.Of], it goes by what servers compare.
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
	return k.Layout.Residue(orderid.ID{Lo: n.Bits()}), true // whichever sign it is compared with
}

// ResidueInList is Residue for an element of a list of several values, of rows too. What
// servers may compare as a double says nothing of the last digits.
func (k *Key) ResidueInList(v stmt.Value) (r orderid.Residue, ok bool) {
	if n, whole := v.Integer(); k.Column.IsInteger() && v.Kind != stmt.Int && v.Kind != stmt.Uint && (!whole || beyondDouble(n)) {
		return 0, false
	}
	return k.Residue(v)
}

// StoredResidue is that of the ID which an INSERT would store, of a value that
// [Key.Stored] takes.
func (k *Key) StoredResidue(v stmt.Value) (r orderid.Residue, ok bool) {
	if n, whole := v.Integer(); k.Column.IsInteger() && whole {
		return k.Layout.Residue(orderid.ID{Lo: n.Bits()}), true
	}
	if v.Kind == stmt.String || v.Kind == stmt.Bytes {
		return k.Residue(v)
	}
	return 0, false
}

// residueSQL has a server compute the residue of what the key's column has.
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

// residuesSQL is that the residue of what the key's column has is one of a part's.
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

// Residues is the SQL condition that a row's residue is one of a part's, some of which are not, for a table that has [Table.Side].
func (t *Table) Residues(qualifier string, p router.Part) string {
	return t.Side().residuesSQL(qualifier, p)
}

// NoneOf is the SQL condition that a row, of a table that the statement calls qualifier,
// is none of those; it holds for a row whose gene isn't known. Empty text: SQL can't tell.
func (t *Table) NoneOf(qualifier string, f router.Foreign) string {
	k, side := t.Telling(), t.Side()
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
