package migrate

import (
	"context"
	"fmt"

	"locus/migrate/checkpoint"
	"locus/migrate/link"
)

// copied tells whether the target has all rows that were copied: another server may have become its shard's primary since, or it was
// set back. Each chunk was written together with how far its lane is.
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
