package plan

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/stmt"
)

const (
	hotSelect  = "SELECT id, amount, status FROM orders WHERE buyer_uid = 42 AND status = 'new'"
	hotScatter = "SELECT COUNT(*) FROM orders WHERE status = 'new'"
)

// surroundings contains sizes that should not affect the time of a lookup.
type surroundings struct{ shards, entries, tables int }

var small, large = surroundings{2, 4, len(shop)}, surroundings{64, 4096, 1000}

// mapOf assigns genes to shards in turn.
func (s surroundings) mapOf(t testing.TB) *router.Map {
	t.Helper()
	entries := make([]router.Entry, s.entries)
	for i := range entries {
		entries[i] = router.Entry{
			Bound: gene.Gene((i+1)*(int(gene.W16.Last())+1)/s.entries - 1), Shard: router.ShardName(fmt.Sprintf("s%d", i%s.shards)),
		}
	}
	m, err := router.New(gene.W16, 1, entries)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// catalogOf declares the shop's tables, and as many more as requested.
func (s surroundings) catalogOf(t testing.TB, m *router.Map) *catalog.Catalog {
	t.Helper()
	var tables []*catalog.Table
	for i := range s.tables {
		like := shop[i%len(shop)]
		called := like.name
		if i >= len(shop) {
			called = fmt.Sprintf("%s%d", like.name, i)
		}
		table, err := catalog.Resolve(name(called), like.d, like.columns, gene.W16)
		if err != nil {
			t.Fatal(err)
		}
		tables = append(tables, table)
	}
	return catalog.New(m.Shards(), tables, nil)
}

// lookUp does the work of a session for a text whose plan is in the cache: it scans the text, and finds the plan, the key's
// gene and the shards.
func (s surroundings) lookUp(t testing.TB, sql string) func() int {
	t.Helper()
	var (
		l     stmt.Lexed
		args  stmt.Args
		route Route
		v     Values
	)
	cache, m, text := NewCache(100), s.mapOf(t), []byte(sql)
	l.Lex(text, 0)
	p, err := Make(&l, Context{Catalog: s.catalogOf(t, m), Schema: "shop"})
	if err != nil {
		t.Fatal(err)
	}
	cache.Put(AppendContext(l.Key, "shop", 0), p)
	return func() int {
		l.Lex(text, 0)
		l.Key = AppendContext(l.Key, "shop", 0)
		p := cache.Get(l.Key)
		args.Reset(&l, nil)
		v = Values{Args: &args}
		if err := p.(*Read).Route(m, &v, &route); err != nil {
			t.Fatal(err)
		}
		return len(route.Shards)
	}
}

func TestLookupAllocatesNothing(t *testing.T) {
	for _, s := range []surroundings{small, large} {
		for sql, want := range map[string]int{hotSelect: 1, hotScatter: s.shards} {
			once := s.lookUp(t, sql)
			if got := once(); got != want {
				t.Errorf("%+v: %s goes to %d shards, want %d", s, sql, got, want)
			}
			if n := testing.AllocsPerRun(1000, func() { once() }); n != 0 {
				t.Errorf("%+v: %s: %v allocations", s, sql, n)
			}
		}
	}
}

func BenchmarkLookupHit(b *testing.B) {
	once := small.lookUp(b, hotSelect)
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
}

// BenchmarkLookupLarge measures a lookup with many shards, map entries and tables, in turn with one with few. It measures a
// lookup of one shard, and one of a read of all shards.
func BenchmarkLookupLarge(b *testing.B) {
	for b.Loop() {
		b.ReportMetric(largeToSmall(b, hotSelect), "ratio")
		b.ReportMetric(largeToSmall(b, hotScatter), "scatter-ratio")
	}
}

// largeToSmall returns the median of many short rounds, so that other load on the machine affects both alike.
func largeToSmall(b *testing.B, sql string) float64 {
	few, many := small.lookUp(b, sql), large.lookUp(b, sql)
	timed := func(once func() int) float64 {
		start := time.Now()
		for range 200 {
			once()
		}
		return float64(time.Since(start))
	}
	var ratios []float64
	for range 1001 {
		ratios = append(ratios, timed(many)/timed(few))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}
