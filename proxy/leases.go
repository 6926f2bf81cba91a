package proxy

import (
	"context"
	"log/slog"
	"time"

	"locus/proxy/backend"
	"locus/router/cluster"
)

// leasePause is between two questions to etcd who the primaries are: several of them fit into a lease.
const leasePause = cluster.PrimaryLease / 5

// keepLeases asks etcd who the primaries are of shards that may get another one without this proxy, and lets their pools
// lend for as long after each question as whoever makes another server the primary waits. It returns when ctx ends.
func (p *Proxy) keepLeases(ctx context.Context) {
	if p.options.Fence.Epochs == nil {
		return
	}
	var away error
	look := time.NewTicker(leasePause)
	defer look.Stop()
	for ctx.Err() == nil {
		changed := p.live.Changed()
		err := p.renewLeases(ctx)
		if (err == nil) != (away == nil) && ctx.Err() == nil {
			p.options.Log.Warn("who the primaries are", slog.Bool("known", err == nil), slog.Any("error", err))
		}
		away = err
		select {
		case <-ctx.Done():
		case <-look.C:
		case <-changed:
		}
	}
}

// renewLeases leases the pools that go to the primaries of now.
func (p *Proxy) renewLeases(ctx context.Context) error {
	var leased []*backend.Pool
	for _, r := range []*backend.Registry{p.pools, p.builder.recovery} {
		if r == nil {
			continue
		}
		for _, pool := range r.Pools() {
			if pool.Epoch() > 0 {
				leased = append(leased, pool)
			}
		}
	}
	if len(leased) == 0 {
		return nil
	}
	asked := time.Now()
	ctx, cancel := context.WithTimeout(ctx, cluster.PrimaryLease/2) // so that another question fits into a lease
	defer cancel()
	epochs, err := p.options.Fence.Epochs(ctx)
	if err != nil {
		return err
	}
	for _, pool := range leased {
		if !pool.Lease(epochs[pool.Shard()], asked.Add(cluster.PrimaryLease)) {
			p.live.Refresh()
		}
	}
	return nil
}
