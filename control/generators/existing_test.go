//go:build servers

package generators

import (
	"context"
	"strconv"
	"sync"
	"testing"

	"locus/idgen"
	"locus/internal/test/distinct"
	"locus/internal/test/servers"
	"locus/router"
	"locus/router/cluster"
)

// asked returns a generator of a set as idgen.Numbers.
func asked(s *Set, c *cluster.Cluster, name string) idgen.Numbers {
	return numbersOf(func(ctx context.Context, into []uint64) error {
		texts, err := s.Next(ctx, Request{Declared: c, Name: name, Count: len(into)})
		if err != nil {
			return err
		}
		for i, text := range texts {
			if into[i], err = strconv.ParseUint(text, 10, 64); err != nil {
				return err
			}
		}
		return nil
	})
}

type numbersOf func(context.Context, []uint64) error

func (n numbersOf) Fill(ctx context.Context, into []uint64) error { return n(ctx, into) }

// Existing tables are used unchanged by two processes, while the program that created them uses them too.
// Numbers continue from the current values, and no number is returned twice.
func TestExistingTables(t *testing.T) {
	servers.Engines(t, func(t *testing.T, engine servers.Engine) {
		store := func(value, key, tag string) *cluster.Store {
			return &cluster.Store{MySQL: &cluster.MySQLStore{Shard: "s0", Table: "locus.provider", Value: value, Key: key, Tag: tag}}
		}
		one, several := store("max_id", "", ""), store("current_value", "owner_key", "SN")
		several.MySQL.Table = "locus.rowbased"
		c, shared := onShards(t, engine, map[string]cluster.Generator{
			"provider": {Kind: cluster.RowGenerator, Store: one, Lock: cluster.LocalLock},
			"segment":  {Kind: cluster.SegmentGenerator, Store: several, MinStep: 5, MaxStep: 5},
			"code": {Kind: cluster.AutoIncrementGenerator, Shards: []router.ShardName{"s0", "s1"}, Tables: []string{"locus.bill_code_sequence", "locus.bill_code_sequence"},
				TimeColumn: "generate_time"},
		})
		shared[0].Exec(t, "CREATE SCHEMA locus", "CREATE TABLE locus.provider (max_id BIGINT NOT NULL, upd_time DATETIME)", "INSERT INTO locus.provider VALUES (70000, NOW())",
			"CREATE TABLE locus.rowbased (owner_key VARCHAR(64) NOT NULL PRIMARY KEY, current_value BIGINT NOT NULL)", "INSERT INTO locus.rowbased VALUES ('SN', 300), ('QJ', 5)")
		for _, server := range shared[:2] {
			server.Exec(t, "CREATE SCHEMA IF NOT EXISTS locus", "CREATE TABLE locus.bill_code_sequence (id BIGINT NOT NULL AUTO_INCREMENT PRIMARY KEY, generate_time DATETIME NOT NULL) ENGINE=InnoDB AUTO_INCREMENT=1000")
		}
		kv := newKV()
		sets := []*Set{openWith(t, kv, shared[0].Password), openWith(t, kv, shared[0].Password)}
		insert := func(index int) idgen.Numbers { // the program that has made the tables
			db := shared[index].DB(t, "")
			return idgen.Run{Most: 1, Take: func(ctx context.Context, _ int) (uint64, error) {
				result, err := db.ExecContext(ctx, "INSERT INTO locus.bill_code_sequence (generate_time) VALUES (NOW())")
				if err != nil {
					return 0, err
				}
				id, err := result.LastInsertId()
				return uint64(id)<<1 | uint64(index), err
			}}
		}
		for name, first := range map[string]uint64{"provider": 70001, "segment": 301, "code": 2000} {
			var all distinct.Numbers
			var takers sync.WaitGroup
			for i, s := range sets {
				takers.Go(func() { all.Take(t, asked(s, c, name), 30, 3) })
				if name == "code" {
					takers.Go(func() { all.Take(t, insert(i), 30, 1) })
				}
			}
			takers.Wait()
			n, err := idgen.One(t.Context(), asked(sets[0], c, name))
			if err != nil || n < first+60 || n > first+600 {
				t.Errorf("%s is at %d, begun at %d, %v", name, n, first, err)
			}
		}
	})
}

// A missing table of another program is not created.
func TestExistingTablesAreNotMade(t *testing.T) {
	c, shared := onShards(t, servers.MariaDB, map[string]cluster.Generator{
		"code": {Kind: cluster.AutoIncrementGenerator, Shards: []router.ShardName{"s0"}, Tables: []string{"locus.bill_code_sequence"}},
	})
	shared[0].Exec(t, "CREATE SCHEMA locus")
	s := openWith(t, newKV(), shared[0].Password)
	if n, err := idgen.One(t.Context(), asked(s, c, "code")); err == nil {
		t.Errorf("a table that is not there gave %d", n)
	}
	var tables int
	if err := shared[0].DB(t, "").QueryRow("SELECT COUNT(*) FROM information_schema.TABLES WHERE TABLE_SCHEMA = 'locus'").Scan(&tables); err != nil || tables != 0 {
		t.Errorf("%d tables were made, %v", tables, err)
	}
}

// Counters begin at the number that is declared, also if it is declared later, and don't go back.
func TestStart(t *testing.T) {
	server := servers.Redis(t)
	declared := func(start uint64) *cluster.Cluster {
		return of(map[string]cluster.Generator{
			"segment":   {Kind: cluster.SegmentGenerator, MinStep: 10, MaxStep: 10, Start: start},
			"memcached": {Kind: cluster.MemcachedGenerator, Server: servers.Memcached(t).Addr, Start: start},
			"redis":     {Kind: cluster.RedisGenerator, Server: server.Addr, Start: start},
			"text":      {Kind: cluster.FormatGenerator, Template: "{seq:9}", Start: start},
		})
	}
	store := newKV()
	last := map[string]uint64{}
	for _, start := range []uint64{0, 5_000_000, 10} {
		c := declared(start)
		s := open(t, store)
		for name := range c.Generators {
			for range 15 {
				n, err := idgen.One(t.Context(), asked(s, c, name))
				if err != nil || n <= last[name] && name != "redis" {
					t.Fatalf("%s gave %d after %d, %v", name, n, last[name], err)
				}
				last[name] = n
			}
			if start > 10 && last[name] < start && name != "redis" || start == 0 && last[name] > 1000 {
				t.Errorf("%s is at %d, declared from %d on", name, last[name], start)
			}
		}
	}
}
