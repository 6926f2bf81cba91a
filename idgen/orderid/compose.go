package orderid

import "locus/idgen/gene"

// Compose returns the ID made of the parts. A part that doesn't fit is an error and is never truncated. For a sequence
// number that is ErrSequenceExhausted.
func (l Layout) Compose(g gene.Gene, version uint32, s Sequence) (ID, error) {
	if l.IsZero() || g > l.gene.Last() || version > l.MaxVersion() || !l.fits(s) {
		return ID{}, l.misfit(g, version, s)
	}
	top := uint64(g)<<l.geneShift | uint64(version)<<l.sequenceTop
	if l.bytes == 16 {
		return ID{top | s.Hi, s.Lo}, nil
	}
	return ID{Lo: top | s.Lo}, nil
}

func (l Layout) fits(s Sequence) bool {
	limit := l.maxSequence
	return s.Hi <= limit.Hi && s.Lo <= limit.Lo // in a layout that uses Hi, limit.Lo permits every value
}

// Gene returns the gene of an ID of this layout.
func (l Layout) Gene(id ID) gene.Gene { return l.GeneUint(l.top(id)) }

// GeneUint returns the gene of a 64-bit layout's ID, or of the first 8 bytes of a 16-byte one, without allocation. For
// plain64 in a signed column pass uint64(v), so that genes are compared as unsigned numbers.
func (l Layout) GeneUint(v uint64) gene.Gene {
	return gene.Gene(v>>(l.geneShift&63)) & l.gene.Last()
}

// Version returns the key version of an ID of this layout, or 0 if nothing is hidden.
func (l Layout) Version(id ID) uint32 {
	return uint32(l.top(id)>>l.sequenceTop) & l.MaxVersion()
}

// Sequence returns the sequence number of an order ID, or the hidden one of an order number.
func (l Layout) Sequence(id ID) Sequence {
	mask := l.maxSequence
	return Sequence{id.Hi & mask.Hi, id.Lo & mask.Lo}
}

// WithSequence returns the ID with its sequence number replaced by s. s must fit; bits beyond the layout's are dropped.
func (l Layout) WithSequence(id ID, s Sequence) ID {
	mask := l.maxSequence
	return ID{id.Hi&^mask.Hi | s.Hi&mask.Hi, id.Lo&^mask.Lo | s.Lo&mask.Lo}
}

// ValidUint reports whether v can be an ID of this 64-bit layout: the bits that the layout keeps 0 are 0. No row has an
// invalid one.
func (l Layout) ValidUint(v uint64) bool { return l.bytes == 8 && l.valid(ID{Lo: v}) }

func (l Layout) valid(id ID) bool {
	if l.bytes == 8 && id.Hi != 0 {
		return false
	}
	used := l.geneShift + uint8(l.gene)
	return l.top(id)>>used == 0
}

// GeneRange returns the smallest and the largest ID with a gene in first..last. Every ID between them has such a gene.
// Genes beyond the layout's width have no IDs. If none is left, lo is above hi.
//
// In a signed column of layout plain64 the genes from 0x8000 up sort before the others. A range that includes both must
// be queried in two halves.
func (l Layout) GeneRange(first, last gene.Gene) (lo, hi ID) {
	last = min(last, l.gene.Last())
	if first > last {
		return ID{^uint64(0), ^uint64(0)}, ID{}
	}
	from := uint64(first) << l.geneShift
	to := uint64(last)<<l.geneShift | (1<<l.geneShift - 1)
	if l.bytes == 16 {
		return ID{Hi: from}, ID{to, ^uint64(0)}
	}
	return ID{Lo: from}, ID{Lo: to}
}
