package idgen

import (
	"context"
	"errors"
	"fmt"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Widening issues IDs of 8 bytes until their sequence is exhausted, and then IDs of 16 bytes, for a VARBINARY(16)
// column that holds both. It is safe for concurrent use.
type Widening struct{ narrow, wide *Issuer }

// NewWidening returns an issuer that continues with wide once narrow is exhausted. Each has its own sequences. An ID's
// length distinguishes them.
func NewWidening(narrow, wide *Issuer) (*Widening, error) {
	if narrow.layout.Bytes() != 8 || wide.layout.Bytes() != 16 {
		return nil, fmt.Errorf("widen %s to %s: the first has 8 bytes and the second 16", narrow.layout, wide.layout)
	}
	return &Widening{narrow, wide}, nil
}

// Issue generates n IDs with consecutive sequence numbers and returns their layout. The gene has the width of the wide
// layout. The narrow layout's gene is its low bits.
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
