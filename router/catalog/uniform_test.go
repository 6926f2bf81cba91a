package catalog

import (
	"testing"

	"locus/router"
)

func TestShardsAreAlikeIfAllThatTheyHaveIsDeclaredToBeOnEach(t *testing.T) {
	shards := []router.ShardName{"s0", "s1"}
	named := func(name string) TableName { return TableName{"shop", name} }
	table := func(name string, k Kind) *Table {
		return &Table{TableName: named(name), Declaration: Declaration{Kind: k}}
	}
	tables := []*Table{table("orders", Sharded), table("product", Global), table("setting", Single)}
	listing := func(names ...string) *Listing {
		l := &Listing{}
		for _, name := range names {
			l.Tables = append(l.Tables, ListedTable{TableName: named(name), Type: "BASE TABLE"})
		}
		return l
	}
	own := listing("orders", "product") // objects that every server has
	own.Tables = append(own.Tables, ListedTable{TableName: TableName{"sys", "version"}, Type: view})
	own.Programs = []Program{{TableName: TableName{"sys", "ps_setup"}, Type: "PROCEDURE"}}
	stored := listing("orders", "product")
	stored.Programs = []Program{{TableName: named("f"), Type: "FUNCTION"}}
	for what, c := range map[string]struct {
		first, second *Listing
		want          bool
	}{
		"the same on both":                {listing("orders", "product"), listing("orders", "product"), true},
		"the servers' own":                {own, listing("orders", "product"), true},
		"a table less":                    {listing("orders", "product"), listing("orders"), false},
		"a single table":                  {listing("orders", "product", "setting"), listing("orders", "product"), false},
		"a single one in another's place": {listing("orders", "setting"), listing("orders", "product"), false},
		"one that nobody declared":        {listing("orders", "product"), listing("orders", "product", "notes"), false},
		"a function":                      {stored, stored, false},
		"a shard of which nobody knows":   {listing("orders", "product"), nil, false},
		"the first, of which nobody does": {nil, listing("orders", "product"), false},
	} {
		listings := map[router.ShardName]*Listing{}
		for shard, l := range map[router.ShardName]*Listing{"s0": c.first, "s1": c.second} {
			if l != nil {
				listings[shard] = l
			}
		}
		if got := NewListed(shards, tables, nil, listings).Uniform(); got != c.want {
			t.Errorf("%s: %v, want %v", what, got, c.want)
		}
	}
	if New(shards, tables, nil).Uniform() {
		t.Error("shards are alike that nobody has looked at")
	}
}
