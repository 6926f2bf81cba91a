package proxy

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"locus/proxy/schema"
	"locus/router"
)

// readAnyway is how long the shards' markers are trusted. A change that a server doesn't count, if there is one, can go unnoticed
// for this long.
const readAnyway = 10 * time.Minute

// Verified stores the facts that proxies have verified about the shards' schemas, so that one proxy reads a schema for all.
type Verified interface {
	// Load returns the last stored value of each shard.
	Load(ctx context.Context) (map[router.ShardName][]byte, error)
	Store(ctx context.Context, shard router.ShardName, value []byte) error
}

// verified returns the shards for which another proxy has verified that they still have the tables that a state was built from.
func (p *Proxy) verified(ctx context.Context, w *state, now map[router.ShardName]*schema.Marker) (shards []router.ShardName) {
	if p.options.Verified == nil {
		return nil
	}
	stored, err := p.options.Verified.Load(ctx)
	if err != nil {
		return nil
	}
	for shard, m := range now {
		var v schema.Verified
		if json.Unmarshal(stored[shard], &v) == nil && w.found.Verifies(shard, v, m, readAnyway) {
			shards = append(shards, shard)
		}
	}
	return shards
}

// publishVerified stores, for the other proxies, the objects that the shards had and the markers that were read
// before. If it fails, the other proxies read the shards themselves.
func (p *Proxy) publishVerified(ctx context.Context, found *schema.Found, shards []router.ShardName, markers map[router.ShardName]*schema.Marker) {
	if p.options.Verified == nil {
		return
	}
	for _, shard := range shards {
		m := markers[shard]
		if m == nil {
			continue
		}
		text, err := json.Marshal(schema.Verified{Marker: *m, Digest: found.Digest(shard)})
		if err == nil {
			err = p.options.Verified.Store(ctx, shard, text)
		}
		if err != nil {
			p.options.Log.Debug("notify the other proxies that a schema was read", "shard", shard, "error", err)
			return
		}
	}
}

// markersOf reads the markers of shards. It leaves out those that don't answer.
func markersOf(ctx context.Context, shards map[router.ShardName]schema.Querier) map[router.ShardName]*schema.Marker {
	var mu sync.Mutex // guards markers
	markers := map[router.ShardName]*schema.Marker{}
	var reading sync.WaitGroup
	for name, q := range shards {
		reading.Go(func() {
			m, err := schema.ReadMarker(ctx, q)
			if err != nil {
				return
			}
			mu.Lock()
			defer mu.Unlock()
			markers[name] = m
		})
	}
	reading.Wait()
	return markers
}

// polled contains the shards' markers as of the last complete read of the tables that found them equal to the tables of a
// state. It is safe for concurrent use.
type polled struct {
	mu      sync.Mutex
	of      *state
	at      time.Time
	markers map[router.ShardName]*schema.Marker
}

// same reports whether a state's tables can't have changed since then.
func (p *polled) same(of *state, now map[router.ShardName]*schema.Marker) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.of == nil || p.of.snapshot.Catalog != of.snapshot.Catalog || len(now) != len(p.markers) || time.Since(p.at) > readAnyway {
		return false
	}
	for name, m := range now {
		if !m.Same(p.markers[name]) {
			return false
		}
	}
	return true
}

func (p *polled) set(of *state, markers map[router.ShardName]*schema.Marker) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.of, p.at, p.markers = of, time.Now(), markers
}
