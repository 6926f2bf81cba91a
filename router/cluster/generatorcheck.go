package cluster

import (
	"cmp"
	"fmt"
	"maps"
	"math/bits"
	"regexp"
	"slices"
	"strings"
	"time"

	"locus/config/strict"
	"locus/idgen/format"
	"locus/idgen/row"
)

var generatorName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// checkGenerator reports problems of a generator.
func (c *Cluster) checkGenerator(p *problems, name string, g Generator) {
	document := "generator " + name
	if !generatorName.MatchString(name) {
		p.add("generators", "name %q: use 1 to 64 letters, digits and '_', a letter first", name)
	}
	fields, known := fieldsOfKinds[g.Kind]
	if !known {
		p.add(document, "kind %q: use segment, snowflake, redis, buckets, memcached, row, auto_increment, ha, queue or format%s", g.Kind, strict.OneOf(g.Kind, slices.Collect(maps.Keys(fieldsOfKinds))...))
		return
	}
	for _, problem := range fields.problems(g) {
		p.add(document, "%s", problem)
	}
	fields.checkServers(p, document, g)
	if g.Kind == FormatGenerator && g.Template != "" {
		t, err := format.Parse(g.Template, format.Parts())
		switch {
		case err != nil:
			p.add(document, "%w", err)
		case t.Scoped() && len(g.Of) > 0:
			p.add(document, "of: a sequence that starts again (per=…) belongs to the format itself: leave `of` out, or per=")
		case !t.Keyed() && g.Values > 0:
			p.add(document, "values: %d: the template counts for no values: give its sequence per=context:NAME, or leave values out", g.Values)
		}
	}
	if _, err := parseEpoch(g.Epoch); err != nil {
		p.add(document, "%w", err)
	}
	if g.Epoch != "" && g.Kind != SnowflakeGenerator {
		p.add(document, "epoch is for kind snowflake")
	}
	c.checkInner(p, document, name, g)
	c.checkPace(p, document, name, g)
	c.checkOrdered(p, document, g)
	c.checkGeneratorShards(p, document, name, g)
}

// checkInner reports problems of the generators from which one takes numbers.
func (c *Cluster) checkInner(p *problems, document, name string, g Generator) {
	for _, of := range g.Of {
		inner, declared := c.Generators[of]
		switch {
		case !declared:
			p.add(document, "of %q: no such generator is declared%s", of, strict.DidYouMean(of, slices.Sorted(maps.Keys(c.Generators))))
		case inner.Kind == FormatGenerator:
			p.add(document, "of %s: it makes texts, and numbers are needed", of)
		case inner.EveryTag():
			p.add(document, "of %s: its numbers are distinct for each tag only: declare a generator with the tag", of)
		case inner.KeyBy != "" && g.Kind != FormatGenerator:
			p.add(document, "of %s: the caller's %s chooses its key, and a number that is fetched before has no caller: only a format can be of it", of, inner.KeyContext())
		case inner.Per != "":
			p.add(document, "of %s: its numbers are distinct for each value of %s only: write per=%s into a template instead", of, inner.PerContext(), inner.Per)
		}
	}
	n := len(g.Of)
	switch {
	case g.Kind == HAGenerator && (n < 2 || !powerOfTwo(n)):
		p.add(document, "of: %d generators: ha takes 2, 4, 8 … of them, since the index is the low bits", n)
	case g.Kind == QueueGenerator && n != 1:
		p.add(document, "of: %d generators: a queue stands in front of one", n)
	case g.Kind == FormatGenerator && n > 1:
		p.add(document, "of: %d generators: a format has the sequence of one, or its own", n)
	case n != len(slices.Compact(slices.Sorted(slices.Values(g.Of)))):
		p.add(document, "of: a generator is named twice")
	}
	if ring := c.ringOf(name, nil); ring != nil {
		p.add(document, "of: it takes numbers from itself: %s", strings.Join(ring, " of "))
		return
	}
	if bits := c.lowBits(name); bits > mostLowBits {
		p.add(document, "it adds %d low bits to the numbers of %s: at most %d leave enough of them", bits, strings.Join(g.Of, ", "), mostLowBits)
	} else if flake := c.snowflakeIn(name); flake != "" && bits > 0 {
		p.add(document, "it adds %d low bits to those of %s, a snowflake, which has all 63 that a number can have", bits, flake)
	}
}

// mostReady is the most numbers that a queue keeps in memory.
const mostReady = 1 << 20

// checkPace reports problems of buffer, preload and sizing. The generators from which this one takes numbers must be declared.
func (c *Cluster) checkPace(p *problems, document, name string, g Generator) {
	if err := g.sizes().CheckPace(); err != nil {
		p.add(document, "%w", err)
	}
	if g.Sizing != "" && g.Kind != SegmentGenerator {
		p.add(document, "sizing is for kind segment")
	}
	if g.Interval != "" {
		g.checkInterval(p, document, g.Kind == QueueGenerator || c.ringOf(name, nil) == nil && c.FetchesAhead(name))
	}
	if g.Buffer == "" && g.Preload == "" {
		return
	}
	own := g.Kind == FormatGenerator && len(g.Of) == 0
	switch {
	case g.Kind == SegmentGenerator, g.Kind == QueueGenerator, own && g.MaxStep != 1:
	case own && g.Preload != "" && g.Preload != "100%":
		p.add(document, "preload: with max_step 1 no number may be in memory: leave it out, or raise max_step")
	case own, c.ringOf(name, nil) == nil && c.FetchesAhead(name):
	case g.Kind == HAGenerator, g.Kind == FormatGenerator:
		p.add(document, "buffer and preload: its numbers are in memory already: give them to the generators that it is of")
	default:
		p.add(document, "buffer and preload are for kinds segment, queue, ha and format: put a queue in front of kind %s", g.Kind)
	}
}

// checkInterval reports problems of the time between two requests of a generator that fetches numbers ahead, or does not.
func (g Generator) checkInterval(p *problems, document string, ahead bool) {
	interval, err := time.ParseDuration(g.Interval)
	buffer := cmp.Or(g.Segments().Buffer, 5*time.Millisecond)
	switch {
	case !ahead:
		p.add(document, "interval is for a queue, and for ha and format that fetch numbers ahead")
	case err != nil || interval < time.Millisecond || interval > time.Minute:
		p.add(document, "interval %q: write a duration from 1ms to 1m, such as 20ms", g.Interval)
	case interval > buffer:
		p.add(document, "interval %s: the numbers in memory last for %s: declare a buffer that is at least as long", g.Interval, buffer)
	}
}

// checkOrdered reports problems of the order of numbers.
func (c *Cluster) checkOrdered(p *problems, document string, g Generator) {
	for _, of := range g.Of {
		switch inner := c.Generators[of]; {
		case g.Ordered && !inner.Ordered:
			p.add(document, "ordered: its numbers are those of %s, which is not: declare `ordered: true` there, with kind segment or row", of)
		case !g.Ordered && inner.Ordered:
			p.add(document, "of %s: it is ordered, and a number that is requested before it is needed is not: only a format with `ordered: true` can be of it", of)
		}
	}
	switch {
	case !g.Ordered:
	case g.Kind == SegmentGenerator && g.Served():
		p.add(document, "ordered: numbers of Redis and of the store behind it are in no order over all processes: leave the server out")
	case g.Kind != SegmentGenerator && g.Kind != RowGenerator && g.Kind != FormatGenerator:
		p.add(document, "ordered: kind %s makes numbers in no order over all processes: use segment, row or format", g.Kind)
	}
}

// ringOf returns the path on which a generator takes numbers from itself, or nil if it doesn't.
func (c *Cluster) ringOf(name string, way []string) []string {
	if i := slices.Index(way, name); i >= 0 {
		return append(slices.Clone(way[i:]), name)
	}
	way = append(slices.Clip(way), name)
	for _, of := range c.Generators[name].Of {
		if ring := c.ringOf(of, way); ring != nil {
			return ring
		}
	}
	return nil
}

// mostLowBits leaves bits for a trillion numbers above the low bits.
const mostLowBits = 23

// lowBits returns the number of bits that a generator, and those from which it takes numbers, add below the counted numbers. The generator
// must not take numbers from itself.
func (c *Cluster) lowBits(name string) (n uint) {
	g := c.Generators[name]
	for _, of := range g.Of {
		n = max(n, c.lowBits(of))
	}
	switch g.Kind {
	case HAGenerator:
		n += uint(bits.Len(uint(len(g.Of)))) - 1
	case AutoIncrementGenerator:
		n += uint(bits.Len(uint(max(1, len(g.Shards))))) - 1
	case QueueGenerator:
		n += g.Bits
	case SegmentGenerator, SnowflakeGenerator, RedisGenerator, BucketsGenerator, MemcachedGenerator, RowGenerator, FormatGenerator:
	}
	return n
}

// snowflakeIn returns the name of a snowflake from which a generator takes numbers, directly or indirectly, or "".
func (c *Cluster) snowflakeIn(name string) string {
	for _, of := range c.Generators[name].Of {
		if c.Generators[of].Kind == SnowflakeGenerator {
			return of
		}
		if flake := c.snowflakeIn(of); flake != "" {
			return flake
		}
	}
	return ""
}

// powerOfTwo reports whether n is a power of two from 1 to 1,024.
func powerOfTwo(n int) bool { return n >= 1 && n <= 1024 && n&(n-1) == 0 }

// longestTables is the greatest length of a generator's name from which table names are made. A server's table name has up to 64 characters,
// and contains more text before and after the generator's name.
const longestTables = 48

// checkGeneratorShards reports problems of the shards with rows and tables of a generator.
func (c *Cluster) checkGeneratorShards(p *problems, document, name string, g Generator) {
	for _, shard := range slices.Compact(slices.Sorted(slices.Values(g.Uses()))) {
		if _, declared := c.Shards[shard]; !declared {
			p.add(document, "shard %q: no such shard is declared%s", shard, strict.OneOf(shard, c.ShardNames()...))
		}
	}
	switch n := len(g.Shards); {
	case g.Kind == RowGenerator && g.Store != nil && n > 0:
		p.add(document, "shards: its row is the one of `store:`: leave one of the two out")
	case g.Kind == RowGenerator && g.Store != nil:
	case g.Kind == RowGenerator && n != 1:
		p.add(document, "shards: %d: a row is on one shard, such as [s0]", n)
	case g.Kind == AutoIncrementGenerator && !powerOfTwo(n):
		p.add(document, "shards: %d: a table for each, which are 1, 2, 4 … 1024, since the index is the low bits; name a shard again for a further table", n)
	case g.Kind == AutoIncrementGenerator && len(g.Tables) > 0:
		g.checkTables(p, document)
	case g.Kind == AutoIncrementGenerator && len(name) > longestTables:
		p.add(document, "a name of %d characters: tables are named after it: use at most %d", len(name), longestTables)
	}
}

// checkTables reports problems of the existing tables of auto_increment.
func (g Generator) checkTables(p *problems, document string) {
	if len(g.Tables) != len(g.Shards) {
		p.add(document, "tables: %d for %d shards: name one for each, in the order of their indexes", len(g.Tables), len(g.Shards))
		return
	}
	at := map[string]bool{}
	for i, table := range g.Tables {
		if !storeTable.MatchString(table) {
			p.add(document, "tables: %q: write schema.table, with letters, digits and '_'", table)
		}
		if key := string(g.Shards[i]) + " " + strings.ToLower(table); at[key] {
			p.add(document, "tables: %s of shard %s is named twice", table, g.Shards[i])
		} else {
			at[key] = true
		}
	}
}

type presence int

const (
	absent presence = iota
	optional
	needed
)

// generatorFields are the fields that a kind allows.
type generatorFields struct {
	server                                                                presence
	keys, of, shards, store, lock, limits, bits, template, steps, maxStep bool
}

var fieldsOfKinds = map[GeneratorKind]generatorFields{
	SegmentGenerator:       {server: optional, store: true, steps: true},
	SnowflakeGenerator:     {},
	RedisGenerator:         {server: needed, keys: true, store: true},
	BucketsGenerator:       {server: needed},
	MemcachedGenerator:     {server: needed, store: true},
	RowGenerator:           {server: optional, shards: true, store: true, lock: true},
	AutoIncrementGenerator: {shards: true, limits: true},
	HAGenerator:            {of: true, limits: true},
	QueueGenerator:         {of: true, bits: true, maxStep: true},
	FormatGenerator:        {of: true, template: true, steps: true},
}

// startBits is the size of the numbers that Redis counts exactly.
const startBits = 53

// startable reports whether the kind has a counter in etcd that can begin at a number.
func (f generatorFields) startable(g Generator) bool {
	switch g.Kind {
	case SegmentGenerator, RedisGenerator, MemcachedGenerator:
		return g.Per == ""
	case FormatGenerator:
		return len(g.Of) == 0 && !g.scoped()
	}
	return false
}

// scoped reports whether a format's own sequence begins again.
func (g Generator) scoped() bool {
	t, err := format.Parse(g.Template, format.Parts())
	return err == nil && (t.Scoped() || t.Keyed())
}

func (f generatorFields) problems(g Generator) []string {
	var list []string
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	refuse(g.Keys < 0 || g.Keys > 1024 || g.Keys > 0 && !f.keys, "keys %d: kind redis takes 1 to 1024", g.Keys)
	refuse(g.KeyBy != "" && !f.keys, "key_by: kind redis has keys")
	refuse(g.KeyBy != "" && f.keys && g.Keys < 2 && len(g.Several) < 2, "key_by: it chooses between keys or servers: declare `keys:`")
	refuse(g.KeyBy != "" && (!strings.HasPrefix(g.KeyBy, perContext) || g.KeyContext() == ""), "key_by: %s: write key_by: context:NAME", g.KeyBy)
	refuse(len(g.Of) > 0 && !f.of, "of: kind %s has none", g.Kind)
	refuse(len(g.Shards) > 0 && !f.shards, "shards: kind %s has none", g.Kind)
	refuse(g.Store != nil && !f.store, "store: kind %s has none: kinds segment, redis, memcached and row have", g.Kind)
	if g.Store != nil && f.store {
		list = append(list, g.Store.problems()...)
	}
	refuse((len(g.Tables) > 0 || g.TimeColumn != "") && g.Kind != AutoIncrementGenerator, "tables and time_column are for kind auto_increment")
	refuse(g.TimeColumn != "" && (len(g.Tables) == 0 || !storeColumn.MatchString(g.TimeColumn)), "time_column %q: it is a column of `tables:`, of letters, digits and '_'", g.TimeColumn)
	refuse(g.Start > 0 && (!f.startable(g) || g.Store != nil), "start: kinds segment, redis, memcached and format begin there, if etcd is their store: set the number in the table instead")
	refuse(g.Start >= 1<<startBits, "start %d: begin below 2^%d", g.Start, startBits)
	refuse(g.Kind == RowGenerator && g.Store != nil && g.Store.MySQL != nil && g.Store.MySQL.Table == "", "store: kind row takes from a table that is there: give `table:`, or `shards:` instead of a store")
	refuse(g.EveryTag() && (g.Kind != SegmentGenerator || g.Served() || g.Per != "" || g.Ordered), "store: every_tag is for kind segment, without a server, per and ordered")
	refuse(g.Lock != NoLock && !f.lock, "lock: kind %s has none", g.Kind)
	refuse(g.Lock != NoLock && g.Lock != LocalLock && g.Lock != RedisLock, "lock %q: use local or redis, or leave it out", g.Lock)
	refuse(f.lock && (g.Lock == RedisLock) != g.Served(), "lock: redis and server, its host:port, go together")
	refuse(g.Limits != nil && !f.limits, "limits: kind %s has none: kinds ha and auto_increment have", g.Kind)
	if g.Limits != nil && f.limits {
		list = append(list, g.Limits.problems()...)
	}
	refuse(g.Bits > 20 || g.Bits > 0 && !f.bits, "bits %d: kind queue takes 0 to 20", g.Bits)
	refuse((g.Template == "") == f.template, "template: kind format needs one, others have none")
	refuse(g.Values < 0 || g.Values > mostValues || g.Values > 0 && !f.template && g.Per == "", "values %d: generators that count for each value take 1 to %d", g.Values, mostValues)
	list = append(list, f.perProblems(g)...)
	refuse(g.MinStep > 0 && !f.steps || g.MaxStep > 0 && !f.steps && !f.maxStep, "min_step and max_step are for kinds segment and format, and max_step for queue")
	refuse(f.maxStep && g.MaxStep > mostReady, "max_step %d: a queue keeps at most %d numbers ready", g.MaxStep, mostReady)
	refuse((g.MinStep > 0 || g.MaxStep > 0) && f.template && len(g.Of) > 0, "min_step and max_step are those of the generator that it is of")
	refuse(g.MinStep > g.MaxStep && g.MaxStep > 0, "min_step %d is above max_step %d", g.MinStep, g.MaxStep)
	refuse(g.MaxStep > 1<<32, "max_step %d is above %d", g.MaxStep, uint64(1)<<32)
	return list
}

// perProblems reports problems of a generator with numbers for each value.
func (f generatorFields) perProblems(g Generator) []string {
	switch {
	case g.Per == "":
		return nil
	case g.Kind != SegmentGenerator:
		return []string{fmt.Sprintf("per: kind %s has none: kind segment has, and the sequence in the template of kind format", g.Kind)}
	case !strings.HasPrefix(g.Per, perContext) || g.PerContext() == "":
		return []string{fmt.Sprintf("per: %s: write per: context:NAME", g.Per)}
	case g.Served() || g.Store != nil:
		return []string{"per: its counters are in etcd: leave the server and the store out"}
	case g.Sizing != "":
		return []string{"sizing: it has no effect with per: the segments of each value grow from min_step to max_step; leave it out"}
	}
	return nil
}

// storeTable matches names that need no quotes in statements.
var storeTable = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}\.[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// longestTag is the size of the column biz_tag.
const longestTag = 128

func (s *Store) problems() []string {
	if s.MySQL == nil {
		return []string{"store: name one, such as {mysql: {shard: s0}}; left out it is etcd"}
	}
	var list []string
	if s.MySQL.Shard == "" {
		list = append(list, "store: a table of MySQL is on a shard: give `shard:`")
	}
	if s.MySQL.Table != "" && !storeTable.MatchString(s.MySQL.Table) {
		list = append(list, fmt.Sprintf("store: table %q: write schema.table, with letters, digits and '_'", s.MySQL.Table))
	}
	if s.MySQL.Table == "" && s.MySQL.Tag != "" {
		list = append(list, "store: a tag is a row of a table that is there: give `table:` too")
	}
	if s.MySQL.EveryTag && (s.MySQL.Table == "" || s.MySQL.Tag != "") {
		list = append(list, "store: every_tag is for the rows of a table that is there: give `table:`, and no `tag:`")
	}
	list = append(list, s.MySQL.shapeProblems()...)
	if len(s.MySQL.Tag) > longestTag {
		list = append(list, fmt.Sprintf("store: a tag of %d bytes: biz_tag has room for %d", len(s.MySQL.Tag), longestTag))
	}
	return list
}

// storeColumn matches names that need no escape between backquotes.
var storeColumn = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]{0,63}$`)

// shapeProblems returns the problems of the columns of a table that another program has made.
func (s *MySQLStore) shapeProblems() []string {
	var list []string
	refuse := func(wrong bool, format string, args ...any) {
		if wrong {
			list = append(list, fmt.Sprintf(format, args...))
		}
	}
	refuse(s.Value == "" && (s.Key != "" || s.Holds != ""), "store: key and holds are for a table with other columns: give `value:`, the column with the number")
	refuse(s.Value != "" && s.Table == "", "store: value is a column of a table that is there: give `table:` too")
	refuse(s.Value != "" && s.Key == "" && s.Tag != "", "store: tag is the row of a `key:`, the column that distinguishes rows: give it too")
	refuse(s.Value != "" && s.EveryTag, "store: every_tag is for a table with the columns biz_tag, max_id and step")
	refuse(s.Value != "" && !storeColumn.MatchString(s.Value), "store: value %q: use letters, digits and '_'", s.Value)
	refuse(s.Key != "" && !storeColumn.MatchString(s.Key), "store: key %q: use letters, digits and '_'", s.Key)
	refuse(s.Holds != row.HoldsEither && s.Holds != row.HoldsLast && s.Holds != row.HoldsNext, "store: holds %q: use last or next, or leave it out%s", s.Holds, strict.OneOf(s.Holds, row.HoldsLast, row.HoldsNext))
	return list
}

// longestLimit is more than a caller waits for a number.
const longestLimit = time.Hour

func (l *Limits) problems() []string {
	var list []string
	for _, d := range []struct{ name, text string }{{"slow", l.Slow}, {"within", l.Within}, {"timeout", l.Timeout}, {"aside", l.Aside}} {
		if d.text == "" {
			continue
		}
		if n, err := time.ParseDuration(d.text); err != nil || n < time.Millisecond || n > longestLimit {
			list = append(list, fmt.Sprintf("limits: %s %q: write a duration from 1ms to 1h, such as 100ms", d.name, d.text))
		}
	}
	if l.Strikes < 0 || l.Strikes > 1000 {
		list = append(list, fmt.Sprintf("limits: strikes %d: use 1 to 1000, or leave it out", l.Strikes))
	}
	return list
}
