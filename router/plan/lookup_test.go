package plan

import (
	"testing"

	"locus/router/stmt"
)

const hotSelect = "SELECT id, amount, status FROM orders WHERE buyer_uid = 42 AND status = 'new'"

// lookUp gives what a session does for a text whose plan is in the cache: lexing,
// the cache, the key's gene, the shard.
func lookUp(t testing.TB) func() int {
	t.Helper()
	var (
		l     stmt.Lexed
		args  stmt.Args
		route Route
		v     Values
	)
	cache, m, text := NewCache(100), shopMap(t), []byte(hotSelect)
	l.Lex(text, 0)
	p, err := Make(&l, Context{Catalog: shopCatalog(t), Schema: "shop"})
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
		if err := p.Route(m, &v, &route); err != nil || len(route.Shards) != 1 {
			t.Fatalf("%v: %v", route.Shards, err)
		}
		return route.Shards[0]
	}
}

func TestALookUpOnAHitAllocatesNothing(t *testing.T) {
	once := lookUp(t)
	once()
	if n := testing.AllocsPerRun(1000, func() { once() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLookupHit(b *testing.B) {
	once := lookUp(b)
	b.ReportAllocs()
	for b.Loop() {
		once()
	}
}
