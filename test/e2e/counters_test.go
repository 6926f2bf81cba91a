package e2e

import (
	"database/sql"
	"maps"
	"strings"
	"testing"

	"locus/control/generators"
	"locus/idgen/segment"
	"locus/internal/test/link"
	"locus/proxy"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/test/shop"
)

// IDs whose numbers a shard grants: by a proxy, by one that starts after it, while the shard's server stops and
// returns, with its rows restored or lost, and by etcd again. A repeated number would be a duplicate key.
func TestCountersOnAShard(t *testing.T) {
	var again proxy.Options // another process's
	process := func(o *proxy.Options, kv segment.KV) {
		set := generators.New(generators.Options{KV: kv, Name: "test", Secrets: o.Secrets})
		t.Cleanup(func() { _ = set.Close() })
		o.Segments, o.CounterStore = kv, set.CounterStore
	}
	options := shop.Options{
		Tables: []string{"CREATE TABLE {schema}.parcel (parcel_id BIGINT NOT NULL PRIMARY KEY, sender BIGINT NOT NULL) DEFAULT CHARSET utf8mb4"},
		Declarations: `  {schema}.parcel:
    kind: sharded
    owner: sender
    id: {column: parcel_id, layout: int64, segments: {start: 1000, min_step: 2, max_step: 2, store: {mysql: {shard: s1}}}}
`,
		Options: func(o *proxy.Options) {
			kv := shop.Segments()
			again = *o
			process(o, kv)
			process(&again, kv)
		},
	}
	each(t, options, func(t *testing.T, s *shop.Shop, db *sql.DB) {
		const sequence = "parcel_id & ((1 << 42) - 1)"
		last := int64(999)
		insert := func(db *sql.DB) {
			t.Helper()
			for range 7 {
				exec(t, db, "INSERT INTO parcel (sender) VALUES (42)")
			}
			before := last
			if last = number(t, db, "SELECT MAX("+sequence+") FROM parcel WHERE sender = 42"); last <= before { // of the 7, at most 4 were taken from memory
				t.Errorf("sequence %d after %d", last, before)
			}
		}
		shard, like := s.Shard(t, 1), " WHERE biz_tag LIKE '"+s.Schema+".parcel/%'"
		insert(db)
		if n := number(t, db, "SELECT MIN("+sequence+") FROM parcel"); n != 1000 {
			t.Errorf("the first sequence is %d", n)
		}
		if n := number(t, shard, "SELECT MAX(max_id) FROM locus.sequence"+like); n < last {
			t.Errorf("the shard has granted %d, and %d is used", n, last)
		}
		_, addr := shop.Serve(t, again)
		other := *s
		other.Addr = addr
		restarted := other.DB(t, nil)
		insert(restarted)
		exec(t, shard, "UPDATE locus.sequence SET max_id = 1, version = 0"+like)
		insert(restarted)
		exec(t, shard, "DELETE FROM locus.sequence"+like)
		insert(restarted)

		way := link.New(t, s.Servers[1].Addr())
		c := *s.Cluster
		c.Shards, c.Tables = maps.Clone(c.Shards), maps.Clone(c.Tables)
		one := c.Shards["s1"]
		one.Address = way.Addr()
		c.Shards["s1"] = one
		name := catalog.TableName{Schema: s.Schema, Name: "parcel"}
		s.Apply(&c)
		until(t, "the proxy has followed", func() bool { return s.Proxy.Declared().Shards["s1"].Address == way.Addr() })
		way.Lead("")
		var err error
		until(t, "an INSERT fails", func() bool { _, err = db.Exec("INSERT INTO parcel (sender) VALUES (42)"); return err != nil })
		if text := err.Error(); !strings.Contains(text, s.Schema+".parcel/g/") || !strings.Contains(text, "of locus.sequence on shard s1") {
			t.Errorf("with the server away: %v", err)
		}
		way.Lead(s.Servers[1].Addr())
		until(t, "the server is back", func() bool { _, err := db.Exec("INSERT INTO parcel (sender) VALUES (42)"); return err == nil })
		insert(db)

		d := c.Tables[name]
		d.ID = &catalog.IDColumn{Column: "parcel_id", Layout: "int64", Segments: catalog.Segments{MinStep: 2, MaxStep: 2}}
		inEtcd := cluster.Cluster(c)
		inEtcd.Tables = maps.Clone(c.Tables)
		inEtcd.Tables[name] = d
		s.Apply(&inEtcd)
		until(t, "the proxy has followed", func() bool { return s.Proxy.Declared().Tables[name].ID.Segments.Store == nil })
		insert(db)
		s.Apply(&c)
		until(t, "the proxy has followed", func() bool { return s.Proxy.Declared().Tables[name].ID.Segments.Shard() == "s1" })
		insert(db)
	})
}
