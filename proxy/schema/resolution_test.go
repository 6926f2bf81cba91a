package schema

import (
	"fmt"
	"maps"
	"testing"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// TestResolutionsAreReused changes every input of a resolution, one by one. Each time the result must equal the result of a
// Found that knows nothing. If nothing has changed, the resolution must be reused.
func TestResolutionsAreReused(t *testing.T) {
	name, other := catalog.TableName{Schema: "shop", Name: "a"}, catalog.TableName{Schema: "shop", Name: "b"}
	live := func(columns ...string) *liveTable {
		one := &liveTable{kind: "BASE TABLE", engine: "InnoDB", leading: map[string]bool{}}
		for _, column := range columns {
			one.columns = append(one.columns, liveColumn{Column: catalog.Column{Name: column, DataType: "bigint"}, fullType: "bigint"})
		}
		return one
	}
	routes, err := router.Equal(gene.W16, []router.ShardName{"s0", "s1"})
	if err != nil {
		t.Fatal(err)
	}
	type world struct {
		servers map[router.ShardName]*server
		c       *cluster.Cluster
	}
	tables := map[router.ShardName]*liveTable{"s0": live("id", "owner"), "s1": live("id", "owner")}
	start := func() *world {
		w := &world{servers: map[router.ShardName]*server{}, c: &cluster.Cluster{
			Routes: routes, Settings: cluster.Settings{GeneBits: gene.W16, DefaultShard: "s0"},
			Shards:     map[router.ShardName]cluster.Shard{"s0": {}, "s1": {}},
			Tables:     map[catalog.TableName]catalog.Declaration{name: {Kind: catalog.Sharded, Owner: "owner", Stamped: map[string]string{"id": "g"}}},
			Generators: map[string]cluster.Generator{"g": {Kind: "snowflake"}},
			Renaming:   map[catalog.TableName]catalog.TableName{}, Counters: map[catalog.TableName]catalog.TableName{},
		}}
		for shard, one := range tables {
			w.servers[shard] = &server{listing: &catalog.Listing{}, tables: map[catalog.TableName]*liveTable{name: one}}
		}
		return w
	}
	result := func(f *Found) string {
		text := fmt.Sprint(f.broken[name])
		for _, one := range f.tables {
			text += fmt.Sprintf(" %+v", *one)
		}
		return text + fmt.Sprint(f.warnings)
	}
	first := start()
	known := (*Found)(nil).find(first.servers, first.c, nil)
	again := start()
	if got := known.find(again.servers, again.c, nil); got.resolved[name] != known.resolved[name] || result(got) != result(known) {
		t.Errorf("nothing has changed:\n%s\n%s", result(got), result(known))
	}
	for what, change := range map[string]func(*world){
		"a table that was read again": func(w *world) { w.servers["s1"].tables[name] = live("id", "owner", "note") },
		"a table that was dropped":    func(w *world) { delete(w.servers["s1"].tables, name) },
		"a shard that is down":        func(w *world) { delete(w.servers, "s1") },
		"another declaration": func(w *world) {
			w.c.Tables[name] = catalog.Declaration{Kind: catalog.Sharded, Owner: "id", Stamped: map[string]string{"id": "g"}}
		},
		"another kind":      func(w *world) { w.c.Tables[name] = catalog.Declaration{Kind: catalog.Outside} },
		"other settings":    func(w *world) { w.c.Settings.GeneBits = gene.W16 - 1 },
		"another generator": func(w *world) { w.c.Generators = map[string]cluster.Generator{"g": {Kind: "uuid"}} },
		"other counters":    func(w *world) { w.c.Counters[name] = other },
		"a rename":          func(w *world) { w.c.Tables[other] = w.c.Tables[name]; w.c.Renaming[other] = name },
	} {
		w := start()
		w.c.Tables = maps.Clone(w.c.Tables)
		change(w)
		got, want := known.find(w.servers, w.c, nil), (*Found)(nil).find(w.servers, w.c, nil)
		if got.resolved[name] == known.resolved[name] || result(got) != result(want) {
			t.Errorf("%s: reused %v\n%s\nwant\n%s", what, got.resolved[name] == known.resolved[name], result(got), result(want))
		}
	}
}
