package ops

import (
	"context"
	"io"
	"log/slog"

	"locus/control/switchover"
	"locus/router"
)

// Rejoin requests that a server of a shard which has transactions that the primary never had follows it again.
type Rejoin struct {
	Shard  router.ShardName
	Server string // as host:port
}

// Rejoining is a server with the transactions that only it has. Nothing is changed yet.
type Rejoining struct {
	switchover.Errant
	order switchover.Switchover
}

// PlanRejoin returns the transactions that only one server has.
func (o *Ops) PlanRejoin(ctx context.Context, r Rejoin, by string) (*Rejoining, error) {
	if err := serverOf(r.Shard, r.Server); err != nil {
		return nil, err
	}
	order := o.switchover(r.Shard, r.Server, by, slog.New(slog.DiscardHandler))
	e, err := order.Errant(ctx)
	return &Rejoining{e, order}, err
}

// Save writes the transactions to a file, in the format of a binary log.
func (r *Rejoining) Save(ctx context.Context, to io.Writer) ([]Saved, error) {
	return r.order.Save(ctx, r.Errant, to)
}

// Rebuild rebuilds the server from the primary. All its data is lost. It returns switchover.ErrEnded if the server must be started.
func (r *Rejoining) Rebuild(ctx context.Context) error { return r.order.Rebuild(ctx, r.Errant) }
