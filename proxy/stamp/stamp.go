package stamp

import (
	"context"

	"locus/idgen/cipher"
	"locus/idgen/gene"
	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
	"locus/router/plan"
	"locus/router/stmt"
)

// IDs generates IDs. After an error none was issued.
type IDs interface {
	// Issue generates n consecutive IDs for a gene, in one of the table's layouts. n is at least 1. The gene has the
	// width of the table's widest layout. Issue returns the layout and the first ID.
	Issue(ctx context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error)
}

// Ring returns the current keys, or nil if there are none. A later ring can read everything that an earlier one can.
type Ring func() *cipher.Ring

// Result is a stamped statement. It is valid until the next statement is stamped.
type Result struct {
	// Shards holds each shard's part of the rows, by ascending index. If rows are inserted one by one, it holds each row, in their order.
	Shards []ShardText
	// Genes are the rows' genes in row order, in the map's width.
	Genes []gene.Gene
	// FirstID is the first generated ID in row order, for LAST_INSERT_ID(). HasID reports whether there is one.
	FirstID orderid.ID
	Layout  orderid.Layout // layout of FirstID
	HasID   bool
	// CountFrom is the ID in the OK packet, from which drivers count up to the IDs of further rows. It is the first ID,
	// or 0 if counting would give wrong IDs.
	CountFrom uint64
	// Generated is the number of IDs issued.
	Generated int
}

// ShardText is the statement for one shard.
type ShardText struct {
	Shard int // index into the map's shards
	Text  []byte
	// Params are all placeholders of the text in order. It is nil for text statements.
	Params []Param
	Rows   int
}

// Param is the value of a placeholder.
type Param struct {
	// Bound is the ordinal of the client's placeholder, or -1 if Value was generated.
	Bound int
	Value stmt.Value // an Int, Uint or Bytes
}

// StampText stamps a statement whose values are in its text. Its errors are a *plan.Refusal, after which no ID was
// issued, or the issuer's.
func (s *Stamper) StampText(ctx context.Context, p *plan.Stamped, v *plan.Values, m *router.Map, ids IDs, ring Ring) (*Result, error) {
	return s.stamp(ctx, p, v, m, ids, ring, literals)
}

// StampPrepared stamps an execution of a prepared statement. Generated values become placeholders, so that the text is
// the same for every execution.
func (s *Stamper) StampPrepared(ctx context.Context, p *plan.Stamped, v *plan.Values, m *router.Map, ids IDs, ring Ring) (*Result, error) {
	return s.stamp(ctx, p, v, m, ids, ring, placeholders)
}
