// Package idgen makes order IDs: 64-bit (or 128-bit) primary keys that carry
// their owner's gene at the top, so that a row can be routed by its ID alone,
// and a sequence at the bottom, so that no two are equal.
//
// It owns the contract of a source of sequences and the Issuer that turns
// sequences into IDs. It never parses SQL, never talks to a database and never
// decides which shard a gene is on; any Go program can import it without the
// proxy. Beside it:
//
//   - orderid: the bits of an ID, in every layout
//   - cipher: the order number, an ID with its sequence hidden
//   - segment: sequences out of memory, in runs granted by a shared store
//
// Whatever happens to processes and stores, a sequence may be lost and is never
// issued twice.
package idgen

import (
	"context"
	"errors"
	"fmt"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Sequences hands out runs of consecutive sequence numbers of a gene. It is
// safe for concurrent use.
type Sequences interface {
	// Take returns the first of n consecutive numbers, n at least 1, that no
	// other call for this gene got or will get, in this process or another.
	// Numbers start at 1, and of two calls one after the other in the same
	// process the later one gets the higher numbers. An error means that the
	// caller has no number; an exhausted gene is orderid.ErrSequenceExhausted.
	Take(ctx context.Context, g gene.Gene, n int) (first uint64, err error)
}

// Issuer makes order IDs of one layout, under one key version. It is immutable
// and safe for concurrent use; a rotated key is a new Issuer.
type Issuer struct {
	layout    orderid.Layout
	version   uint32
	sequences Sequences
}

// NewIssuer is an issuer of IDs that carry the key version: the current one of
// the cluster's key ring, or 0 if order numbers hide nothing.
func NewIssuer(l orderid.Layout, version uint32, s Sequences) (*Issuer, error) {
	if l.IsZero() {
		return nil, errors.New("make issuer: no layout: take one from orderid.ByName")
	}
	if _, err := l.Compose(0, version, orderid.Seq(1)); err != nil {
		return nil, fmt.Errorf("make issuer: %w", err)
	}
	return &Issuer{l, version, s}, nil
}

// Layout is the layout of the IDs.
func (i *Issuer) Layout() orderid.Layout { return i.layout }

// Issue makes n IDs of the gene with consecutive sequences: first,
// first.Plus(1) … first.Plus(n-1), so that drivers which count up from
// LAST_INSERT_ID() are right. An error means that no ID was issued. It
// allocates nothing itself.
func (i *Issuer) Issue(ctx context.Context, g gene.Gene, n int) (first orderid.ID, err error) {
	if n < 1 {
		return orderid.ID{}, fmt.Errorf("issue %d IDs: at least one is needed", n)
	}
	if g > i.layout.GeneWidth().Last() {
		_, err := i.layout.Compose(g, i.version, orderid.Seq(0))
		return orderid.ID{}, fmt.Errorf("issue %d IDs: %w", n, err)
	}
	sequence, err := i.sequences.Take(ctx, g, n)
	if err != nil {
		return orderid.ID{}, fmt.Errorf("issue %d IDs of gene %s: %w", n, g, err)
	}
	last := sequence + uint64(n-1)
	if sequence == 0 || last < sequence {
		return orderid.ID{}, fmt.Errorf("issue %d IDs of gene %s: the source of sequences broke its contract and gave %d: no ID was issued", n, g, sequence)
	}
	if _, err := i.layout.Compose(g, i.version, orderid.Seq(last)); err != nil {
		return orderid.ID{}, fmt.Errorf("issue %d IDs of gene %s: %w", n, g, err)
	}
	return i.layout.Compose(g, i.version, orderid.Seq(sequence))
}
