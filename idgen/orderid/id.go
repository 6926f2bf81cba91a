// Package orderid defines the bits of an order ID: the gene, the key version and the sequence number, in every layout
// that a table can choose.
//
// It owns composing an ID from its parts and decomposing it, reading it from its representations (integers of either
// sign, bytes, text), and formatting it as SQL. It never generates a sequence number (package idgen does) and never
// hides one (package cipher does). It never wraps or truncates a part that doesn't fit.
//
// The gene is at the top in every layout, so the IDs of a range of genes are one contiguous range of the primary key.
// See Layout.GeneRange.
package orderid

import (
	"cmp"
	"fmt"
	"math/bits"
	"strconv"
)

// ID is an order ID or an order number. 64-bit layouts use only Lo. bytes16 has its first 8 bytes in Hi. An ID doesn't
// know its layout.
type ID struct{ Hi, Lo uint64 }

// Plus returns the ID with a sequence number higher by n. The caller makes sure that the run extends that far.
func (id ID) Plus(n uint64) ID {
	lo, carry := bits.Add64(id.Lo, n, 0)
	return ID{id.Hi + carry, lo}
}

// Compare orders IDs of one layout as unsigned numbers. That is the order of the primary key, except in a signed column
// of layout plain64.
func (id ID) Compare(other ID) int {
	if c := cmp.Compare(id.Hi, other.Hi); c != 0 {
		return c
	}
	return cmp.Compare(id.Lo, other.Lo)
}

// String is for logs: decimal if the ID fits in 64 bits, else hexadecimal. The layout formats an ID for SQL.
func (id ID) String() string {
	if id.Hi == 0 {
		return strconv.FormatUint(id.Lo, 10)
	}
	return fmt.Sprintf("0x%016x%016x", id.Hi, id.Lo)
}

// Sequence is the number that makes the IDs of one gene distinct. It is only Lo in 64-bit layouts, and 84 bits in
// bytes16.
type Sequence struct{ Hi, Lo uint64 }

// Seq returns a sequence number of at most 64 bits, as all issued ones are. Only the hidden sequence number of an order
// number needs more.
func Seq(n uint64) Sequence { return Sequence{Lo: n} }

// String returns the number in decimal, or in hexadecimal above 64 bits.
func (s Sequence) String() string { return ID(s).String() }
