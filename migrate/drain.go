package migrate

import (
	"context"
	"fmt"
	"strings"
	"time"

	"locus/migrate/changes"
	"locus/migrate/link"
	"locus/migrate/table"
)

// drain brings all shards to one position of an import's source before its streams end for good. Suppose a
// client that bypasses the proxies changes a row's owner. Then one leg's stream deletes the row and another
// leg's stream inserts it. If the streams ended at different positions, the row would exist twice or not at
// all. A server outside of the cluster locks the tables meanwhile. Rows written there afterwards stay there.
type drain struct {
	legs    legs
	outside bool
	within  time.Duration // time limit for the lock
}

// drainTime bounds the time in which the streams get close to the end of the source's log. If they take longer,
// the action starts again.
const drainTime = time.Minute

func (d drain) do(ctx context.Context) error {
	defer d.legs.stop()
	for _, l := range d.legs {
		if err := l.streams.ensureForward(ctx); err != nil {
			return err
		}
	}
	source := d.legs[0].shards.source
	c, err := link.Dial(ctx, source)
	if err != nil {
		return err
	}
	defer c.Close()
	if err := d.catchUp(ctx, c, drainTime); err != nil || !d.outside {
		return err
	}
	if err := lockForReading(ctx, c, d.legs[0].shards.tables); err != nil {
		return fmt.Errorf("lock the tables at %s: %w", source.Addr, err)
	}
	return d.catchUp(ctx, c, d.within)
}

// catchUp waits until every leg has applied everything that the source has logged so far.
func (d drain) catchUp(ctx context.Context, c *link.Conn, within time.Duration) error {
	ctx, cancel := context.WithTimeout(ctx, within)
	defer cancel()
	now, err := changes.Current(ctx, c)
	if err != nil {
		return err
	}
	return d.legs.each(ctx, func(ctx context.Context, l *leg) error {
		if err := l.streams.forward.WaitApplied(ctx, now); err != nil {
			return fmt.Errorf("wait until %s has what %s had at %s: %w", l.to, l.shards.source.Addr, now, err)
		}
		return nil
	})
}

// lockForReading blocks writers of the tables until the connection is closed.
func lockForReading(ctx context.Context, c *link.Conn, tables []*table.Table) error {
	locks := make([]string, len(tables))
	for i, t := range tables {
		locks[i] = t.SQL() + " READ"
	}
	if _, err := c.Exec(ctx, "SET SESSION lock_wait_timeout = 1"); err != nil {
		return err
	}
	_, err := c.Exec(ctx, "LOCK TABLES "+strings.Join(locks, ", "))
	return err
}
