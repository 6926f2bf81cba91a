// Package gene computes an owner's gene: the number of the virtual node that the owner's rows live on, in [0, 2^width).
//
// It owns the hash, the genes of integer and byte values, and the ranges and sets of genes. It never decides where a
// gene's rows are; the route map does. It never converts a value to its column's type; the planner, which knows the
// column, does that first. It does no I/O.
//
// A gene is the low bits of xxhash64(value) XOR murmur64(value), so a narrower gene is the low bits of a wider one. The
// result is stored in every ID and can never change. CheckGolden checks that this build still computes it.
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

// String formats a gene as operators read it: "0x3eab". Genes above 0xffff get the six digits of width 23.
func (g Gene) String() string {
	if g > W16.Last() {
		return g.Format(W23)
	}
	return g.Format(W16)
}

// Format formats a gene with the width's number of hexadecimal digits, so that a column of genes is aligned: "0x3eab",
// "0x033eab".
func (g Gene) Format(w Width) string {
	if w > W16 {
		return fmt.Sprintf("0x%06x", uint32(g))
	}
	return fmt.Sprintf("0x%04x", uint32(g))
}

// Width is the number of bits of a gene.
type Width uint8

// The widths supported by the layouts of IDs.
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

// Last returns the largest gene of the width. The smallest is 0.
func (w Width) Last() Gene { return 1<<w - 1 }

// Hash returns xxHash64 (seed 0) XOR the first word of MurmurHash3 x64-128 (seed 0). The two functions are unrelated,
// so owners chosen to collide in one are still spread by the other.
func Hash(b []byte) uint64 { return xxhash.Sum64(b) ^ murmur3.Sum64(b) }

// OfInt returns the gene of a value of an integer column: the hash of its 64-bit two's complement as 8 little-endian
// bytes, for every size of column. Pass a BIGINT UNSIGNED value above 2^63 as int64(v).
func OfInt(v int64, w Width) Gene {
	b := words.Get().(*[8]byte)
	binary.LittleEndian.PutUint64(b[:], uint64(v))
	g := OfBytes(b[:], w)
	words.Put(b)
	return g
}

// words holds the bytes that OfInt hashes. The argument of murmur3 escapes, so bytes on the stack would cost an
// allocation for every routed value.
var words = sync.Pool{New: func() any { return new([8]byte) }}

// OfBytes returns the gene of a value of a binary or _bin-collated column. The caller must strip trailing spaces first
// if the collation is PAD SPACE.
func OfBytes(b []byte, w Width) Gene { return Gene(Hash(b)) & w.Last() }
