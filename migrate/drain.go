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

// drain brings all shards to one moment of an import's source, before its streams end for good. A row that somebody who goes past
// the proxies has given another owner is deleted by one leg's stream and inserted by another one's: if one of them ended behind
// the other, it would be there twice, or not at all. Outside of the cluster nobody writes to the tables meanwhile; what is
// written there afterwards stays there.
type drain struct {
	legs    legs
	outside bool
	within  time.Duration // of the lock
}

// drainTime bounds how long the streams take to come close to the source's end. An action that took longer is begun again.
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

// catchUp waits until every leg has what the source has logged by now.
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

// lockForReading has whoever writes to the tables wait, until the connection is closed.
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
