package ops

import (
	"context"
	"log/slog"
	"time"

	"locus/control/switchover"
	"locus/router"
)

// Switchover requests that another server of a shard becomes its primary, while clients go on.
type Switchover struct {
	Shard router.ShardName `json:"shard"`
	To    string           `json:"server"` // as host:port
}

// Switchover makes another server of a shard its primary, in this process. It returns for how long the statements of the shard were
// paused.
func (o *Ops) Switchover(ctx context.Context, r Switchover, by string, log *slog.Logger) (time.Duration, error) {
	switch {
	case r.Shard == "":
		return 0, invalid("no shard is named; locus shard list lists the shards")
	case r.To == "":
		return 0, invalid("no server is named; name one of the shard's servers, as host:port")
	}
	return switchover.Switchover{KV: o.kv, Secrets: o.secrets, Shard: r.Shard, To: r.To, By: by, Log: log}.Run(ctx)
}
