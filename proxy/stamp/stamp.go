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

// IDs issues IDs. An error means that none was issued.
type IDs interface {
	// Issue makes n consecutive IDs of a layout of the table's, n at least 1, for a
	// gene as wide as the widest of them has it, and gives the layout and the first.
	Issue(ctx context.Context, t *catalog.Table, g gene.Gene, n int) (orderid.Layout, orderid.ID, error)
}

// Ring gives the keys of the moment; nil: there are none. A later ring reads all that
// an earlier one does.
type Ring func() *cipher.Ring

// Result is a stamped statement. It is valid until the next one is stamped.
type Result struct {
	// Shards have each a part of the rows, ascending by index.
	Shards []ShardText
	// Genes are those of the rows, in row order, as wide as the map has them.
	Genes []gene.Gene
	// FirstID is the first generated ID in row order, which LAST_INSERT_ID()
	// tells; HasID says that there is one.
	FirstID orderid.ID
	Layout  orderid.Layout // of FirstID
	HasID   bool
	// CountFrom is what the OK tells, from which drivers count up to the IDs of
	// further rows: the first ID, or 0 where they would come to others.
	CountFrom uint64
	// Generated counts the IDs that were issued.
	Generated int
}

// ShardText is the statement for one shard.
type ShardText struct {
	Shard int // index into the map's shards
	Text  []byte
	// Params are all placeholders of the text, in its order; nil for text
	// statements.
	Params []Param
	Rows   int
}

// Param is the value of a placeholder.
type Param struct {
	// Bound is the ordinal of the client's placeholder, or -1: Value was
	// generated.
	Bound int
	Value stmt.Value // Int, Uint or Bytes
}

// StampText stamps a statement whose values stand in its text. Errors are a
// *plan.Refusal, after which no ID was issued, or the issuer's.
func (s *Stamper) StampText(ctx context.Context, p *plan.Stamped, v *plan.Values, m *router.Map, ids IDs, ring Ring) (*Result, error) {
	return s.stamp(ctx, p, v, m, ids, ring, literals)
}

// StampPrepared stamps an execution of a prepared statement: generated values
// become placeholders, so that the text stays the same from one to the next.
func (s *Stamper) StampPrepared(ctx context.Context, p *plan.Stamped, v *plan.Values, m *router.Map, ids IDs, ring Ring) (*Result, error) {
	return s.stamp(ctx, p, v, m, ids, ring, placeholders)
}
