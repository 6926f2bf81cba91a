package cluster

import (
	"cmp"
	"slices"

	"locus/router"
)

// GeneratorKind says how a generator makes its numbers.
type GeneratorKind string

const (
	SegmentGenerator       GeneratorKind = "segment"
	SnowflakeGenerator     GeneratorKind = "snowflake"
	RedisGenerator         GeneratorKind = "redis"
	BucketsGenerator       GeneratorKind = "buckets"
	MemcachedGenerator     GeneratorKind = "memcached"
	RowGenerator           GeneratorKind = "row"            // adds to a row of a table on a shard
	AutoIncrementGenerator GeneratorKind = "auto_increment" // inserts into tables on shards
	HAGenerator            GeneratorKind = "ha"
	QueueGenerator         GeneratorKind = "queue"
	FormatGenerator        GeneratorKind = "format"
)

// Lock is what keeps callers of a row generator apart before they reach its row.
type Lock string

const (
	NoLock    Lock = ""
	LocalLock Lock = "local" // those of one process
	RedisLock Lock = "redis" // those of all
)

// Generator is a declared source of numbers, or of texts, by a name.
type Generator struct {
	Kind GeneratorKind `yaml:"kind"`
	// Server is the host:port of Redis or memcached. With kind segment it is a
	// Redis in front of the store, with kind row one that has its lock.
	Server string `yaml:"server,omitempty"`
	// Secret names the password of Redis.
	Secret string `yaml:"secret,omitempty"`
	// Keys splits a redis generator over so many keys.
	Keys int `yaml:"keys,omitempty"`
	// Of are the generators that ha takes in turn, and the one of queue and format.
	Of []string `yaml:"of,omitempty,flow"`
	// Shards have the row of kind row, the tables of auto_increment: one for each
	// time that a shard is named, which in all are 1, 2, 4 … 1,024.
	Shards []router.ShardName `yaml:"shards,omitempty,flow"`
	// Store grants the numbers of kinds segment, redis and memcached; nil is etcd.
	Store *Store `yaml:"store,omitempty,flow"`
	// Lock is that of a row.
	Lock Lock `yaml:"lock,omitempty"`
	// Bits is how many low bits a queue makes in memory.
	Bits uint `yaml:"bits,omitempty"`
	// Template is that of a format.
	Template string `yaml:"template,omitempty"`
	// MinStep and MaxStep bound a segment.
	MinStep uint64 `yaml:"min_step,omitempty"`
	MaxStep uint64 `yaml:"max_step,omitempty"`
}

// Store is where a generator's numbers are granted to processes. One is named.
type Store struct {
	MySQL *MySQLStore `yaml:"mysql,omitempty"`
}

// MySQLStore is a row of a table on a shard, with the columns biz_tag, max_id,
// step, version and update_time.
type MySQLStore struct {
	Shard router.ShardName `yaml:"shard"`
	// Table is schema.table, which is there, as is its row of the tag; empty is a
	// table that is made when it is first used.
	Table string `yaml:"table,omitempty"`
	// Tag is the row's biz_tag; empty is the generator's name.
	Tag string `yaml:"tag,omitempty"`
}

// RowOf is the table's name and the row's biz_tag; an empty table is the one that
// is made.
func (s MySQLStore) RowOf(generator string) (table, tag string) {
	return s.Table, cmp.Or(s.Tag, generator)
}

// Uses are the shards that have what the generator counts with.
func (g Generator) Uses() []router.ShardName {
	if g.Store != nil && g.Store.MySQL != nil {
		return append(slices.Clone(g.Shards), g.Store.MySQL.Shard)
	}
	return g.Shards
}
