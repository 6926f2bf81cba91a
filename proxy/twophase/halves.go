package twophase

import (
	"context"
	"fmt"

	"locus/router"
)

// Halves lists the transactions that are committed on one of the shards but only prepared on another. The result is stable while every
// shard is locked against commits. Without such a lock it is meaningless.
func (c *Coordinator) Halves(ctx context.Context, shards []router.ShardName) ([]Name, error) {
	var halves []Name
	for _, shard := range shards {
		branches, err := c.list(ctx, shard)
		if err != nil {
			return nil, fmt.Errorf("ask shard %s for prepared transactions: %w", shard, err)
		}
		for _, b := range branches {
			rows, err := c.query(ctx, b.Home, look(b.Transaction))
			if err != nil {
				return nil, fmt.Errorf("ask shard %s for a decision: %w", b.Home, err)
			}
			if len(rows) == 1 && string(rows[0][0]) == "1" {
				halves = append(halves, b.Name)
			}
		}
	}
	return halves, nil
}
