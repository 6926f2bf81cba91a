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

// obeyPrimaries waits until nothing goes on at the shards that are held, and tells so.
func (p *Proxy) obeyPrimaries(ctx context.Context, declared *cluster.Cluster) error {
	for name, primary := range declared.Primaries {
		if !primary.Held {
			continue
		}
		for _, pool := range p.poolsOf(name) {
			if err := p.empty(ctx, pool); err != nil {
				return err
			}
		}
	}
	if p.options.AcknowledgePrimaries != nil {
		p.options.AcknowledgePrimaries(declared.Epochs())
	}
	return nil
}

// poolsOf are all that have connections to a shard's primary.
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

// preempts is how often sessions are asked to give a held shard's connections back
// before these are taken away: what a rolled back transaction doesn't free is state of
// the connection, such as temporary tables, which can't go to another server.
const preempts = 3

var errTurning = errors.New("another server of the shard is made its primary, and what the session had on the connection can't go there")

// empty waits until nothing goes on at a pool's server. What holds it up for longer than
// patience is rolled back, and what that doesn't end is cut off.
func (p *Proxy) empty(ctx context.Context, pool *backend.Pool) error {
	ticker := time.NewTicker(obeyPause)
	defer ticker.Stop()
	late := time.NewTimer(p.options.Fence.Patience)
	defer late.Stop()
	for asked := 0; !pool.Emptied(); {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-ticker.C:
		case <-late.C:
			if asked++; asked > preempts {
				pool.CutOff(errTurning)
			} else {
				p.sessions.preempt(ctx, func(s *session.Session) bool { return s.PreemptAt(pool) })
			}
			late.Reset(preemptPause)
		}
	}
	return nil
}

// limitHolds takes away a hold that is in force for longer than statements are held, as
// limitFences does with fences. It returns when ctx ends.
func (p *Proxy) limitHolds(ctx context.Context) {
	if p.options.Fence.ReleasePrimary == nil {
		return
	}
	since := map[router.ShardName]held{}
	look := time.NewTicker(p.options.Fence.Hold / holdLooks)
	defer look.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case now := <-look.C:
			p.limitHeld(ctx, p.live.Load().declared, since, now)
		}
	}
}

// holdLooks is how many looks there are in the time that a hold may last.
const holdLooks = 8

// held is an epoch that holds a shard, and when it was first seen.
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
		case now.Sub(was.since) >= p.longest(primary):
			p.releasePrimary(ctx, name, primary.Epoch)
			since[name] = held{primary.Epoch, now} // to be tried again as late
		}
	}
}

// longest is how long a hold may last. One that leaves a server which is lost waits for the
// leases of proxies that can't be asked.
func (p *Proxy) longest(primary cluster.Primary) time.Duration {
	if primary.Cause != cluster.Ordered {
		return p.options.Fence.Hold + cluster.PrimaryLease + cluster.PrimaryLeaseMargin
	}
	return p.options.Fence.Hold
}

func (p *Proxy) releasePrimary(ctx context.Context, shard router.ShardName, epoch int64) {
	log := p.options.Log.With(slog.String("shard", string(shard)), slog.Int64("epoch", epoch))
	log.Warn("a switchover outlasts its deadline, going on with the primary")
	try, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	if err := p.options.Fence.ReleasePrimary(try, shard, epoch); err != nil {
		log.Warn("take the hold of a switchover away", slog.Any("error", err))
	}
}
