package catalog

import (
	"fmt"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Role says how a column carries a gene.
type Role uint8

const (
	// Owner: the gene is the hash of the value.
	Owner Role = iota
	// ID, Parent and OrderNumber: the gene stands in the layout's top bits.
	ID
	Parent
	OrderNumber
	// Gene: the value is the gene.
	Gene
)

func (r Role) String() string {
	return [...]string{"owner", "ID", "parent's ID", "order number", "gene"}[r]
}

// Key is a column whose value tells a row's gene.
type Key struct {
	Role   Role
	Column *Column
	Layout orderid.Layout // ID, Parent, OrderNumber
	// Wide is the layout of 16 bytes that IDs have once those of Layout are used
	// up, told from them by their length; zero where the column holds one length.
	Wide  orderid.Layout
	width gene.Width
}

// Match says what a comparison with a value tells about the rows it holds for.
type Match uint8

const (
	// Anywhere: the comparison may hold on any shard.
	Anywhere Match = iota
	// Here: it holds for rows of one gene only.
	Here
	// Nowhere: it holds for no row.
	Nowhere
)

// Domain tells which keys can be compared with each other: equal values of one
// domain have equal genes.
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

// Read reads an ID from its bytes, and tells its layout, which is either of two
// where the column holds both lengths.
func (k *Key) Read(b []byte) (orderid.Layout, orderid.ID, error) {
	if !k.Wide.IsZero() {
		return orderid.OfLength(k.Layout, b)
	}
	id, err := k.Layout.FromBytes(b)
	return k.Layout, id, err
}

// GeneOfBytes is the gene of an ID that a binary column holds.
func (k *Key) GeneOfBytes(b []byte) (gene.Gene, error) {
	l, id, err := k.Read(b)
	if err != nil {
		return 0, err
	}
	return l.Gene(id) & k.width.Last(), nil
}

func (k *Key) isID() bool { return k.Role == ID || k.Role == Parent || k.Role == OrderNumber }
