package proxy

import (
	"context"
	"time"

	"locus/router"
)

// Fence configures how a proxy behaves while genes change hands.
type Fence struct {
	// Hold is the longest time that a statement is paused; default 2 s. Clients' own timeouts should be longer.
	Hold time.Duration
	// Patience is how long transactions in progress on the genes may take to end before they are rolled back; default 1 s.
	Patience time.Duration
	// MaxHeld is the greatest number of statements that are paused at once; default 10,000.
	MaxHeld int
	// Release removes the fence of a version of the map, by compare-and-swap, in case the process that set it can't. Nil: this
	// proxy removes no fences.
	Release func(ctx context.Context, version int64) error
	// ReleasePrimary ends the hold of an epoch of a shard's primary, likewise.
	ReleasePrimary func(ctx context.Context, shard router.ShardName, epoch int64) error
	// Epochs reads the epochs of the shards' primaries from etcd. The read is linearizable. Nil: shards whose primary may change
	// without the proxies, see [cluster.Shard.Leased], are treated like other shards.
	Epochs func(ctx context.Context) (map[router.ShardName]int64, error)
	// Leased returns the ID of the lease by which other processes know that this process is alive, or 0 if it has none; see
	// [fence.Config]. Nil: it always has one.
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

// ReadAsOf reports whether the cluster was read at that revision of etcd or later. If not, it requests a read and doesn't wait for
// it.
func (p *Proxy) ReadAsOf(revision int64) bool {
	if p.live.Seen() >= revision {
		return true
	}
	p.live.Refresh()
	return false
}

// acknowledge waits until nothing that began under an older version of the map is running on fenced genes, and nothing is running
// at a held shard. It then notifies other processes of the version and of the primaries that this proxy obeys.
func (p *Proxy) acknowledge(ctx context.Context, w *state, _ int64) error {
	if err := p.acknowledgePrimaries(ctx, w.declared); err != nil {
		return err
	}
	m := w.snapshot.Map
	if err := p.sessions.waitUntilObeyed(ctx, m.Version(), m.Held(), p.options.Fence.Patience); err != nil {
		return err
	}
	if err := p.waitForOrphans(ctx, m); err != nil {
		return err
	}
	return p.options.Acknowledge(m.Version())
}

// waitForOrphans waits for the shards of the map's held genes. It waits until they have finished with all connections that were
// closed without an answer. The clients of these connections got the error that the effect is unknown. The shard must know the
// effect before the genes change hands.
func (p *Proxy) waitForOrphans(ctx context.Context, m *router.Map) error {
	ticker := time.NewTicker(obeyPause)
	defer ticker.Stop()
	names := m.Shards()
	for _, v := range m.Moves() { // the source of an import may own no genes
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
	// releasePause is the interval between attempts to remove a fence.
	releasePause = time.Second
	releaseTime  = 5 * time.Second
)

// limitFences removes a fence that is in force for longer than statements may be paused. The process that set it has ended or is
// slow. If it is slow, its own compare-and-swap fails afterwards. limitFences returns when ctx ends.
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
	p.options.Log.Warn("a fence has outlasted its deadline and is removed", "map", version)
	try, cancel := context.WithTimeout(ctx, releaseTime)
	defer cancel()
	if err := p.options.Fence.Release(try, version); err != nil {
		p.options.Log.Warn("remove a fence", "map", version, "error", err)
		select {
		case <-time.After(releasePause):
		case <-ctx.Done():
		}
	}
}
