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

// sweepEvery is the interval of Sweep.
const sweepEvery = time.Second

// Registry maps shards to pools. It is safe for concurrent use.
type Registry struct {
	limits Limits
	log    *slog.Logger
	dial   dialFunc
	pools  atomic.Pointer[map[router.ShardName]*Pool] // replaced, never modified

	replicas atomic.Pointer[map[router.ShardName]*replicas] // replaced, never modified
	orphaned chan struct{}                                  // signals that a pool has an orphan

	mu      sync.Mutex // held for the whole of Apply and Close
	retired []*Pool    // removed, perhaps with borrowed connections
}

// NewRegistry makes a registry without shards. limits apply to each pool.
func NewRegistry(limits Limits, log *slog.Logger) *Registry {
	r := &Registry{limits: limits, log: log, dial: login, orphaned: make(chan struct{}, 1)}
	r.pools.Store(&map[router.ShardName]*Pool{})
	r.replicas.Store(&map[router.ShardName]*replicas{})
	return r
}

// Pool returns a shard's pool. It takes no lock.
func (r *Registry) Pool(name router.ShardName) (*Pool, bool) {
	p, ok := (*r.pools.Load())[name]
	return p, ok
}

// Pools returns all pools, sorted by shard name.
func (r *Registry) Pools() []*Pool {
	return slices.SortedFunc(maps.Values(*r.pools.Load()), func(a, b *Pool) int {
		return strings.Compare(string(a.shard), string(b.shard))
	})
}

// Versions lists the versions of all servers, including replicas, as of their last logins. A server that returns with
// another version is known as such before it gets a statement.
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

// Apply replaces the registry's targets, one per shard. New shards get a pool. Pools of shards whose server changed move.
// Pools of removed shards stop lending. Apply waits for nothing.
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
			next[t.Shard] = r.newPool(t)
		}
	}
	r.pools.Store(&next)
	r.retire(old, next)
	for _, p := range r.applyReplicas(targets) {
		p.Retire()
		r.retired = append(r.retired, p)
	}
}

// newPool makes the pool of a shard.
func (r *Registry) newPool(t Target) *Pool {
	p := newPool(t, t.within(r.limits), r.log, r.dial)
	p.each(func(p *Pool) { p.orphans.news = r.orphaned })
	return p
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

// Run sweeps all pools, measures all replicas and makes servers end orphans, until ctx ends.
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
				p.each(func(p *Pool) {
					if p.takeOrphans() {
						tasks.Go(func() { p.endOrphans(ctx) })
					}
				})
			}
		case now := <-ticker.C:
			for _, p := range *r.pools.Load() {
				p.Sweep(now)
			}
			r.eachReplica(func(c *replica) { c.pool.Sweep(now) })
		}
	}
}

// Close closes all pools concurrently, as [Pool.Close] does, and empties the registry.
func (r *Registry) Close(ctx context.Context) error {
	r.Apply(nil)
	r.mu.Lock()
	defer r.mu.Unlock()
	var errs []error
	for _, p := range r.retired { // all are retired, so slow ones don't delay the others
		errs = append(errs, p.Close(ctx))
	}
	return errors.Join(errs...)
}
