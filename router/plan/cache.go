package plan

import (
	"hash/maphash"
	"sync"

	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

// Cache contains plans by key. Its size is limited, and it is safe for concurrent use.
//
// It has two generations. A plan that is used moves to the young generation. When that is full it becomes the old generation, and
// the previous old generation is dropped. A flood of texts that are used only once therefore can't evict the others.
type Cache struct {
	seed   maphash.Seed
	shards [cacheShards]cacheShard
}

const (
	cacheShards = 16
	// longestKey is the length of the longest key that is kept, in bytes.
	longestKey = 16 << 10
	// keyBytes is the limit of the average length of the keys in a generation, in bytes.
	keyBytes = 1 << 10
)

type cacheShard struct {
	mu         sync.Mutex // never held while waiting
	young, old map[string]Plan
	most       int // limit of the plans in a generation
	bytes      int // length of the young generation's keys
}

// NewCache returns a cache of about that many plans, at least 32, and of 1 KiB of keys for each plan.
func NewCache(entries int) *Cache {
	c := &Cache{seed: maphash.MakeSeed()}
	for i := range c.shards {
		c.shards[i].most = max(1, entries/cacheShards/2)
		c.shards[i].young = map[string]Plan{}
	}
	return c
}

// AppendTemporary appends the names of the session's temporary tables to a key, because these hide other tables.
func AppendTemporary(key []byte, tables []catalog.TableName) []byte {
	for _, t := range tables {
		key = append(append(append(append(key, 0), t.Schema...), 0), t.Name...)
	}
	return key
}

// AppendShard appends the shard that the session has chosen to a key, if there is one.
func AppendShard(key []byte, named router.ShardName) []byte {
	if named == "" {
		return key
	}
	return append(append(key, 0, 0xff), named...) // no other part of a key begins with these bytes
}

// AppendContext appends to a key the context on which the meaning of a text depends: the default database and the modes.
func AppendContext(key []byte, schema string, mode stmt.Mode) []byte {
	key = append(key, 0, byte(mode))
	return append(key, schema...)
}

func (c *Cache) shardOf(key []byte) *cacheShard {
	return &c.shards[maphash.Bytes(c.seed, key)%cacheShards]
}

// Get returns a plan, or nil. It allocates only if the plan is in the old generation.
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

// Put adds a plan. It ignores one whose key is too long.
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
