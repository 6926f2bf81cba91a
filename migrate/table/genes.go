package table

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
)

// tellingKey is the column by whose ranges SQL selects the rows of genes, and the owner's column if that is another one.
type tellingKey struct {
	*catalog.Key
	at      int // index in Table.Columns
	leads   bool
	width   gene.Width
	owner   *catalog.Key // nil if there is none
	ownerAt int
	whole   bool // no column contains a gene: all rows have gene 0
}

// findTelling prefers the first column of the row's key, because the genes are then ranges of it.
func findTelling(t *Table) (*tellingKey, error) {
	var found *tellingKey
	k := &tellingKey{width: t.Declared.Width}
	for i := range t.Declared.Keys {
		key := &t.Declared.Keys[i]
		at, _ := t.Declared.Column(key.Column.Name)
		if key.Role == catalog.Owner {
			k.owner, k.ownerAt = key, at
			continue
		}
		if key.Role == catalog.OrderNumber || key.Role == catalog.Text || t.Columns[at].Nullable {
			continue
		}
		leads := t.Key.Columns[0] == at
		if found == nil || leads && !found.leads {
			found = &tellingKey{Key: key, at: at, leads: leads}
		}
	}
	if found == nil {
		return nil, fmt.Errorf("table %s: no ID, parent's ID or gene column gives every row's gene in SQL; declare one, and make it NOT NULL", t.Name)
	}
	found.width, found.owner, found.ownerAt = k.width, k.owner, k.ownerAt
	return found, nil
}

func (k *tellingKey) of(r Row) (gene.Gene, error) {
	if k.whole {
		return 0, nil
	}
	v := r[k.at]
	switch {
	case v == nil:
		return 0, fmt.Errorf("its %s is NULL", k.Column.Name)
	case k.Role == catalog.Gene:
		n, err := strconv.ParseUint(string(v), 10, 32)
		if err == nil && n > uint64(k.width.Last()) {
			err = fmt.Errorf("%d is no gene of %d bits", n, k.width)
		}
		return gene.Gene(n), err
	case k.Column.IsInteger():
		n, err := integerBits(v)
		if err != nil || !k.Layout.ValidUint(n) {
			return 0, fmt.Errorf("its %s %s is not an ID of layout %s", k.Column.Name, v, k.Layout.Name())
		}
		return k.Layout.GeneUint(n) & k.width.Last(), nil
	}
	return k.GeneOfBytes(v)
}

// ResidueOf returns the residue of the ID that decides on which of two shards the row is while its gene is divided.
func (t *Table) ResidueOf(r Row) (orderid.Residue, error) {
	side, err := t.side()
	if err != nil {
		return 0, err
	}
	at, _ := t.Declared.Column(side.Column.Name)
	residue, err := residueOf(side, r[at])
	if err != nil {
		err = fmt.Errorf("table %s, key %q: its %s tells no sequence: %w; correct the row, then resume", t.Name, t.KeyOf(r), side.Column.Name, err)
	}
	return residue, err
}

func residueOf(side *catalog.Key, v []byte) (orderid.Residue, error) {
	if side.Column.IsInteger() {
		n, err := integerBits(v)
		return side.Layout.Residue(orderid.ID{Lo: n}), err
	}
	l, id, err := side.Read(v)
	if err != nil {
		return 0, err
	}
	return l.Residue(id), nil
}

// Residues returns the condition that a row, given its gene is in the part, is in the part. It is empty if the part has all
// residues.
func (t *Table) Residues(p router.Part) (string, error) {
	if p.IsWhole() {
		return "", nil
	}
	if _, err := t.side(); err != nil {
		return "", err
	}
	return t.Declared.Residues(t.Name.Name, p), nil
}

func (t *Table) side() (*catalog.Key, error) {
	if side := t.Declared.Side(); side != nil {
		return side, nil
	}
	return nil, fmt.Errorf("table %s: no ID, nor a parent's, tells a sequence of each row", t.Name)
}

// TellsGene reports whether rows that are equal in an index have the same gene.
func (t *Table) TellsGene(u Index) bool {
	return t.telling.whole || slices.ContainsFunc(u.Columns, func(c int) bool {
		if c < 0 {
			return false
		}
		_, is := t.Declared.KeyOf(t.Columns[c].Name)
		return is
	})
}

// Numbered reports whether rows that are equal in an index have the same AUTO_INCREMENT number, which the cluster assigns.
func (t *Table) Numbered(u Index) bool {
	return slices.ContainsFunc(u.Columns, func(c int) bool { return c >= 0 && t.Columns[c].AutoIncrement && t.Columns[c].IsInteger() })
}

// integerBits reads a signed or unsigned integer as 64 bits.
func integerBits(v []byte) (uint64, error) {
	if len(v) > 0 && v[0] == '-' {
		n, err := strconv.ParseInt(string(v), 10, 64)
		return uint64(n), err
	}
	return strconv.ParseUint(string(v), 10, 64)
}

// ownerGene returns the gene of the owner, or without an owner's column the same as of.
func (k *tellingKey) ownerGene(r Row) (gene.Gene, error) {
	if k.owner == nil {
		return k.of(r)
	}
	v, c := r[k.ownerAt], k.owner.Column
	switch {
	case v == nil:
		return 0, errors.New("its owner is NULL")
	case c.IsInteger():
		n, err := integerBits(v)
		return gene.OfInt(int64(n), k.width), err
	case c.PadSpace || c.DataType == "char":
		v = bytes.TrimRight(v, " ")
	}
	return gene.OfBytes(v, k.width), nil
}

// place returns the position of a column's value among its spans.
func (k *tellingKey) place(v []byte) (uint64, bool) {
	if k.Column.IsInteger() {
		n, err := integerBits(v)
		return k.PlaceOfInteger(n), err == nil
	}
	return k.PlaceOfBytes(v)
}
