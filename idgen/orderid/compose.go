package orderid

import "locus/idgen/gene"

// Compose is the ID of the parts. A part that does not fit is an error, never
// truncated; a sequence that does not fit is an ErrSequenceExhausted.
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
	return s.Hi <= limit.Hi && s.Lo <= limit.Lo // Lo is full where Hi is used
}

// Gene is the gene of an ID of this layout.
func (l Layout) Gene(id ID) gene.Gene { return l.GeneUint(l.top(id)) }

// GeneUint is the gene of a 64-bit layout's ID, or of the first 8 bytes of a
// 16-byte one, without allocation. plain64 in a signed column is passed as
// uint64(v), so that genes are compared as unsigned numbers.
func (l Layout) GeneUint(v uint64) gene.Gene {
	return gene.Gene(v>>(l.geneShift&63)) & l.gene.Last()
}

// Version is the key version of an ID of this layout: 0 if nothing is hidden.
func (l Layout) Version(id ID) uint32 {
	return uint32(l.top(id)>>l.sequenceTop) & l.MaxVersion()
}

// Sequence is the sequence of an order ID, or the hidden one of an order number.
func (l Layout) Sequence(id ID) Sequence {
	mask := l.maxSequence
	return Sequence{id.Hi & mask.Hi, id.Lo & mask.Lo}
}

// WithSequence is the ID with its sequence replaced by s, which must fit: bits
// beyond the layout's are an error in the caller and are dropped.
func (l Layout) WithSequence(id ID, s Sequence) ID {
	mask := l.maxSequence
	return ID{id.Hi&^mask.Hi | s.Hi&mask.Hi, id.Lo&^mask.Lo | s.Lo&mask.Lo}
}

// ValidUint reports whether v can be an ID of this 64-bit layout: the bits
// that the layout keeps 0 are 0. One that can't is nobody's row.
func (l Layout) ValidUint(v uint64) bool { return l.bytes == 8 && l.valid(ID{Lo: v}) }

func (l Layout) valid(id ID) bool {
	if l.bytes == 8 && id.Hi != 0 {
		return false
	}
	used := l.geneShift + uint8(l.gene)
	return l.top(id)>>used == 0
}

// GeneRange is the smallest and the largest ID whose gene is in first..last:
// every ID between them has such a gene. Genes beyond the layout's width have
// no IDs; if none is left, lo is above hi.
//
// In a signed column of layout plain64 the genes from 0x8000 up stand before
// those below: ask for a range that spans both in two halves.
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
