package twophase

import (
	"context"
	"slices"
	"strings"

	"locus/router"
)

// forgetDone removes this process's decisions whose branches are all committed. Decisions that can't be removed now are
// removed once they are old.
func (c *Coordinator) forgetDone(ctx context.Context) {
	c.mu.Lock()
	done := c.done
	c.done, c.waiting = map[router.ShardName][]string{}, 0
	c.mu.Unlock()
	for home, transactions := range done {
		for batch := range slices.Chunk(transactions, mostListed) {
			if _, err := c.exec(ctx, home, forget(batch)); err != nil {
				c.log.Warn("decisions are not removed yet", "shard", string(home), "count", len(transactions), "error", err)
				break
			}
		}
	}
}

// forgetOld removes decisions that are no longer needed. They were old at the last scan, and neither then nor now did
// any of their shards have a branch. No branch can be prepared meanwhile, because all were prepared before the
// decision. Rows that forbid a decision are removed once they are so old that it could no longer be inserted.
func (c *Coordinator) forgetOld(ctx context.Context, found findings) {
	gone := map[router.ShardName][]string{}
	for n, shards := range c.old {
		if found.free(n.Transaction, shards) {
			gone[n.Home] = append(gone[n.Home], n.Transaction)
		}
	}
	clear(c.old)
	for home := range found.listed {
		if transactions := gone[home]; len(transactions) > 0 {
			if _, err := c.exec(ctx, home, forget(transactions)); err != nil {
				continue
			}
			c.log.Info("old decisions removed", "shard", string(home), "count", len(transactions))
		}
		rows, err := c.query(ctx, home, list(c.names.cluster, c.kept))
		if err != nil {
			continue
		}
		c.keepOld(home, rows, found)
	}
}

func (c *Coordinator) keepOld(home router.ShardName, rows [][][]byte, found findings) {
	for _, row := range rows {
		var shards []router.ShardName
		if string(row[1]) == "1" {
			for _, name := range strings.Split(string(row[2]), ",") {
				shards = append(shards, router.ShardName(name))
			}
		}
		if n := (Name{string(row[0]), home}); found.free(n.Transaction, shards) {
			c.old[n] = shards
		}
	}
}
