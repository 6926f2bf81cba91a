package backend

import (
	"context"
	"errors"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"locus/router"
)

// sweepEvery is how often idle connections are looked after.
const sweepEvery = time.Second

// Registry finds a shard's pool. All methods may be called concurrently.
type Registry struct {
	limits Limits
	log    *slog.Logger
	dial   dialFunc
	pools  atomic.Pointer[map[router.ShardName]*Pool] // replaced, never edited

	replicas atomic.Pointer[map[router.ShardName]*replicas] // likewise
	orphaned chan struct{}                                  // a pool has a connection that its server may go on with

	mu      sync.Mutex // held for the whole of Apply and Close
	retired []*Pool    // removed, perhaps with connections that are still borrowed
}

// NewRegistry makes a registry without shards; limits are those of each pool.
func NewRegistry(limits Limits, log *slog.Logger) *Registry {
	r := &Registry{limits: limits, log: log, dial: login, orphaned: make(chan struct{}, 1)}
	r.pools.Store(&map[router.ShardName]*Pool{})
	r.replicas.Store(&map[router.ShardName]*replicas{})
	return r
}

// Pool gives a shard's pool, without a lock.
func (r *Registry) Pool(name router.ShardName) (*Pool, bool) {
	p, ok := (*r.pools.Load())[name]
	return p, ok
}

// Pools gives all pools, sorted by shard name as text.
func (r *Registry) Pools() []*Pool {
	return slices.SortedFunc(maps.Values(*r.pools.Load()), func(a, b *Pool) int {
		return strings.Compare(string(a.shard), string(b.shard))
	})
}

// Versions lists what the servers of all shards, replicas too, called themselves
// when they were last logged in to. A server that comes back as another version is
// known as that before it gets a statement.
func (r *Registry) Versions() (list []string) {
	add := func(p *Pool) {
		if v := p.version.Load(); v != nil && !slices.Contains(list, *v) {
			list = append(list, *v)
		}
	}
	for _, p := range *r.pools.Load() {
		add(p)
	}
	r.eachReplica(func(c *replica) { add(c.pool) })
	return list
}

// Apply makes targets, one per shard, the whole of the registry: new shards get a pool, those whose server changed move, and
// pools of shards that are gone lend no more. It waits for nothing.
func (r *Registry) Apply(targets []Target) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old := *r.pools.Load()
	next := make(map[router.ShardName]*Pool, len(targets))
	for _, t := range targets {
		if p, ok := old[t.Shard]; ok {
			p.SetTarget(t)
			p.resize(t.within(r.limits))
			next[t.Shard] = p
		} else {
			p := newPool(t, t.within(r.limits), r.log, r.dial)
			p.orphans.news = r.orphaned
			next[t.Shard] = p
		}
	}
	r.pools.Store(&next)
	r.retire(old, next)
	for _, p := range r.applyReplicas(targets) {
		p.Retire()
		r.retired = append(r.retired, p)
	}
}

func (r *Registry) retire(old, next map[router.ShardName]*Pool) {
	r.retired = slices.DeleteFunc(r.retired, (*Pool).drained)
	for name, p := range old {
		if _, stays := next[name]; !stays {
			p.Retire()
			r.retired = append(r.retired, p)
		}
	}
}

// Run sweeps all pools, measures all replicas, and has servers end what was left behind there, until ctx ends.
func (r *Registry) Run(ctx context.Context) error {
	var tasks sync.WaitGroup
	defer tasks.Wait()
	tasks.Go(func() { r.measureReplicas(ctx) })
	ticker := time.NewTicker(sweepEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-r.orphaned:
			for _, p := range *r.pools.Load() {
				if p.takeOrphans() {
					tasks.Go(func() { p.endOrphans(ctx) })
				}
			}
		case now := <-ticker.C:
			for _, p := range *r.pools.Load() {
				p.Sweep(now)
			}
			r.eachReplica(func(c *replica) { c.pool.Sweep(now) })
		}
	}
}

// Close closes all pools at once as [Pool.Close] does, and leaves none.
func (r *Registry) Close(ctx context.Context) error {
	r.Apply(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, p := range r.retired { // all are retired, so those that wait longest don't hold up the others
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(errs...)
}
