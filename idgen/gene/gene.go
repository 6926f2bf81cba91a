// Package gene turns an owner's value into its gene: the number of the virtual
// node that the owner's rows live on, in [0, 2^width).
//
// It owns the hash, the genes of integer and byte values, and the ranges and
// sets of genes that the rest of the product moves around. It never decides
// where a gene's rows are (that is the route map), never converts a value to
// its column's type first (that is the planner, which knows the column), and
// does no I/O.
//
// A gene is the low bits of xxhash64(value) XOR murmur64(value), so a narrower
// gene is the low bits of a wider one. The result is stored in every ID; it can
// never change. CheckGolden tells whether this build still computes it.
package gene

import (
	"encoding/binary"
	"fmt"
	"sync"

	"github.com/cespare/xxhash/v2"
	"github.com/spaolacci/murmur3"
)

// Gene is the number of a virtual node.
type Gene uint32

// String spells a gene the way operators read it: "0x3eab". Genes above
// 0xffff get the six digits of width 23.
func (g Gene) String() string {
	if g > W16.Last() {
		return g.Format(W23)
	}
	return g.Format(W16)
}

// Format spells a gene with the number of hex digits that every gene of the
// width needs, so that a column of genes lines up: "0x3eab", "0x033eab".
func (g Gene) Format(w Width) string {
	if w > W16 {
		return fmt.Sprintf("0x%06x", uint32(g))
	}
	return fmt.Sprintf("0x%04x", uint32(g))
}

// Width is the number of bits of a gene.
type Width uint8

// The widths that the layouts of IDs have room for.
const (
	W14 Width = 14
	W15 Width = 15
	W16 Width = 16
	W23 Width = 23
)

// Valid reports whether a layout of IDs has genes of this width.
func (w Width) Valid() bool {
	switch w {
	case W14, W15, W16, W23:
		return true
	}
	return false
}

// Last is the largest gene of the width; the smallest is 0.
func (w Width) Last() Gene { return 1<<w - 1 }

// Hash is xxHash64 (seed 0) XOR the first word of MurmurHash3 x64-128 (seed 0).
// Two unrelated functions, so that an owner that was chosen to collide in one
// still spreads by the other.
func Hash(b []byte) uint64 { return xxhash.Sum64(b) ^ murmur3.Sum64(b) }

// OfInt is the gene of a value of an integer column: the hash of its 64-bit
// two's complement as 8 little-endian bytes, whatever the column's size. A
// BIGINT UNSIGNED value above 2^63 is passed as int64(v).
func OfInt(v int64, w Width) Gene {
	b := words.Get().(*[8]byte)
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	g := OfBytes(b[:], w)
	words.Put(b)
	return g
}

// words lends the bytes that OfInt hashes: murmur3 lets its argument escape, so
// bytes on the stack would cost an allocation for every routed value.
var words = sync.Pool{New: func() any { return new([8]byte) }}

// OfBytes is the gene of a value of a binary or _bin-collated column. The
// caller has already stripped trailing spaces where the collation is PAD SPACE.
func OfBytes(b []byte, w Width) Gene { return Gene(Hash(b)) & w.Last() }
