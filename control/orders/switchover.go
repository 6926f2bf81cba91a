package orders

import (
	"context"
	"log/slog"
	"strconv"

	"locus/control/switchover"
	"locus/router"
)

// switchOver makes another server of a shard its primary, in this process: the answer says
// for how long the shard was held.
func switchOver(ctx context.Context, c *call) (shown, error) {
	shard, to := c.text(0), c.text(1)
	if shard == "" {
		c.wrong(0, "name a shard: SELECT * FROM locus.shards shows them")
	}
	if to == "" {
		c.wrong(1, "name one of its servers, as host:port")
	}
	if c.bad != "" {
		return shown{}, nil
	}
	held, err := switchover.Switchover{
		KV: c.kv, Secrets: c.logIn.Secrets, Shard: router.ShardName(shard), To: to, By: c.by, Log: slog.Default(),
	}.Run(ctx)
	return shown{columns: []string{"shard", "primary", "held_ms"}, row: []string{shard, to, strconv.FormatInt(held.Milliseconds(), 10)}}, err
}
