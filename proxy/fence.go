package proxy

import (
	"context"
	"time"

	"locus/router"
)

// Fence is how a proxy behaves while genes change hands.
type Fence struct {
	// Hold is how long a statement waits at most; default 2 s. Clients' own
	// time-outs should be longer.
	Hold time.Duration
	// Patience is how long transactions under way on the genes may take to end
	// before they are rolled back; default 1 s.
	Patience time.Duration
	// MaxHeld is how many statements wait at most; default 10,000.
	MaxHeld int
	// Release takes the fence of a version of the map away, by compare-and-swap:
	// for when whoever put it there can't. Nil: nobody does.
	Release func(ctx context.Context, version int64) error
	// ReleasePrimary takes the hold of an epoch of a shard's primary away, likewise.
	ReleasePrimary func(ctx context.Context, shard router.ShardName, epoch int64) error
	// Epochs asks etcd, which answers by what is written when it is asked, for the epochs of
	// the shards' primaries. Nil: shards whose primary may change without the proxies, see
	// [cluster.Shard.Leased], are written to as others are.
	Epochs func(ctx context.Context) (map[router.ShardName]int64, error)
	// Leased is the number of the lease by which the other processes know that this
	// one is alive, or 0: see [fence.Config]. Nil: they always do.
	Leased func() int64
}

func (f Fence) withDefaults() Fence {
	orDefault(&f.Hold, 2*time.Second)
	orDefault(&f.Patience, time.Second)
	orDefault(&f.MaxHeld, 10_000)
	if f.Leased == nil {
		f.Leased = func() int64 { return 1 }
	}
	return f
}

// ReadAsOf tells whether the cluster was read at that revision of etcd or later;
// if not, it soon will be.
func (p *Proxy) ReadAsOf(revision int64) bool {
	if p.live.Seen() >= revision {
		return true
	}
	p.live.Refresh()
	return false
}

// acknowledge tells others which version of the map, and which primaries, this proxy obeys: once nothing that began by an older version
// is under way on fenced genes, or at a shard that is held.
func (p *Proxy) acknowledge(ctx context.Context, w *state, _ int64) error {
	if err := p.obeyPrimaries(ctx, w.declared); err != nil {
		return err
	}
	m := w.snapshot.Map
	if err := p.sessions.obey(ctx, m.Version(), m.Held(), p.options.Fence.Patience); err != nil {
		return err
	}
	if err := p.nothingLeftBehind(ctx, m); err != nil {
		return err
	}
	return p.options.Acknowledge(m.Version())
}

// nothingLeftBehind waits until nothing goes on any more, at the shards that the
// map's held genes belong to, on connections that were closed without an answer:
// their clients were told that the effect is unknown, but what it is must be known
// to the shard before the genes change hands.
func (p *Proxy) nothingLeftBehind(ctx context.Context, m *router.Map) error {
	ticker := time.NewTicker(obeyPause)
	defer ticker.Stop()
	names := m.Shards()
	for _, v := range m.Moves() { // the source of an import may own none
		names = append(names, v.From)
	}
	for _, name := range names {
		pool, there := p.pools.Pool(name)
		if !there || m.HeldOf(name).Empty() {
			continue
		}
		for newest := pool.Orphaned(); !pool.Ended(newest); {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-ticker.C:
			}
		}
	}
	return nil
}

const (
	// releasePause is between tries to take a fence away.
	releasePause = time.Second
	releaseTime  = 5 * time.Second
)

// limitFences takes away a fence that is in force for longer than statements are
// held: whoever put it there is gone, or slow, and its compare-and-swap will fail
// then. It returns when ctx ends.
func (p *Proxy) limitFences(ctx context.Context) {
	if p.options.Fence.Release == nil {
		return
	}
	for ctx.Err() == nil {
		changed := p.live.Changed()
		m := p.live.Load().snapshot.Map
		wait := time.NewTimer(p.options.Fence.Hold)
		fenced := wait.C
		if m.Held().Empty() {
			fenced = nil
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-fenced:
			p.release(ctx, m.Version())
		}
		wait.Stop()
	}
}

func (p *Proxy) release(ctx context.Context, version int64) {
	p.options.Log.Warn("a fence outlasts its deadline, taking it away", "map", version)
	try, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	if err := p.options.Fence.Release(try, version); err != nil {
		p.options.Log.Warn("take a fence away", "map", version, "error", err)
		select {
		case <-time.After(releasePause):
		case <-ctx.Done():
		}
	}
}
