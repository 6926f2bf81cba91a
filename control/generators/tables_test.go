//go:build servers

package generators

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
)

func TestMain(m *testing.M) { servers.Main(m) }

// onShards returns a cluster whose shards are servers without the schema locus.
func onShards(t *testing.T, engine servers.Engine, declared map[string]cluster.Generator) (*cluster.Cluster, []*servers.Server) {
	t.Helper()
	c := of(declared)
	c.Shards = map[router.ShardName]cluster.Shard{}
	shared := servers.Shared(t, engine, 2)
	for i, server := range shared {
		server.Exec(t, "DROP SCHEMA IF EXISTS locus")
		c.Shards[router.ShardName(fmt.Sprint("s", i))] = cluster.Shard{Address: server.Addr(), User: server.User, Secret: "shard", TLS: cluster.TLSOff}
	}
	return c, shared
}

func openWith(t *testing.T, store *kv, password string) *Set {
	s := New(Options{KV: store, Name: "test", DataDir: t.TempDir(), Secrets: func(string) (string, error) { return password, nil }})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// Two processes take numbers that tables on shards count, also through other generators. No number is returned
// twice. The tables are created once: lost tables are not created again.
func TestTablesOnShards(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		declared := map[string]cluster.Generator{
			"plain":  {Kind: cluster.RowGenerator, Shards: []router.ShardName{"s1"}},
			"local":  {Kind: cluster.RowGenerator, Shards: []router.ShardName{"s0"}, Lock: cluster.LocalLock},
			"locked": {Kind: cluster.RowGenerator, Shards: []router.ShardName{"s0"}, Lock: cluster.RedisLock, Server: servers.Redis(t).Addr},
			"four":   {Kind: cluster.AutoIncrementGenerator, Shards: []router.ShardName{"s0", "s1", "s0", "s1"}},
			"turns":  {Kind: cluster.HAGenerator, Of: []string{"plain", "four"}},
			"ready":  {Kind: cluster.QueueGenerator, Of: []string{"four"}, Bits: 3},
		}
		c, shared := onShards(t, engine, declared)
		store := newKV()
		sets := []*Set{openWith(t, store, shared[0].Password), openWith(t, store, shared[0].Password)}
		seen := map[string]bool{}
		take := func(name string) {
			t.Helper()
			for i := range 20 {
				texts, err := sets[i%2].Next(t.Context(), Request{Declared: c, Name: name, Count: 1 + i%4})
				if err != nil {
					t.Fatalf("%s: %v", name, err)
				}
				for _, text := range texts {
					if seen[name+text] {
						t.Errorf("%s gave %s twice", name, text)
					}
					seen[name+text] = true
				}
			}
		}
		for name := range declared {
			take(name)
		}
		status := map[string]Status{}
		for _, s := range sets[0].Status() {
			status[s.Name] = s
		}
		for name, field := range map[string]string{"plain": "sequence", "locked": "sequence", "four": "row", "turns": "row"} {
			if left, told := status[name].Left[field]; !told || left <= 0.99 || left > 1 {
				t.Errorf("%s: %v is left of its %s", name, left, field)
			}
		}
		if n := len(status["locked"].Breakers["redis"]); n != 1 {
			t.Errorf("%d states of the breaker before the lock", n)
		}

		// The rows of s0 are now on the server of s1: the shard has another server, without a restart of the
		// process.
		moved := *c
		moved.Shards = map[router.ShardName]cluster.Shard{"s0": c.Shards["s0"], "s1": c.Shards["s0"]}
		if _, err := sets[0].Next(t.Context(), Request{Declared: &moved, Name: "plain", Count: 1}); err == nil || !strings.Contains(err.Error(), "plain") {
			t.Errorf("a server without the generator's row: %v", err)
		}
		take("plain") // as it was declared

		shared[1].Exec(t, "DROP TABLE locus.number")
		again := openWith(t, store, shared[0].Password)
		if texts, err := again.Next(t.Context(), Request{Declared: c, Name: "plain", Count: 1}); err == nil || !strings.Contains(err.Error(), "locus.number") {
			t.Errorf("its table is gone, and it gives %v, %v", texts, err)
		}
	})
}

// A lock that can't be taken does not prevent numbers. An unreachable server is an error.
func TestServersThatAreAway(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		c, shared := onShards(t, engine, map[string]cluster.Generator{
			"locked": {Kind: cluster.RowGenerator, Shards: []router.ShardName{"s0"}, Lock: cluster.RedisLock, Server: "127.0.0.1:1"},
			"away":   {Kind: cluster.AutoIncrementGenerator, Shards: []router.ShardName{"s2"}},
		})
		c.Shards["s2"] = cluster.Shard{Address: "127.0.0.1:1", User: "locus", Secret: "shard", TLS: cluster.TLSOff}
		set := openWith(t, newKV(), shared[0].Password)
		for want := 1; want <= 5; want++ {
			if texts, err := set.Next(t.Context(), Request{Declared: c, Name: "locked", Count: 1}); err != nil || texts[0] != fmt.Sprint(want) {
				t.Errorf("without its lock: %v, %v, want %d", texts, err, want)
			}
		}
		if texts, err := set.Next(t.Context(), Request{Declared: c, Name: "away", Count: 1}); err == nil || errors.Is(err, ErrUnknown) {
			t.Errorf("its shard is away: %v, %v", texts, err)
		}
	})
}
