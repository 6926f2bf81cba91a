package migrate

import (
	"context"
	"fmt"

	"locus/migrate/checkpoint"
	"locus/migrate/link"
)

// copied returns an error if the target lacks copied rows, because another server has become its shard's
// primary, or the server was restored to an earlier state. Each chunk was written in one transaction with the
// progress of its lane, so the lanes show it.
func (s *streams) copied(ctx context.Context) error {
	at := s.shards.target
	c, err := link.Dial(ctx, at)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := checkpoint.Create(ctx, c); err != nil {
		return err
	}
	lanes, err := checkpoint.Lanes(ctx, c, s.job, checkpoint.Copy)
	if err != nil {
		return err
	}
	for _, t := range s.shards.tables {
		for _, lane := range t.Lanes(s.shards.parts) {
			if !lanes[lane.Name()].Done {
				return &lostError{what: fmt.Sprintf("%s lacks rows of table %s that were copied to its shard", at.Addr, t.Name)}
			}
		}
	}
	return nil
}
