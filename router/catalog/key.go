package catalog

import (
	"fmt"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Role is the way in which a column contains a gene.
type Role uint8

const (
	// Owner: the gene is the hash of the value.
	Owner Role = iota
	// ID, Parent and OrderNumber: the gene is in the layout's top bits.
	ID
	Parent
	OrderNumber
	// Gene: the value is the gene.
	Gene
	// Text: the gene is in hexadecimal in the middle of a text.
	Text
)

func (r Role) String() string {
	return [...]string{"owner", "ID", "parent's ID", "order number", "gene", "text with the gene"}[r]
}

// Key is a column whose value determines a row's gene.
type Key struct {
	Role   Role
	Column *Column
	Layout orderid.Layout // ID, Parent, OrderNumber
	// Wide is the layout of 16 bytes that IDs have after all IDs of Layout are used up. The length of an ID distinguishes the
	// two. It is zero if all IDs of the column have one length.
	Wide  orderid.Layout
	At    int // Text: the position of the gene's first digit, from 0
	width gene.Width
}

// Match is the set of rows for which a comparison with a value may be true.
type Match uint8

const (
	// Anywhere: the comparison may be true on any shard.
	Anywhere Match = iota
	// Here: it is true for rows of one gene only.
	Here
	// Nowhere: it is true for no row.
	Nowhere
)

// Domain returns the domain of the key. Keys of one domain can be compared with each other: their equal values have equal genes.
func (k *Key) Domain() string {
	switch k.Role {
	case Owner:
		if k.Column.IsInteger() {
			return "owner/integer"
		}
		return fmt.Sprintf("owner/%s/%s", k.Column.Charset, k.Column.Collation)
	case Gene:
		return "gene"
	case ID, Parent:
		return "id/" + k.layouts()
	case Text:
		return fmt.Sprintf("text/%d/%s", k.At, k.Column.Collation)
	case OrderNumber:
	}
	return "number/" + k.layouts()
}

func (k *Key) layouts() string {
	if k.Wide.IsZero() {
		return k.Layout.Name()
	}
	return k.Layout.Name() + "+" + k.Wide.Name()
}

// Read returns the ID that the bytes contain and its layout. In a column with two lengths, the layout depends on the length.
func (k *Key) Read(b []byte) (orderid.Layout, orderid.ID, error) {
	if !k.Wide.IsZero() {
		return orderid.OfLength(k.Layout, b)
	}
	id, err := k.Layout.FromBytes(b)
	return k.Layout, id, err
}

// GeneOfBytes returns the gene of an ID in a binary column.
func (k *Key) GeneOfBytes(b []byte) (gene.Gene, error) {
	l, id, err := k.Read(b)
	if err != nil {
		return 0, err
	}
	return l.Gene(id) & k.width.Last(), nil
}

func (k *Key) isID() bool { return k.Role == ID || k.Role == Parent || k.Role == OrderNumber }
