// Package orderid is the bits of an order ID: which of them are the gene, the
// key version and the sequence, in every layout that a table can choose.
//
// It owns composing an ID from its parts, taking it apart, reading it from the
// forms that it travels in (integers of either sign, bytes, text) and spelling
// it as SQL. It never makes a sequence (package idgen does), never hides one
// (package cipher does), and never wraps or truncates a part that does not fit.
//
// The gene stands at the top of every layout, so the IDs of a range of genes
// are one contiguous range of the primary key, see Layout.GeneRange.
package orderid

import (
	"cmp"
	"fmt"
	"math/bits"
	"strconv"
)

// ID is an order ID or an order number: 64-bit layouts use Lo alone, bytes16
// has its first 8 bytes in Hi. An ID does not know its layout.
type ID struct{ Hi, Lo uint64 }

// Plus is the ID whose sequence is n higher. The caller knows that the run of
// sequences goes that far.
func (id ID) Plus(n uint64) ID {
	lo, carry := bits.Add64(id.Lo, n, 0)
	return ID{id.Hi + carry, lo}
}

// Compare orders IDs of one layout as unsigned numbers, which is the order of
// the primary key except in a signed column of layout plain64.
func (id ID) Compare(other ID) int {
	if c := cmp.Compare(id.Hi, other.Hi); c != 0 {
		return c
	}
	return cmp.Compare(id.Lo, other.Lo)
}

// String is for logs: decimal when the ID fits 64 bits, else hex. What SQL
// takes is spelled by the layout.
func (id ID) String() string {
	if id.Hi == 0 {
		return strconv.FormatUint(id.Lo, 10)
	}
	return fmt.Sprintf("0x%016x%016x", id.Hi, id.Lo)
}

// Sequence is the number that makes the IDs of one gene distinct: Lo alone in
// 64-bit layouts, 84 bits in bytes16.
type Sequence struct{ Hi, Lo uint64 }

// Seq is a sequence number that fits 64 bits, as all issued ones do; only the
// hidden sequence of an order number needs more.
func Seq(n uint64) Sequence { return Sequence{Lo: n} }

// String is the number in decimal, or in hex above 64 bits.
func (s Sequence) String() string { return ID(s).String() }
