package shop

import (
	"context"
	"maps"
	"sync"

	"locus/router/cluster"
)

// source is declared documents in memory.
type source struct {
	mu       sync.Mutex
	values   map[string][]byte
	revision int64
	changed  chan struct{} // closed at each change
}

func newSource(c *cluster.Cluster) *source {
	return &source{values: cluster.Encode(c), revision: 1, changed: make(chan struct{})}
}

func (s *source) put(c *cluster.Cluster) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.replace(c)
}

// replace is called under the lock.
func (s *source) replace(c *cluster.Cluster) {
	s.values = cluster.Encode(c)
	s.revision++
	close(s.changed)
	s.changed = make(chan struct{})
}

// Read implements live.Source.
func (s *source) Read(context.Context, int64) (map[string][]byte, int64, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return maps.Clone(s.values), s.revision, nil
}

// Changes implements live.Source.
func (s *source) Changes(ctx context.Context, after int64) <-chan int64 {
	out := make(chan int64)
	go func() {
		defer close(out)
		for {
			s.mu.Lock()
			revision, changed := s.revision, s.changed
			s.mu.Unlock()
			if revision > after {
				select {
				case out <- revision:
					after = revision
				case <-ctx.Done():
					return
				}
				continue
			}
			select {
			case <-changed:
			case <-ctx.Done():
				return
			}
		}
	}()
	return out
}

// kv is a compare-and-swap store in memory.
type kv struct {
	mu     sync.Mutex
	values map[string]versioned
}

type versioned struct {
	value    []byte
	revision int64
}

func (k *kv) Get(_ context.Context, key string) ([]byte, int64, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	v := k.values[key]
	return v.value, v.revision, nil
}

func (k *kv) CompareAndSwap(_ context.Context, key string, revision int64, value []byte) (bool, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values[key].revision != revision {
		return false, nil
	}
	k.values[key] = versioned{value, revision + 1}
	return true, nil
}
