package proxy

import (
	"context"
	"sync"
	"time"

	"locus/proxy/schema"
	"locus/router"
)

// readAnyway is how long the shards' markers are trusted: so long a change that a server doesn't count, if there is one, can go
// unnoticed.
const readAnyway = 10 * time.Minute

// markersOf reads the markers of shards. It leaves out those that don't answer.
func markersOf(ctx context.Context, shards map[router.ShardName]schema.Querier) map[router.ShardName]*schema.Marker {
	var mu sync.Mutex // of markers
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

// polled is what the shards' markers were before all tables were last read and found to be those of a state. It is safe for
// concurrent use.
type polled struct {
	mu      sync.Mutex
	of      *state
	at      time.Time
	markers map[router.ShardName]*schema.Marker
}

// same reports whether a state's tables can't have changed since.
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
