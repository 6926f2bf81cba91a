package plan

import (
	"hash/maphash"
	"sync"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Cache keeps plans by key. It is bounded, and safe for concurrent use.
//
// It has two generations: a plan that is used moves to the young one; when that
// is full it becomes the old one, and what the old one held is forgotten. So a
// flood of texts that never come again can't push out those that do.
type Cache struct {
	seed   maphash.Seed
	shards [cacheShards]cacheShard
}

const (
	cacheShards = 16
	// longestKey is the longest key, in bytes, that is kept.
	longestKey = 16 << 10
	// keyBytes is what the keys of a generation may have each, on the average.
	keyBytes = 1 << 10
)

type cacheShard struct {
	mu         sync.Mutex // never held across anything that waits
	young, old map[string]Plan
	most       int // plans of a generation
	bytes      int // of the young generation's keys
}

// NewCache makes a cache of about so many plans, 32 at least, and of one KiB of
// keys for each.
func NewCache(entries int) *Cache {
	c := &Cache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].most = max(1, entries/cacheShards/2)
		c.shards[i].young = map[string]Plan{}
	}
	return c
}

// AppendTemporary completes a key by the session's temporary tables, which hide
// others.
func AppendTemporary(key []byte, tables []catalog.TableName) []byte {
	for _, t := range tables {
		key = append(append(append(append(key, 0), t.Schema...), 0), t.Name...)
	}
	return key
}

// AppendShard completes a key by the shard that the session has named, if it has.
func AppendShard(key []byte, named router.ShardName) []byte {
	if named == "" {
		return key
	}
	return append(append(key, 0, 0xff), named...) // which begins no other part
}

// AppendContext completes a key by what a text's meaning depends on beside the
// text: the current database and the modes.
func AppendContext(key []byte, schema string, mode stmt.Mode) []byte {
	key = append(key, 0, byte(mode))
	return append(key, schema...)
}

func (c *Cache) shardOf(key []byte) *cacheShard {
	return &c.shards[maphash.Bytes(c.seed, key)%cacheShards]
}

// Get finds a plan, or nil. It allocates nothing while the plan is young.
func (c *Cache) Get(key []byte) Plan {
	s := c.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	if p := s.young[string(key)]; p != nil {
		return p
	}
	p := s.old[string(key)]
	if p != nil {
		s.put(string(key), p) // allocates, once per generation
	}
	return p
}

// Put keeps a plan.
func (c *Cache) Put(key []byte, p Plan) {
	if len(key) > longestKey {
		return
	}
	s := c.shardOf(key)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.put(string(key), p)
}

func (s *cacheShard) put(key string, p Plan) {
	if _, there := s.young[key]; !there {
		if len(s.young) >= s.most || s.bytes >= s.most*keyBytes {
			s.old, s.young, s.bytes = s.young, make(map[string]Plan, s.most), 0
		}
		s.bytes += len(key)
	}
	s.young[key] = p
}
