package generators

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"

	"locus/idgen/pool"
	"locus/idgen/redis"
	"locus/idgen/segment"
	"locus/router/catalog"
	"locus/router/cluster"
)

// buffer is a Redis in front of the counters of a table, opened for one declaration.
type buffer struct {
	generator // resources to close, and their status
	pool      pooled
	table     catalog.TableName
	sizes     catalog.Segments
	declared  func() *cluster.Cluster // returns the current declaration

	loads, failed atomic.Uint64
}

// Extend implements segment.Store.
func (b *buffer) Extend(ctx context.Context, counter string, n uint64) (segment.Grant, error) {
	g, err := b.pool.Extend(ctx, counter, n)
	if err != nil {
		b.failed.Add(1)
		return segment.Grant{}, err
	}
	b.loads.Add(1)
	return g, nil
}

// inForce reports whether the table is still declared in the same way.
func (b *buffer) inForce() bool {
	id := b.declared().Tables[b.table].ID
	return id != nil && bufferOf(id.Segments) == bufferOf(b.sizes)
}

// bufferOf returns a text that identifies a table's pool. It contains the start, because after a change of the
// start, lower numbers in Redis must not be used any more.
func bufferOf(sizes catalog.Segments) string {
	return fmt.Sprintf("%d\x00%s\x00%s", max(sizes.Start, 1), sizes.Shard(), sizes.Redis.Text())
}

// buffered returns a store that takes a table's numbers from its Redis, which is filled from the given store.
func (s *Set) buffered(declared func() *cluster.Cluster, sizes catalog.Segments, prefix string, store segment.Store) (segment.Store, error) {
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	mark, err := s.mark(ctx)
	if err != nil {
		return nil, err
	}
	name, _, _ := strings.Cut(prefix, "/")
	table, err := catalog.ParseTableKey(name)
	if err != nil {
		return nil, err
	}
	s.counting.Lock()
	defer s.counting.Unlock()
	if s.ended {
		return nil, segment.ErrClosed
	}
	key := prefix + "\x00" + bufferOf(sizes)
	if b := s.buffers[key]; b != nil {
		return b, nil
	}
	servers, err := s.shared(sizes, declared())
	if err != nil {
		return nil, fmt.Errorf("segments: redis: %w", err)
	}
	b := &buffer{table: table, sizes: sizes, declared: declared}
	o := pool.Options{Prefix: "locus:" + mark + ":" + prefix}
	if sizes.Start > 1 {
		o.Part = fmt.Sprint("/from ", sizes.Start)
	}
	granting := "etcd"
	if sizes.Shard() != "" {
		granting = "mysql"
	}
	b.pool = inFront(&b.generator, cluster.RedisOf(sizes.Redis), servers, store, granting, o)
	s.buffers[key] = b
	return b, nil
}

// shared returns the declared Redis servers, opened once for all tables. The caller holds counting. shared
// sends no request.
func (s *Set) shared(sizes catalog.Segments, c *cluster.Cluster) ([]*redis.Server, error) {
	text := sizes.Redis.Text()
	if servers := s.redis[text]; servers != nil {
		return servers, nil
	}
	parts := &generator{}
	servers, err := maker{s, c, parts}.redisServers(cluster.RedisOf(sizes.Redis))
	if err != nil {
		parts.end()
		return nil, err
	}
	s.connected.join(parts)
	s.redis[text] = servers
	return servers, nil
}

// bufferStatus returns the status of the buffers in force, by the table's name.
func (s *Set) bufferStatus() []Status {
	s.counting.Lock()
	defer s.counting.Unlock()
	by := map[string]*Status{}
	for _, b := range s.buffers {
		if !b.inForce() {
			continue
		}
		name := b.table.String()
		if by[name] == nil {
			st := newStatus(name)
			by[name] = &st
		}
		b.status(by[name])
		by[name].Loads += b.loads.Load()
		by[name].Failed += b.failed.Load()
	}
	return sorted(by)
}
