//go:build servers

package generators

import (
	"errors"
	"strconv"
	"strings"
	"testing"

	"locus/idgen/breaker"
	"locus/idgen/segment"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
)

func inMySQL(shard router.ShardName) *cluster.Store {
	return &cluster.Store{MySQL: &cluster.MySQLStore{Shard: shard}}
}

// last takes numbers of a generator and returns the last one. It fails if a number is not above the given one.
func last(t *testing.T, s *Set, c *cluster.Cluster, name string, above int64) int64 {
	t.Helper()
	for range 20 {
		texts, err := s.Next(t.Context(), Request{Declared: c, Name: name, Count: 3})
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range texts {
			n, err := strconv.ParseInt(text, 10, 64)
			if err != nil || n <= above {
				t.Fatalf("%s gives %s after %d (%v)", name, text, above, err)
			}
			above = n
		}
	}
	return above
}

// A generator that is declared with another store continues above its numbers. Several processes use the stores
// one after the other.
func TestAnotherStore(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c, shared := onShards(t, engine, map[string]cluster.Generator{"n": {Kind: cluster.SegmentGenerator, MinStep: 10, MaxStep: 10}})
		store, above := newKV(), int64(0)
		declare := func(s *cluster.Store, server string) *Set {
			g := c.Generators["n"]
			g.Store, g.Server = s, server
			c = &cluster.Cluster{Shards: c.Shards, Generators: map[string]cluster.Generator{"n": g}}
			return openWith(t, store, shared[0].Password)
		}
		above = last(t, declare(nil, ""), c, "n", above)
		// The new row starts at 1, but etcd records that 1 was granted before.
		set := declare(inMySQL("s0"), "")
		if texts, err := set.Next(t.Context(), Request{Declared: c, Name: "n", Count: 1}); !errors.Is(err, segment.ErrWentBack) || !strings.Contains(err.Error(), "row n of locus.number on shard s0") {
			t.Errorf("a row that begins below: %v, %v", texts, err)
		}
		raised := "UPDATE locus.number SET max_id = " + strconv.FormatInt(above+1000, 10)
		shared[0].Exec(t, raised)
		above = last(t, set, c, "n", above)
		above = last(t, declare(inMySQL("s0"), servers.Redis(t).Addr), c, "n", above)
		set = declare(nil, "")
		last(t, set, c, "n", above)
		// The row is set back to an earlier value. A process without any state detects that.
		shared[0].Exec(t, raised)
		set = declare(inMySQL("s0"), "")
		if texts, err := set.Next(t.Context(), Request{Declared: c, Name: "n", Count: 1}); !errors.Is(err, segment.ErrWentBack) {
			t.Errorf("the database was restored: %v, %v", texts, err)
		}
	})
}

// Redis and memcached take numbers that a table grants, in two processes each. No number is returned twice.
// While the table's server is down, the error names the row.
func TestInFrontOfATable(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		redis, memcached := servers.Redis(t).Addr, servers.Memcached(t).Addr
		declared := map[string]cluster.Generator{
			"pooled": {Kind: cluster.SegmentGenerator, Server: redis, Store: inMySQL("s0")},
			"one":    {Kind: cluster.RedisGenerator, Server: redis, Store: inMySQL("s1")},
			"cached": {Kind: cluster.MemcachedGenerator, Server: memcached, Store: inMySQL("s1")},
			"ready":  {Kind: cluster.QueueGenerator, Of: []string{"one"}},
			"away":   {Kind: cluster.SegmentGenerator, Store: &cluster.Store{MySQL: &cluster.MySQLStore{Shard: "s2", Table: "a.b"}}},
		}
		c, shared := onShards(t, engine, declared)
		c.Shards["s2"] = cluster.Shard{Address: "127.0.0.1:1", User: "locus", Secret: "shard", TLS: cluster.TLSOff}
		store := newKV()
		sets := []*Set{openWith(t, store, shared[0].Password), openWith(t, store, shared[0].Password)}
		for _, name := range []string{"pooled", "one", "cached", "ready"} {
			seen := map[string]bool{}
			for i := range 40 {
				texts, err := sets[i%2].Next(t.Context(), Request{Declared: c, Name: name, Count: 1 + i%4})
				if err != nil {
					t.Fatal(err)
				}
				for _, text := range texts {
					if seen[text] {
						t.Errorf("%s gave %s twice", name, text)
					}
					seen[text] = true
				}
			}
		}
		for _, s := range sets[0].Status() {
			if s.Name == "pooled" && s.Breakers["mysql"][breaker.Closed] != 1 {
				t.Errorf("breakers before the table: %v", s.Breakers)
			}
		}
		if texts, err := sets[0].Next(t.Context(), Request{Declared: c, Name: "away", Count: 1}); err == nil || !strings.Contains(err.Error(), "row away of a.b on shard s2") {
			t.Errorf("its shard is away: %v, %v", texts, err)
		}
	})
}

// The segments of an existing table have the size in the row's step, unless min_step is declared. With leaf
// sizing, they are doubled from there.
func TestTheRowsStep(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c, shared := onShards(t, engine, nil)
		shared[0].Exec(t, "CREATE SCHEMA locus", "CREATE TABLE locus.leaf_alloc (biz_tag VARCHAR(128) NOT NULL DEFAULT '' PRIMARY KEY, max_id BIGINT NOT NULL DEFAULT 1, step INT NOT NULL, "+
			"description VARCHAR(256) DEFAULT NULL, update_time TIMESTAMP NOT NULL DEFAULT CURRENT_TIMESTAMP ON UPDATE CURRENT_TIMESTAMP)",
			"INSERT INTO locus.leaf_alloc (biz_tag, step) VALUES ('leaf', 20), ('measured', 20), ('declared', 20), ('short', 20)")
		generator := func(tag, buffer string) cluster.Generator {
			return cluster.Generator{Kind: cluster.SegmentGenerator, Preload: "100%", Buffer: buffer, Store: &cluster.Store{MySQL: &cluster.MySQLStore{Shard: "s0", Table: "locus.leaf_alloc", Tag: tag}}}
		}
		leaf, measured, declared, short := generator("leaf", ""), generator("measured", "1ms"), generator("declared", "1ms"), generator("short", "1ms")
		leaf.Sizing, declared.MinStep, short.MaxStep = "leaf", 30, 5
		c.Generators = map[string]cluster.Generator{"leaf": leaf, "measured": measured, "declared": declared, "short": short}
		s := openWith(t, newKV(), shared[0].Password)
		for _, one := range []struct {
			name  string
			sizes []int
		}{{"leaf", []int{20, 40, 80}}, {"measured", []int{20}}, {"declared", []int{30}}, {"short", []int{5, 5}}} {
			want := 1
			for _, size := range one.sizes {
				for i := range size {
					texts, err := s.Next(t.Context(), Request{Declared: c, Name: one.name, Count: 1})
					if err != nil {
						t.Fatal(err)
					}
					if want++; texts[0] != strconv.Itoa(want) {
						t.Fatalf("%s: number %d of a segment of %d is %s, want %d", one.name, i, size, texts[0], want)
					}
				}
				var next int
				if err := shared[0].DB(t, "").QueryRow("SELECT max_id FROM locus.leaf_alloc WHERE biz_tag = ?", one.name).Scan(&next); err != nil {
					t.Fatal(err)
				}
				if next != want+1 {
					t.Errorf("%s: max_id is %d after a segment of %d, want %d", one.name, next, size, want+1)
				}
				want++ // the number between two grants is never issued
			}
		}
	})
}
