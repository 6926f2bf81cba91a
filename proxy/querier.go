package proxy

import (
	"context"

	"locus/proxy/backend"
)

// querier asks a shard through its pool.
type querier struct{ pool *backend.Pool }

// Query implements schema.Querier.
func (q *querier) Query(ctx context.Context, sql string) ([][][]byte, error) {
	c, err := q.pool.Borrow(ctx, backend.Default, 0)
	if err != nil {
		return nil, err
	}
	rows, err := c.Query(ctx, sql)
	if err != nil {
		q.pool.Discard(c)
		return nil, err
	}
	q.pool.Return(c)
	return rows.Rows, nil
}
