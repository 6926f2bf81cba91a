package main

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/go-mysql-org/go-mysql/client"
)

const (
	rowsPerInsert = 1000
	rowsPerDelete = 20_000
	bigRows       = 190_000 // about 20 MB as a result
	clearPatience = 10 * time.Minute
)

// prepareServers sets the servers' durability and puts the readers' and writers' orders where their genes belong.
func (s *stand) prepareServers(ctx context.Context) error {
	for _, shard := range s.shards {
		s.relax(ctx, shard)
		if err := s.onShard(ctx, shard, clearOrders); err != nil {
			return err
		}
	}
	if s.options.ready != "" { // an own demo is removed as a whole
		s.undo = append(s.undo, s.clearAll)
	}
	if err := s.seed(ctx, s.shards[0], append(seeds(s.cast.readers), seeds(s.cast.writers)...)); err != nil {
		return err
	}
	return s.seed(ctx, s.shards[len(s.shards)-1], seeds(s.cast.others))
}

// onShard calls f with a connection to a shard.
func (s *stand) onShard(ctx context.Context, shard readyShard, f func(context.Context, *client.Conn) error) error {
	c, err := login(ctx, shard.endpoint(), false)
	if err == nil {
		err = f(ctx, c)
		_ = c.Quit()
	}
	if err != nil {
		return fmt.Errorf("shard %s: %w", shard.Name, err)
	}
	return nil
}

// seedRow is an order that exists before anything is measured.
type seedRow struct{ buyer, order int64 }

func seeds(owners []owner) []seedRow {
	var rows []seedRow
	for _, o := range owners {
		rows = append(rows, seedRow{o.uid, o.order})
	}
	return rows
}

// seedBig inserts the orders of the big buyer, once.
func (s *stand) seedBig(ctx context.Context) error {
	if s.hasBig {
		return nil
	}
	b := s.cast.bigBuyer
	rows := make([]seedRow, bigRows)
	for i := range rows {
		rows[i] = seedRow{b.uid, b.orderID(bigSequences + int64(i))}
	}
	s.hasBig = true
	return s.seed(ctx, s.shards[0], rows)
}

func (s *stand) seed(ctx context.Context, shard readyShard, rows []seedRow) error {
	return s.onShard(ctx, shard, func(ctx context.Context, c *client.Conn) error {
		for len(rows) > 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			n := min(rowsPerInsert, len(rows))
			if _, err := c.Execute(insertOf(rows[:n])); err != nil {
				return fmt.Errorf("insert rows to measure with: %w", err)
			}
			rows = rows[n:]
		}
		if _, err := c.Execute("ANALYZE TABLE test_order"); err != nil {
			return fmt.Errorf("analyze: %w", err)
		}
		return nil
	})
}

func insertOf(rows []seedRow) string {
	b := []byte("INSERT INTO test_order (order_id, order_no, buyer_uid, version, amount, status, created_at) VALUES ")
	for i, r := range rows {
		if i > 0 {
			b = append(b, ", "...)
		}
		b = strconv.AppendInt(append(b, '('), r.order, 10)
		b = strconv.AppendInt(append(b, ", "...), orderNumber(r.order), 10)
		b = strconv.AppendInt(append(b, ", "...), r.buyer, 10)
		b = append(b, ", 1, 19.99, 'paid-and-shipped', '2026-01-02 03:04:05.678')"...)
	}
	return string(b)
}

// clearOrders deletes the orders of this run and of earlier ones, in transactions of limited size.
func clearOrders(ctx context.Context, c *client.Conn) error {
	for {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		r, err := c.Execute(fmt.Sprintf("DELETE FROM test_order WHERE buyer_uid BETWEEN %d AND %d LIMIT %d",
			firstBuyer, lastBuyer, rowsPerDelete))
		if err != nil {
			return fmt.Errorf("clear rows of an earlier run: %w", err)
		}
		if r.AffectedRows < rowsPerDelete {
			return nil
		}
	}
}

// clearAll takes a while after a long run. A second Ctrl-C leaves the rows to the next run.
func (s *stand) clearAll() {
	fmt.Fprintln(s.out, "removing what was inserted")
	ctx, cancel := context.WithTimeout(context.Background(), clearPatience)
	defer cancel()
	for _, shard := range s.shards {
		if err := s.onShard(ctx, shard, clearOrders); err != nil {
			fmt.Fprintln(s.out, "left behind, for the next run to remove:", err)
		}
	}
}
