package catalog

import (
	"slices"
	"strings"
	"testing"

	"locus/router"
)

// viewWorld is a catalog of two shards with a sharded table, a single one, and views, each on the shards that are given.
func viewWorld(t *testing.T, views map[string][]router.ShardName, queries map[string]string) *Catalog {
	t.Helper()
	table, err := Resolve(TableName{"shop", "orders"}, Declaration{Kind: Sharded, Owner: "owner", ID: &IDColumn{Column: "id", Layout: "int64"}},
		[]Column{{Name: "id", DataType: "bigint"}, {Name: "owner", DataType: "bigint"}}, 16)
	if err != nil {
		t.Fatal(err)
	}
	shards := []router.ShardName{"s0", "s1"}
	listings := map[router.ShardName]*Listing{}
	for _, shard := range shards {
		l := &Listing{Tables: []ListedTable{{TableName: TableName{"shop", "orders"}, Type: "BASE TABLE"}}}
		if shard == "s0" {
			l.Tables = append(l.Tables, ListedTable{TableName: TableName{"shop", "plain"}, Type: "BASE TABLE"})
		}
		for name, on := range views {
			if slices.Contains(on, shard) {
				l.Tables = append(l.Tables, ListedTable{TableName: TableName{"shop", name}, Type: "VIEW", Query: queries[name]})
			}
		}
		listings[shard] = l
	}
	return NewListed(shards, []*Table{table}, nil, listings)
}

// What was made over a view before that came to be on every shard is found, unless it reads what is not everywhere.
func TestViewsThatLag(t *testing.T) {
	first, both := []router.ShardName{"s0"}, []router.ShardName{"s0", "s1"}
	queries := map[string]string{
		"named": "select `shop`.`orders`.`id` AS `id` from `shop`.`orders`", "above": "select `shop`.`named`.`id` AS `id` from `shop`.`named`",
		"top":   "select `shop`.`above`.`id` AS `id` from `shop`.`above`",
		"mixed": "select `shop`.`named`.`id` AS `id` from `shop`.`named` join `shop`.`plain`",
		"apart": "select `shop`.`plain`.`id` AS `id` from `shop`.`plain`", "placeholder": "select 1 AS `id`",
	}
	for _, c := range []struct {
		on   map[string][]router.ShardName
		of   string
		want string
	}{
		{map[string][]router.ShardName{"named": both, "above": first, "top": first, "mixed": first}, "named", "[shop.above]"},
		{map[string][]router.ShardName{"named": both, "above": both, "top": first}, "above", "[shop.top]"},
		{map[string][]router.ShardName{"named": both, "above": both}, "named", "[]"},
		{map[string][]router.ShardName{"named": first, "above": first}, "named", "[]"},
		{map[string][]router.ShardName{"placeholder": first, "apart": first}, "apart", "[]"},
	} {
		catalog := viewWorld(t, c.on, queries)
		var got []string
		for _, name := range catalog.Lagging(TableName{"shop", c.of}) {
			got = append(got, name.String())
		}
		if said := "[" + strings.Join(got, " ") + "]"; said != c.want {
			t.Errorf("%v: over %s lag %s, want %s", c.on, c.of, said, c.want)
		}
	}
	catalog := viewWorld(t, map[string][]router.ShardName{"named": both, "above": first, "apart": first}, queries)
	if behind := catalog.Behind(TableName{"shop", "above"}); !slices.Equal(behind, []TableName{{"shop", "named"}}) {
		t.Errorf("behind above is %v", behind)
	}
	if behind := catalog.Behind(TableName{"shop", "apart"}); behind != nil {
		t.Errorf("behind a view of the default shard's own is %v", behind)
	}
}
