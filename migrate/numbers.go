package migrate

import (
	"context"
	"fmt"
	"regexp"
	"strconv"

	"locus/migrate/link"
	"locus/migrate/table"
)

// nextNumber matches the next AUTO_INCREMENT value in the output of SHOW CREATE TABLE.
var nextNumber = regexp.MustCompile(` AUTO_INCREMENT=(\d+)`)

// number raises the cluster's counters of tables that become sharded above the numbers that their server has
// given. It runs when no client writes there any more.
func (h *handover) number(ctx context.Context) error {
	if !h.forward || h.read.Job.Import == nil {
		return nil
	}
	p := h.passes[0]
	for _, t := range p.leg.shards.tables {
		at := t.Declared.Numbered()
		if at < 0 || !t.Columns[at].IsInteger() {
			continue
		}
		highest, err := numbered(ctx, p.atOld, t, at)
		if err == nil && highest > 0 {
			err = h.runner.Store.Number(ctx, t.Name, highest)
		}
		if err != nil {
			return fmt.Errorf("number table %s above the rows that it has: %w", t.Name, err)
		}
	}
	return nil
}

// numbered returns the highest number that a table has, or has had as far as its server knows.
func numbered(ctx context.Context, c *link.Conn, t *table.Table, at int) (uint64, error) {
	rows, err := c.Query(ctx, "SELECT GREATEST(0, COALESCE(MAX("+link.Name(t.Columns[at].Name)+"), 0)) FROM "+t.SQL())
	if err != nil {
		return 0, err
	}
	most, err := strconv.ParseUint(string(rows[0][0]), 10, 64)
	if err != nil {
		return 0, err
	}
	text, err := created(ctx, c, t.Name)
	if next := nextNumber.FindStringSubmatch(text); err == nil && next != nil {
		var after uint64
		if after, err = strconv.ParseUint(next[1], 10, 64); after > 0 {
			most = max(most, after-1)
		}
	}
	return most, err
}
