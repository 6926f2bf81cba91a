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

// TakePrimary requests that a server becomes the primary of a shard, or stays it, whatever state the other servers are in.
type TakePrimary struct {
	Shard  router.ShardName `json:"shard"`
	Server string           `json:"server"` // as host:port
	// GiveUp accepts that the transactions are lost which the server lacks.
	GiveUp bool `json:"give_up,omitempty"`
}

// WithoutReplicas requests that the primary of a shard goes on without replicas, until they follow it again.
type WithoutReplicas struct {
	Shard router.ShardName `json:"shard"`
}

// Switchover makes another server of a shard its primary, in this process. It returns for how long the statements of the shard were
// paused.
func (o *Ops) Switchover(ctx context.Context, r Switchover, by string, log *slog.Logger) (time.Duration, error) {
	if err := serverOf(r.Shard, r.To); err != nil {
		return 0, err
	}
	return o.switchover(r.Shard, r.To, by, log).Run(ctx)
}

// TakePrimary makes a server the primary of its shard, in this process.
func (o *Ops) TakePrimary(ctx context.Context, r TakePrimary, by string, log *slog.Logger) error {
	if err := serverOf(r.Shard, r.Server); err != nil {
		return err
	}
	return o.switchover(r.Shard, r.Server, by, log).Take(ctx, r.GiveUp)
}

// WithoutReplicas lets the primary of a shard go on without replicas. It returns the address of the primary.
func (o *Ops) WithoutReplicas(ctx context.Context, r WithoutReplicas, by string, log *slog.Logger) (primary string, err error) {
	if r.Shard == "" {
		return "", errNoShard
	}
	return o.switchover(r.Shard, "", by, log).GoOn(ctx)
}

func (o *Ops) switchover(shard router.ShardName, to, by string, log *slog.Logger) switchover.Switchover {
	return switchover.Switchover{KV: o.kv, Secrets: o.secrets, Shard: shard, To: to, By: by, Log: log}
}

var errNoShard = invalid("no shard is named; locus shard list lists the shards")

// serverOf returns an *Invalid unless a shard and a server are named.
func serverOf(shard router.ShardName, server string) error {
	switch {
	case shard == "":
		return errNoShard
	case server == "":
		return invalid("no server is named; name one of the shard's servers, as host:port")
	}
	return nil
}
