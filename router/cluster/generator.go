package cluster

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"locus/idgen/ha"
	"locus/idgen/queue"
	"locus/idgen/row"
	"locus/idgen/segment"
	"locus/idgen/snowflake"
	"locus/router"
	"locus/router/catalog"
)

// GeneratorKind is the method by which a generator makes its numbers.
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

// Lock is the lock that callers of a row generator take before they access its row.
type Lock string

const (
	NoLock    Lock = ""
	LocalLock Lock = "local" // between callers of one process
	RedisLock Lock = "redis" // between all callers
)

// Generator is a declared source of numbers or texts with a name.
type Generator struct {
	Kind GeneratorKind `yaml:"kind"`
	// Tables are the existing tables of auto_increment, one for each of Shards. If it is empty, tables of locus's own are created.
	Tables []string `yaml:"tables,omitempty,flow"`
	// TimeColumn is the column of Tables that is set to the time of a number, if the table requires a value.
	TimeColumn string `yaml:"time_column,omitempty"`
	// Start is the first number of a counter in etcd. A counter above it continues.
	Start uint64 `yaml:"start,omitempty"`
	// Server is the host:port of Redis or memcached. With kind segment it is a Redis in front of the store. With kind row it is the Redis with
	// the lock.
	Server string `yaml:"server,omitempty"`
	// Secret is the name of the secret that contains the password of Redis.
	Secret string `yaml:"secret,omitempty"`
	// Servers are the other settings of the servers.
	Servers `yaml:",inline"`
	// Keys is the number of keys over which a redis generator is split.
	Keys int `yaml:"keys,omitempty"`
	// KeyBy is context:NAME. The hash of that value chooses the key of a redis generator; if it is empty, the keys are used in turn.
	KeyBy string `yaml:"key_by,omitempty"`
	// Of lists the generators that ha uses in turn, or the single one of queue and format.
	Of []string `yaml:"of,omitempty,flow"`
	// Shards have the row of kind row, or the tables of auto_increment. Such a generator has one table for each time that a shard is named. The
	// number of tables is a power of two up to 1,024.
	Shards []router.ShardName `yaml:"shards,omitempty,flow"`
	// Store grants the numbers of kinds segment, redis and memcached; nil is etcd.
	Store *Store `yaml:"store,omitempty,flow"`
	// Lock is the lock of kind row.
	Lock Lock `yaml:"lock,omitempty"`
	// Limits define when ha or auto_increment avoids a member.
	Limits *Limits `yaml:"limits,omitempty,flow"`
	// Epoch is the time from which a snowflake counts milliseconds: a date, a time, or milliseconds since 1970. Empty is 2024-01-01.
	Epoch string `yaml:"epoch,omitempty"`
	// Bits is the number of low bits that a queue adds in memory.
	Bits uint `yaml:"bits,omitempty"`
	// Template is the template of kind format.
	Template string `yaml:"template,omitempty"`
	// Per is context:NAME. Each value of it has numbers of its own, which begin at 1.
	Per string `yaml:"per,omitempty"`
	// Values is how many values of Per, or of per=context:… in the template, have room for a counter of their own; see Room.
	Values int `yaml:"values,omitempty"`
	// MinStep and MaxStep limit the size of a segment, also for a format's own sequence.
	MinStep uint64 `yaml:"min_step,omitempty"`
	MaxStep uint64 `yaml:"max_step,omitempty"`
	// Buffer is how long the numbers in memory last at the measured rate, such as 10s. Preload is the share of them that is used before more are
	// fetched, such as 10%. Sizing is measured or leaf, of kind segment.
	Buffer  string `yaml:"buffer,omitempty"`
	Preload string `yaml:"preload,omitempty"`
	Sizing  string `yaml:"sizing,omitempty"`
	// Interval is the least time between two requests in the background, such as 20ms.
	Interval string `yaml:"interval,omitempty"`
	// Ordered is set if numbers rise in the order of the requests, over all processes. No number is in memory then.
	Ordered bool `yaml:"ordered,omitempty"`
}

// Since returns the time from which a snowflake counts milliseconds.
func (g Generator) Since() time.Time {
	since, err := parseEpoch(g.Epoch)
	if err != nil { // Validate has checked it
		return snowflake.Epoch()
	}
	return since
}

// parseEpoch parses a date, a time with a zone, or milliseconds since 1970. An empty text is the default.
func parseEpoch(text string) (time.Time, error) {
	if text == "" {
		return snowflake.Epoch(), nil
	}
	at := time.Time{}
	if ms, err := strconv.ParseInt(text, 10, 64); err == nil {
		at = time.UnixMilli(ms)
	} else if at, err = time.Parse(time.DateOnly, text); err != nil {
		at, err = time.Parse(time.RFC3339Nano, text)
		if err != nil {
			return at, fmt.Errorf("epoch %q: write a date such as 2010-11-04, a time such as 2010-11-04T01:42:54.657Z, or milliseconds since 1970", text)
		}
	}
	if at.UnixMilli() < 0 || at.Year() >= 2100 {
		return at, fmt.Errorf("epoch %q: use a time from 1970 to 2099", text)
	}
	return at.UTC().Truncate(time.Millisecond), nil
}

// sizes returns the settings of a segment.
func (g Generator) sizes() catalog.Segments {
	return catalog.Segments{MinStep: g.MinStep, MaxStep: g.MaxStep, Buffer: g.Buffer, Preload: g.Preload, Sizing: g.Sizing, Ordered: g.Ordered}
}

// Segments returns the settings of kind segment, and of a format's own sequence, as options of package segment.
func (g Generator) Segments() segment.Options { return g.sizes().Options() }

// Queue returns the settings of kind queue, and of the numbers that ha and format fetch ahead, as options of package queue.
func (g Generator) Queue() queue.Options {
	o := g.Segments()
	interval, _ := time.ParseDuration(g.Interval) // Validate has checked it
	return queue.Options{Bits: g.Bits, Ahead: o.Buffer, Preload: o.Preload, Most: int(g.MaxStep), Interval: interval}
}

// FetchesAhead reports whether a generator of kind ha or format keeps numbers ready, because each number would cost a request to a server
// otherwise.
func (c *Cluster) FetchesAhead(name string) bool {
	if g := c.Generators[name]; g.Ordered || g.Kind != HAGenerator && g.Kind != FormatGenerator {
		return false
	}
	for _, of := range c.GeneratorTree(name)[1:] {
		inner := c.Generators[of]
		if inner.KeyBy != "" { // a number that is fetched ahead has no caller yet
			return false
		}
		switch inner.Kind {
		case QueueGenerator: // which does it
			return false
		case RedisGenerator, MemcachedGenerator, RowGenerator, AutoIncrementGenerator, BucketsGenerator:
			return true
		case SegmentGenerator, SnowflakeGenerator, HAGenerator, FormatGenerator:
		}
	}
	return false
}

// Limits are durations such as 100ms. Omitted ones have a default. A member that is slow or fails is asked only if no better one is left. It
// is probed until it is healthy again.
type Limits struct {
	Slow    string `yaml:"slow,omitempty"`    // a call that takes longer is slow
	Strikes int    `yaml:"strikes,omitempty"` // number of slow calls within Within that make a member slow
	Within  string `yaml:"within,omitempty"`
	Timeout string `yaml:"timeout,omitempty"` // time limit of a call while other members are left
	Aside   string `yaml:"aside,omitempty"`   // interval from a failure to the first probe, and between probes
}

// duration returns the duration of a text, or 0 if the text is empty.
func (l *Limits) duration(text string) time.Duration {
	d, _ := time.ParseDuration(text) // Validate has checked it
	return d
}

// Options returns the limits as options of package ha. A nil pointer has the defaults.
func (l *Limits) Options() ha.Options {
	if l == nil {
		return ha.Options{}
	}
	return ha.Options{
		Slow: l.duration(l.Slow), Strikes: l.Strikes, Within: l.duration(l.Within), Timeout: l.duration(l.Timeout), Aside: l.duration(l.Aside),
	}
}

// Store is the place where a generator's numbers are granted to processes. One kind is set.
type Store struct {
	MySQL *MySQLStore `yaml:"mysql,omitempty"`
}

// MySQLStore is a row of a table on a shard, with the columns biz_tag, max_id,
// step, version and update_time.
type MySQLStore struct {
	Shard router.ShardName `yaml:"shard"`
	// Table is schema.table. The table and its row with the tag must exist. If Table is empty, a table of locus's own is created at its first
	// use.
	Table string `yaml:"table,omitempty"`
	// Tag is the row's biz_tag; empty is the generator's name.
	Tag string `yaml:"tag,omitempty"`
	// Value and Key are the columns with the number and with the tag, in a table that another program has
	// created with other columns. Without a Key the table has one row. Holds is last or next: the meaning of
	// the number to that program.
	Value string    `yaml:"value,omitempty"`
	Key   string    `yaml:"key,omitempty"`
	Holds row.Holds `yaml:"holds,omitempty"`
	// EveryTag makes the generator have numbers for each biz_tag of Table, which none declares. A request names the tag.
	EveryTag bool `yaml:"every_tag,omitempty"`
}

// EveryTag reports whether the generator has numbers for each tag of a table. TagContext is the name of the tag in a request.
func (g Generator) EveryTag() bool {
	return g.Store != nil && g.Store.MySQL != nil && g.Store.MySQL.EveryTag
}

// TagContext is the name of the value with the tag, in a request to a generator for every tag.
const TagContext = "tag"

// Shape returns the table of another program, if Value is set.
func (s MySQLStore) Shape(generator string) row.Shape {
	return row.Shape{Table: s.Table, Value: s.Value, Key: s.Key, Row: cmp.Or(s.Tag, generator), Holds: s.Holds}
}

// RowOf returns the table's name and the row's biz_tag. An empty table is the one that locus creates.
func (s MySQLStore) RowOf(generator string) (table, tag string) {
	return s.Table, cmp.Or(s.Tag, generator)
}

// GeneratorTree returns a generator and all generators from which it takes numbers, itself first, each once.
func (c *Cluster) GeneratorTree(name string) []string {
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

const (
	usualValues = 10_000
	mostValues  = 200_000
)

// PerContext returns the name of the value for which the generator counts, or "" if it has one counter.
func (g Generator) PerContext() string {
	name, _ := strings.CutPrefix(g.Per, perContext)
	return name
}

// KeyContext returns the name of the value that chooses the key, or "".
func (g Generator) KeyContext() string {
	name, _ := strings.CutPrefix(g.KeyBy, perContext)
	return name
}

// perContext precedes the name of a value in Per and KeyBy.
const perContext = "context:"

// Room returns how many values have room for a counter of their own.
func (g Generator) Room() int { return cmp.Or(g.Values, usualValues) }

// Uses returns the shards that contain rows or tables of the generator.
func (g Generator) Uses() []router.ShardName {
	if g.Store != nil && g.Store.MySQL != nil {
		return append(slices.Clone(g.Shards), g.Store.MySQL.Shard)
	}
	return g.Shards
}
