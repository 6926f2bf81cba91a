package applier

import (
	"context"

	"locus/idgen/gene"
	"locus/migrate/link"
	"locus/migrate/table"
)

// Rows reads and writes single rows as the workers do, within the caller's transactions. It is for one goroutine.
type Rows struct{ worker worker }

// NewRows returns a Rows for some genes, over the caller's connection.
func NewRows(ctx context.Context, c *link.Conn, genes gene.Set) (*Rows, error) {
	packet, err := maxPacket(ctx, c)
	if err != nil {
		return nil, err
	}
	return &Rows{worker{conn: c, applier: &Applier{genes: genes, packet: packet}}}, nil
}

// Of makes Rows ignore rows of other genes from now on.
func (r *Rows) Of(genes gene.Set) { r.worker.applier.genes = genes }

// Lock reads and locks the row with a key, or returns nil if there is none. Keys are compared by their bytes,
// regardless of collation.
func (r *Rows) Lock(ctx context.Context, t *table.Table, k table.Key) (row table.Row, err error) {
	wanted := string(k.Encode())
	err = r.worker.standingRows(ctx, t, []table.Key{k}, func(id string, found table.Row) {
		if id == wanted {
			row = found
		}
	})
	return row, err
}

// Insert writes a row whose key doesn't exist. It fails if another row has an equal key by collation.
func (r *Rows) Insert(ctx context.Context, t *table.Table, row table.Row) error {
	return r.worker.insert(ctx, t, []table.Row{row}, "")
}

// Replace replaces the row with a key by row, or deletes it if row is nil.
func (r *Rows) Replace(ctx context.Context, t *table.Table, k table.Key, row table.Row) error {
	b := batchWriter{worker: &r.worker}
	return b.table(ctx, t, []*outcome{{table: t, key: k, id: string(k.Encode()), final: row, written: true}}, quick)
}

// Send runs a possibly long statement if the server accepts its length.
func (r *Rows) Send(ctx context.Context, s link.Statement) error { return r.worker.send1(ctx, s) }
