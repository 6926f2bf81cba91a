package orderid

import (
	"fmt"
	"strings"

	"locus/idgen/gene"
)

// Layout defines the meaning of an ID's bits. It is an immutable value, returned by ByName. Equal layouts are ==. The
// zero value is no layout: IsZero reports it, Compose refuses it, and its other methods panic.
type Layout struct{ *shape }

// shape is the bits of a layout. There is one per layout. It isn't modified after package initialization.
type shape struct {
	name     string
	bytes    uint8 // 8 or 16
	gene     gene.Width
	version  uint8 // bits of the key version; 0 if nothing can be hidden
	sequence uint8 // bits

	// Derived values, stored because every ID needs them.
	sequenceTop uint8    // bits of the sequence number in the word with the gene
	geneShift   uint8    // position of the gene in that word, below 64
	maxSequence Sequence // also the mask of the bits of the sequence number
}

// The layouts, with bits from the top.
//
//	int64     | 0 (1)  | gene (16) | key version  (5) | sequence (42) |
//	int64-15  | 0 (1)  | gene (15) | key version  (6) | sequence (42) |
//	int64-14  | 0 (1)  | gene (14) | key version  (7) | sequence (42) |
//	plain64            | gene (16)                    | sequence (48) |
//	js53      | 0 (11) | gene (16)                    | sequence (37) |
//	bytes16   | 0 (1)  | gene (23) | key version (20) | sequence (84) |
var layouts = [...]Layout{
	layout("int64", 8, gene.W16, 5, 42),
	layout("int64-15", 8, gene.W15, 6, 42),
	layout("int64-14", 8, gene.W14, 7, 42),
	layout("plain64", 8, gene.W16, 0, 48),
	layout("js53", 8, gene.W16, 0, 37),
	layout("bytes16", 16, gene.W23, 20, 84),
}

// The compiler checks the sums of bits: an index other than 0 doesn't compile.
var (
	_ = [1]struct{}{}[64-1-gene.W16-5-42]
	_ = [1]struct{}{}[64-1-gene.W15-6-42]
	_ = [1]struct{}{}[64-1-gene.W14-7-42]
	_ = [1]struct{}{}[64-gene.W16-48]
	_ = [1]struct{}{}[64-11-gene.W16-37]
	_ = [1]struct{}{}[128-1-gene.W23-20-84]
)

func layout(name string, bytes uint8, width gene.Width, version, sequence uint8) Layout {
	s := &shape{name: name, bytes: bytes, gene: width, version: version, sequence: sequence}
	s.sequenceTop = sequence
	s.maxSequence = Seq(1<<sequence - 1)
	if bytes == 16 {
		s.sequenceTop = sequence - 64
		s.maxSequence = Sequence{1<<s.sequenceTop - 1, ^uint64(0)}
	}
	s.geneShift = s.sequenceTop + version
	return Layout{s}
}

// Layouts returns all layouts, the default first.
func Layouts() []Layout { return append([]Layout(nil), layouts[:]...) }

// ByName returns the layout with a name.
func ByName(name string) (Layout, error) {
	for _, l := range layouts {
		if l.name == name {
			return l, nil
		}
	}
	return Layout{}, fmt.Errorf("no layout is named %q: choose one of %s", name, strings.Join(Names(), ", "))
}

// Names returns the names of all layouts.
func Names() []string {
	names := make([]string, len(layouts))
	for i, l := range layouts {
		names[i] = l.name
	}
	return names
}

// IsZero reports whether l is the zero value, which is no layout.
func (l Layout) IsZero() bool { return l.shape == nil }

// Name returns the layout's name for ByName.
func (l Layout) Name() string { return l.name }

// String returns the name.
func (l Layout) String() string { return l.name }

// Bytes returns the size of a stored ID: 8 or 16.
func (l Layout) Bytes() int { return int(l.bytes) }

// GeneWidth returns the width of the ID's gene.
func (l Layout) GeneWidth() gene.Width { return l.gene }

// GeneBits returns the number of bits of the gene.
func (l Layout) GeneBits() int { return int(l.gene) }

// VersionBits returns the number of bits of the key version. If it is 0, the layout's IDs can't be hidden in order
// numbers.
func (l Layout) VersionBits() int { return int(l.version) }

// SequenceBits returns the number of bits of the sequence number.
func (l Layout) SequenceBits() int { return int(l.sequence) }

// MaxVersion returns the largest key version that fits.
func (l Layout) MaxVersion() uint32 { return 1<<l.version - 1 }

// MaxSequence returns the largest sequence number that fits.
func (l Layout) MaxSequence() Sequence { return l.maxSequence }

// top returns the word that holds the gene.
func (l Layout) top(id ID) uint64 {
	if l.bytes == 16 {
		return id.Hi
	}
	return id.Lo
}
