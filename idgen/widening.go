package idgen

import (
	"context"
	"errors"
	"fmt"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Widening issues IDs of 8 bytes as long as their sequence lasts, and of 16 bytes
// from then on, for a VARBINARY(16) column that holds both. It is safe for
// concurrent use.
type Widening struct{ narrow, wide *Issuer }

// NewWidening goes on with wide when narrow is used up. Both have sequences of
// their own; an ID's length tells them apart.
func NewWidening(narrow, wide *Issuer) (*Widening, error) {
	if narrow.layout.Bytes() != 8 || wide.layout.Bytes() != 16 {
		return nil, fmt.Errorf("widen %s to %s: the first has 8 bytes and the second 16", narrow.layout, wide.layout)
	}
	return &Widening{narrow, wide}, nil
}

// Issue makes n IDs with consecutive sequences, of the layout that it gives. The
// gene is as wide as the wide layout has it: the narrow one's is its low bits.
func (w *Widening) Issue(ctx context.Context, g gene.Gene, n int) (orderid.Layout, orderid.ID, error) {
	if g > w.wide.layout.GeneWidth().Last() {
		return orderid.Layout{}, orderid.ID{}, fmt.Errorf("issue %d IDs: gene %s is beyond the last one of layout %s", n, g, w.wide.layout)
	}
	first, err := w.narrow.Issue(ctx, g&w.narrow.layout.GeneWidth().Last(), n)
	if !errors.Is(err, orderid.ErrSequenceExhausted) {
		return w.narrow.layout, first, err
	}
	first, err = w.wide.Issue(ctx, g, n)
	return w.wide.layout, first, err
}
