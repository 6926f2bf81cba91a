// Package idgen generates order IDs: 64-bit (or 128-bit) primary keys. The top of an ID is its owner's gene, so that a
// row can be routed by its ID alone. The bottom is a sequence number, so that no two IDs are equal.
//
// It owns the contract of a source of sequence numbers and the Issuer that turns these into IDs. It never parses SQL,
// never talks to a database and never decides which shard a gene is on. Any Go program can import it without the proxy.
// Related packages:
//
//   - orderid: the bits of an ID, in every layout
//   - cipher: the order number, an ID with its sequence hidden
//   - segment: sequence numbers from memory, in runs granted by a shared store
//
// If processes or stores fail, a sequence number may be lost but is never issued twice.
package idgen

import (
	"context"
	"errors"
	"fmt"

	"locus/idgen/gene"
	"locus/idgen/orderid"
)

// Sequences hands out runs of consecutive sequence numbers of a gene. It is safe for concurrent use.
type Sequences interface {
	// Take returns the first of n consecutive numbers that no other call for this gene gets, in this process or
	// another. n is at least 1. Numbers start at 1. Of two successive calls in a process, the later one gets
	// higher numbers. After an error the caller has no number. The error for an exhausted gene is
	// orderid.ErrSequenceExhausted.
	Take(ctx context.Context, g gene.Gene, n int) (first uint64, err error)
}

// Issuer generates order IDs of one layout, under one key version. It is immutable and safe for concurrent use. A
// rotated key requires a new Issuer.
type Issuer struct {
	layout    orderid.Layout
	version   uint32
	sequences Sequences
}

// NewIssuer returns an issuer of IDs with a key version: the current one of the cluster's key ring, or 0 if order
// numbers aren't hidden.
func NewIssuer(l orderid.Layout, version uint32, s Sequences) (*Issuer, error) {
	if l.IsZero() {
		return nil, errors.New("make issuer: no layout: take one from orderid.ByName")
	}
	if _, err := l.Compose(0, version, orderid.Seq(1)); err != nil {
		return nil, fmt.Errorf("make issuer: %w", err)
	}
	return &Issuer{l, version, s}, nil
}

// Layout returns the layout of the IDs.
func (i *Issuer) Layout() orderid.Layout { return i.layout }

// Issue generates n IDs of the gene with consecutive sequence numbers: first, first.Plus(1) … first.Plus(n-1). So
// drivers that count up from LAST_INSERT_ID() are right. After an error no ID was issued. It allocates nothing itself.
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
