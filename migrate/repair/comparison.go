package repair

import (
	"context"
	"fmt"
	"sync"

	"locus/idgen/gene"
	"locus/migrate/checksum"
	"locus/migrate/link"
)

// Comparison repairs rows during a comparison: it makes the other server's rows equal to the owner's. It is
// safe for concurrent use.
type Comparison struct {
	Owner, Other link.Server
	Genes        gene.Set
	// Hold becomes the Hold of each Change.
	Hold func(context.Context, *link.Conn) error
	// Job and By are recorded.
	Job, By string

	mu   sync.Mutex
	pair *Pair
	rows int64
}

// Close closes the connections.
func (c *Comparison) Close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pair != nil {
		c.pair.Close()
	}
}

// Rows returns how many rows were repaired.
func (c *Comparison) Rows() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.rows
}

// Do makes the other server's row equal to the owner's.
func (c *Comparison) Do(ctx context.Context, d checksum.Difference) (checksum.Repaired, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.open(ctx); err != nil {
		return checksum.Stands, err
	}
	o, err := c.pair.Do(ctx, Change{
		Table: d.Table, Key: d.Key, Winner: d.Source.Sum, Loser: d.Target.Sum, Hold: c.Hold, Job: c.Job, Took: "the row of the source", By: c.By,
	})
	if err != nil {
		return checksum.Stands, fmt.Errorf("repair row %s of %s: %w", d.Key.Short(), d.Table.Name, err)
	}
	switch o.Kind {
	case Done:
		c.rows++
		return checksum.Equal, nil
	case Equal:
		return checksum.Equal, nil
	case Changed:
		return checksum.Changed, nil
	case Refused:
	}
	return checksum.Refused, nil
}

func (c *Comparison) open(ctx context.Context) (err error) {
	if c.pair != nil && c.pair.Broken() {
		c.pair.Close()
		c.pair = nil
	}
	if c.pair == nil {
		c.pair, err = Open(ctx, c.Owner, c.Other, c.Genes)
	}
	return err
}
