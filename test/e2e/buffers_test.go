package e2e

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"locus/control/generators"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/internal/test/servers"
	"locus/proxy"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/test/shop"
)

// leaving is an etcd that can be made unreachable.
type leaving struct {
	segment.KV
	away atomic.Bool
}

var errAway = errors.New("etcd is away")

func (l *leaving) Get(ctx context.Context, key string) ([]byte, int64, error) {
	if l.away.Load() {
		return nil, 0, errAway
	}
	return l.KV.Get(ctx, key)
}

func (l *leaving) CompareAndSwap(ctx context.Context, key string, revision int64, value []byte) (bool, error) {
	if l.away.Load() {
		return false, errAway
	}
	return l.KV.CompareAndSwap(ctx, key, revision, value)
}

// IDs whose numbers come from Redis, and which etcd or a shard has granted: INSERTs continue while etcd is down,
// while Redis is down, and after Redis has lost its data. If both are down, they fail with the reason. During that
// time the place of the counters is declared again. A repeated number would be a duplicate key.
func TestRedisBeforeTheCountersOfATable(t *testing.T) {
	t.Run("etcd", func(t *testing.T) { testBuffers(t, servers.MariaDB, "") })
	t.Run("a shard", func(t *testing.T) { testBuffers(t, servers.MySQL, ", store: {mysql: {shard: s1}}") })
}

func testBuffers(t *testing.T, engine servers.Engine, store string) {
	caches := []*servers.Process{servers.Redis(t), servers.Redis(t)}
	var kv *leaving
	var set *generators.Set
	options := shop.Options{
		Tables: []string{"CREATE TABLE {schema}.parcel (parcel_id BIGINT NOT NULL PRIMARY KEY, sender BIGINT NOT NULL) DEFAULT CHARSET utf8mb4"},
		Declarations: fmt.Sprintf(`  {schema}.parcel:
    kind: sharded
    owner: sender
    id: {column: parcel_id, layout: int64, segments: {start: 1000, min_step: 2, max_step: 2, redis: {servers: ["%s", "%s"]}%s}}
`, caches[0].Addr, caches[1].Addr, store),
		Options: func(o *proxy.Options) {
			kv = &leaving{KV: shop.Segments()}
			set = generators.New(generators.Options{KV: kv, Name: "test", Secrets: o.Secrets, DataDir: t.TempDir()})
			t.Cleanup(func() { _ = set.Close() })
			o.Segments, o.CounterStore = kv, set.CounterStore
		},
	}
	s := shop.Start(t, engine, options)
	db := s.DB(t, nil)
	const sequence = "parcel_id & ((1 << 42) - 1)"
	name := catalog.TableName{Schema: s.Schema, Name: "parcel"}
	insert := func(n int) {
		t.Helper()
		for range n {
			exec(t, db, "INSERT INTO parcel (sender) VALUES (42)")
		}
	}
	insert(7)
	if n := number(t, db, "SELECT MIN("+sequence+") FROM parcel"); n != 1000 {
		t.Errorf("the first sequence is %d", n)
	}
	kv.away.Store(true)
	insert(40) // far more than the numbers that a process holds in memory
	kv.away.Store(false)
	for _, c := range caches {
		c.Kill()
	}
	insert(20)
	if st := statusOf(set, s.Schema+".parcel"); st["redis "+caches[0].Addr] != "open" || st["redis "+caches[1].Addr] != "open" {
		t.Errorf("with both Redis away their breakers are %v", st)
	}
	kv.away.Store(true)
	var err error
	until(t, "an INSERT fails", func() bool { _, err = db.Exec("INSERT INTO parcel (sender) VALUES (42)"); return err != nil })
	for _, part := range []string{"etcd is away", caches[0].Addr, caches[1].Addr, "no ID was issued"} {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("with all away, without %q: %v", part, err)
		}
	}
	kv.away.Store(false)
	for _, c := range caches {
		if err := c.Restart(); err != nil {
			t.Fatal(err)
		}
	}
	insert(20) // whatever is back first
	until(t, "Redis is used again", func() bool {
		insert(1)
		st := statusOf(set, s.Schema+".parcel")
		return st["redis "+caches[0].Addr] == "closed" || st["redis "+caches[1].Addr] == "closed"
	})

	declare := func(segments catalog.Segments) {
		t.Helper()
		c := *s.Cluster
		c.Tables = maps.Clone(c.Tables)
		d := c.Tables[name]
		d.ID = &catalog.IDColumn{Column: "parcel_id", Layout: "int64", Segments: segments}
		c.Tables[name] = d
		if err := c.Validate(); err != nil {
			t.Fatal(err)
		}
		s.Apply(&c)
		until(t, "the proxy has followed", func() bool {
			now := s.Proxy.Declared().Tables[name].ID.Segments
			return now.Start == segments.Start && now.Redis.Text() == segments.Redis.Text()
		})
		insert(20)
	}
	as := s.Cluster.Tables[name].ID.Segments
	without, one, above := as, as, as
	without.Redis = nil
	redis := cluster.RedisOf(as.Redis)
	alone := *as.Redis
	alone.Server, alone.Several = redis.Several[0], nil
	one.Redis = &alone
	above.Start = 10_000_000
	for _, segments := range []catalog.Segments{without, as, one, as, above} {
		declare(segments)
	}
	if n := number(t, db, "SELECT COUNT(*) FROM parcel WHERE "+sequence+" >= 10000000"); n < 18 { // except for the numbers that a process held
		t.Errorf("%d of 20 sequences are above a start that was declared anew", n)
	}
	if st := statusOf(set, s.Schema+".parcel"); len(st) != 3 {
		t.Errorf("told of servers: %v", st)
	}

	// The number of groups is changed. Redis may hand out the numbers that it has of the old counters, but gets no
	// more.
	counters := segment.NewCASStore(kv, cluster.CounterPrefix(name, orderid.Layout{}), "test", time.Now)
	if err := counters.Regroup(t.Context(), 512); err != nil {
		t.Fatal(err)
	}
	insert(20)
	for _, c := range caches {
		if _, err := c.Do("FLUSHALL"); err != nil {
			t.Fatal(err)
		}
	}
	insert(20)
}

// statusOf is the state of each breaker before a server.
func statusOf(set *generators.Set, name string) map[string]string {
	states := map[string]string{}
	for _, st := range set.Status() {
		if st.Name != name {
			continue
		}
		for before, by := range st.Breakers {
			for state := range by {
				states[before] = state.String()
			}
		}
	}
	return states
}
