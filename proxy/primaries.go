package proxy

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"locus/proxy/backend"
	"locus/proxy/session"
	"locus/router"
	"locus/router/cluster"
)

// acknowledgePrimaries waits until nothing is running at the shards that are held, and notifies other processes of the epochs.
func (p *Proxy) acknowledgePrimaries(ctx context.Context, declared *cluster.Cluster) error {
	for name, primary := range declared.Primaries {
		if !primary.Held {
			continue
		}
		for _, pool := range p.poolsOf(name) {
			if err := p.waitUntilEmpty(ctx, pool); err != nil {
				return err
			}
		}
	}
	if p.options.AcknowledgePrimaries != nil {
		p.options.AcknowledgePrimaries(declared.Epochs())
	}
	return nil
}

// poolsOf returns all pools of connections to a shard's primary.
func (p *Proxy) poolsOf(name router.ShardName) (list []*backend.Pool) {
	for _, r := range []*backend.Registry{p.pools, p.builder.recovery} {
		if r == nil {
			continue
		}
		if pool, there := r.Pool(name); there {
			list = append(list, pool)
		}
	}
	return list
}

// preempts is how often sessions are asked to give back the connections to a held shard before the connections are cut off. A
// rollback doesn't free a connection with state of its own, such as temporary tables, and this state can't be moved to another
// server.
const preempts = 3

var errTurning = errors.New("another server of the shard is made its primary, and what the session had on the connection can't go there")

// waitUntilEmpty waits until nothing is running at a pool's server. After [Fence.Patience] it makes sessions roll back, and after
// [preempts] attempts it cuts off the connections.
func (p *Proxy) waitUntilEmpty(ctx context.Context, pool *backend.Pool) error {
	ticker := time.NewTicker(obeyPause)
	defer ticker.Stop()
	late := time.NewTimer(p.options.Fence.Patience)
	defer late.Stop()
	for attempts := 0; !pool.Emptied(); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-late.C:
			if attempts++; attempts > preempts {
				pool.CutOff(errTurning)
			} else {
				p.sessions.preempt(ctx, func(s *session.Session) bool { return s.PreemptAt(pool) })
			}
			late.Reset(preemptPause)
		}
	}
	return nil
}

// limitHolds ends a hold that is in force for longer than statements may be paused, like [Proxy.limitFences]. It returns when ctx
// ends.
func (p *Proxy) limitHolds(ctx context.Context) {
	if p.options.Fence.ReleasePrimary == nil {
		return
	}
	since := map[router.ShardName]held{}
	ticker := time.NewTicker(p.options.Fence.Hold / holdChecks)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-ticker.C:
			p.limitHeld(ctx, p.live.Load().declared, since, now)
		}
	}
}

// holdChecks is the number of checks within the longest duration of a hold.
const holdChecks = 8

// held is the epoch of a hold, and the time when it was first seen.
type held struct {
	epoch int64
	since time.Time
}

func (p *Proxy) limitHeld(ctx context.Context, declared *cluster.Cluster, since map[router.ShardName]held, now time.Time) {
	for name, primary := range declared.Primaries {
		was, seen := since[name]
		switch {
		case !primary.Held:
			delete(since, name)
		case !seen || was.epoch != primary.Epoch:
			since[name] = held{primary.Epoch, now}
		case now.Sub(was.since) >= p.longestHold(primary):
			p.releasePrimary(ctx, name, primary.Epoch)
			since[name] = held{primary.Epoch, now} // the next attempt comes after the same time
		}
	}
}

// longestHold returns how long a hold of a shard may last. If the former primary was lost, the hold also waits for the leases of
// proxies that can't be reached.
func (p *Proxy) longestHold(primary cluster.Primary) time.Duration {
	if primary.Cause != cluster.Ordered {
		return p.options.Fence.Hold + cluster.PrimaryLease + cluster.PrimaryLeaseMargin
	}
	return p.options.Fence.Hold
}

func (p *Proxy) releasePrimary(ctx context.Context, shard router.ShardName, epoch int64) {
	log := p.options.Log.With(slog.String("shard", string(shard)), slog.Int64("epoch", epoch))
	log.Warn("a switchover has outlasted its deadline; statements continue on the primary")
	try, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	if err := p.options.Fence.ReleasePrimary(try, shard, epoch); err != nil {
		log.Warn("remove the pause of a switchover", slog.Any("error", err))
	}
}
