package proxy

import (
	"context"
	"log/slog"
	"time"

	"locus/proxy/backend"
	"locus/router/cluster"
)

// leasePause is the interval at which etcd is asked for the primaries. Several of them fit into a lease.
const leasePause = cluster.PrimaryLease / 5

// keepLeases asks etcd for the primaries of shards whose primary may change without this proxy. After each answer it lets the
// shards' pools lend for the duration of the lease, counted from the question. A process that makes another server the primary
// waits as long. keepLeases returns when ctx ends.
func (p *Proxy) keepLeases(ctx context.Context) {
	if p.options.Fence.Epochs == nil {
		return
	}
	var failed error
	ticker := time.NewTicker(leasePause)
	defer ticker.Stop()
	for ctx.Err() == nil {
		changed := p.live.Changed()
		err := p.renewLeases(ctx)
		if (err == nil) != (failed == nil) && ctx.Err() == nil {
			p.options.Log.Warn("reading the primaries from etcd", slog.Bool("known", err == nil), slog.Any("error", err))
		}
		failed = err
		select {
		case <-ctx.Done():
		case <-ticker.C:
		case <-changed:
		}
	}
}

// renewLeases extends the leases of the pools that go to the current primaries.
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
	ctx, cancel := context.WithTimeout(ctx, cluster.PrimaryLease/2) // short enough that another attempt fits into a lease
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
