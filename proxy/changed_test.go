package proxy

import (
	"context"
	"reflect"
	"testing"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/live"
)

// TestWhatIsDeclaredDifferentlyIsRead: any difference in the declarations makes the proxy read the tables on the shards that it
// concerns.
func TestWhatIsDeclaredDifferentlyIsRead(t *testing.T) {
	name, other := catalog.TableName{Schema: "shop", Name: "a"}, catalog.TableName{Schema: "shop", Name: "b"}
	routes, err := router.Equal(gene.W16, []router.ShardName{"s0"})
	if err != nil {
		t.Fatal(err)
	}
	declared := func() *cluster.Cluster {
		return &cluster.Cluster{
			Routes: routes,
			Tables: map[catalog.TableName]catalog.Declaration{name: {Kind: catalog.Global}},
			Shards: map[router.ShardName]cluster.Shard{"s0": {}}, Refused: map[catalog.TableName]string{},
			Renaming: map[catalog.TableName]catalog.TableName{}, Counters: map[catalog.TableName]catalog.TableName{},
			Generators: map[string]cluster.Generator{},
		}
	}
	of := func(names ...catalog.TableName) catalog.Change { return catalog.Change{Tables: names} }
	for what, c := range map[string]struct {
		change func(*cluster.Cluster)
		want   catalog.Change
	}{
		"another table":         {func(c *cluster.Cluster) { c.Tables[other] = catalog.Declaration{Kind: catalog.Global} }, of(other)},
		"another declaration":   {func(c *cluster.Cluster) { c.Tables[name] = catalog.Declaration{Kind: catalog.Single, Shard: "s0"} }, of(name)},
		"a table less":          {func(c *cluster.Cluster) { delete(c.Tables, name) }, of(name)},
		"another shard":         {func(c *cluster.Cluster) { c.Shards["s1"] = cluster.Shard{} }, catalog.Anything},
		"settings":              {func(c *cluster.Cluster) { c.Settings.CounterGroups = 7 }, catalog.Anything},
		"a generator":           {func(c *cluster.Cluster) { c.Generators["g"] = cluster.Generator{} }, catalog.Anything},
		"a counter":             {func(c *cluster.Cluster) { c.Counters[name] = other }, catalog.Anything},
		"a document that fails": {func(c *cluster.Cluster) { c.Refused[other] = "it can't be read" }, catalog.Anything},
		"a rename":              {func(c *cluster.Cluster) { c.Tables[other], c.Renaming[other] = c.Tables[name], name }, of(other)},
	} {
		b := &builder{last: &state{declared: declared()}}
		now := declared()
		c.change(now)
		if b.sameTables(now) {
			t.Errorf("%s: nothing seems to be declared differently", what)
		}
		if got := b.changed(now, catalog.Change{}); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v is read, want %+v", what, got, c.want)
		}
	}
}

// documents is a source that calls meanwhile at the end of each read.
type documents struct {
	live.Source
	meanwhile func()
}

func (d documents) Read(context.Context, int64) (map[string][]byte, int64, error) {
	if d.meanwhile != nil {
		d.meanwhile()
	}
	return nil, 1, nil
}

// TestRequestsAreAnsweredByLaterReads: a request is answered once both documents and tables were read after it.
func TestRequestsAreAnsweredByLaterReads(t *testing.T) {
	r := &requests{}
	docs := &documents{}
	read := func(since int64, meanwhile func()) {
		docs.meanwhile = meanwhile
		if _, _, err := (confirming{docs, r}).Read(t.Context(), since); err != nil {
			t.Fatal(err)
		}
	}
	expect := func(want uint64, when string) {
		t.Helper()
		number, _ := r.take()
		r.tablesRead(number)
		if got := r.answered(); got != want {
			t.Errorf("%s: request %d is answered, want %d", when, got, want)
		}
	}
	first := r.add(catalog.Anything)
	read(0, nil)
	expect(first, "documents read after the request")
	var second uint64
	read(0, func() { second = r.add(catalog.Anything) })
	expect(first, "documents read before the second request")
	read(7, nil)
	expect(first, "documents of a revision that was before the second request")
	read(0, nil)
	if got := r.answered(); got != second {
		t.Errorf("request %d is answered by the next read, want %d", got, second)
	}
}
