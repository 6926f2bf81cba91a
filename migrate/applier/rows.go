package applier

import (
	"context"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/migrate/table"
)

// Rows reads and writes single rows as the workers do, within transactions of its caller's. One
// goroutine uses it.
type Rows struct{ worker worker }

// NewRows is for rows of some genes, over a connection of its caller's.
func NewRows(ctx context.Context, c *link.Conn, genes gene.Set) (*Rows, error) {
	packet, err := maxPacket(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Rows{worker{conn: c, applier: &Applier{genes: genes, packet: packet}}}, nil
}

// Of has rows of other genes left alone from now on.
func (r *Rows) Of(genes gene.Set) { r.worker.applier.genes = genes }

// Lock reads the row of a key, nil for none, and locks it. Keys are told apart by their bytes,
// whatever their collation.
func (r *Rows) Lock(ctx context.Context, t *table.Table, k table.Key) (row table.Row, err error) {
	wanted := string(k.Encode())
	err = r.worker.standingRows(ctx, t, []table.Key{k}, func(id string, found table.Row) {
		if id == wanted {
			row = found
		}
	})
	return row, err
}

// Insert writes a row of whose key there is none. Where another one has the key by its collation, it is refused.
func (r *Rows) Insert(ctx context.Context, t *table.Table, row table.Row) error {
	return r.worker.insert(ctx, t, []table.Row{row}, "")
}

// Replace has the row of a key be another one, or none where that is nil.
func (r *Rows) Replace(ctx context.Context, t *table.Table, k table.Key, row table.Row) error {
	b := batchWriter{worker: &r.worker}
	return b.table(ctx, t, []*outcome{{table: t, key: k, id: string(k.Encode()), final: row, written: true}}, quick)
}

// Send runs a statement that may be long, if the server takes it.
func (r *Rows) Send(ctx context.Context, s link.Statement) error { return r.worker.send1(ctx, s) }
