package cluster

import (
	"cmp"
	"slices"
	"time"

	"locus/idgen/ha"
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
	// Servers say more of where it counts.
	Servers `yaml:",inline"`
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
	// Limits say when ha, or auto_increment, keeps away from a member.
	Limits *Limits `yaml:"limits,omitempty,flow"`
	// Bits is how many low bits a queue makes in memory.
	Bits uint `yaml:"bits,omitempty"`
	// Template is that of a format.
	Template string `yaml:"template,omitempty"`
	// MinStep and MaxStep bound a segment, also of a format's own sequence.
	MinStep uint64 `yaml:"min_step,omitempty"`
	MaxStep uint64 `yaml:"max_step,omitempty"`
}

// Limits are durations such as 100ms, and what is left out has a default. A member that is slow, or fails, is asked only
// if no better one is left, and probed until it is well again.
type Limits struct {
	Slow    string `yaml:"slow,omitempty"`    // a call that takes longer is slow
	Strikes int    `yaml:"strikes,omitempty"` // so many slow calls within Within make a member slow
	Within  string `yaml:"within,omitempty"`
	Timeout string `yaml:"timeout,omitempty"` // of a call while others are left to ask
	Aside   string `yaml:"aside,omitempty"`   // from a failure to the first probe, and between probes
}

// duration is one of them; 0 if it isn't given.
func (l *Limits) duration(text string) time.Duration {
	d, _ := time.ParseDuration(text) // Validate has looked
	return d
}

// Options are the limits as package ha has them. A nil pointer has the defaults.
func (l *Limits) Options() ha.Options {
	if l == nil {
		return ha.Options{}
	}
	return ha.Options{
		Slow: l.duration(l.Slow), Strikes: l.Strikes, Within: l.duration(l.Within), Timeout: l.duration(l.Timeout), Aside: l.duration(l.Aside),
	}
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

// Under is a generator and all that it takes from, itself first, each once.
func (c *Cluster) Under(name string) []string {
	all := []string{name}
	for i := 0; i < len(all); i++ {
		for _, of := range c.Generators[all[i]].Of {
			if !slices.Contains(all, of) {
				all = append(all, of)
			}
		}
	}
	return all
}

// Uses are the shards that have what the generator counts with.
func (g Generator) Uses() []router.ShardName {
	if g.Store != nil && g.Store.MySQL != nil {
		return append(slices.Clone(g.Shards), g.Store.MySQL.Shard)
	}
	return g.Shards
}
