package catalog

import (
	"slices"
	"strings"
	"testing"

	"locus/router"
)

// viewWorld returns a catalog of two shards with a sharded table, a single one, and views. Each view is on the given shards.
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

// A view was created before the view that it reads was on every shard. It is found, unless it also reads something that is not on every shard.
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
	if behind := catalog.ViewSources(TableName{"shop", "above"}); !slices.Equal(behind, []TableName{{"shop", "named"}}) {
		t.Errorf("behind above is %v", behind)
	}
	if behind := catalog.ViewSources(TableName{"shop", "apart"}); behind != nil {
		t.Errorf("behind a view of the default shard's own is %v", behind)
	}
}

// A view that is replaced by its query causes no remark. One whose query can't replace it causes a remark.
func TestRemarksOnViews(t *testing.T) {
	both := []router.ShardName{"s0", "s1"}
	catalog := viewWorld(t, map[string][]router.ShardName{"read": both, "sorted": both, "apart": {"s0"}}, map[string]string{
		"read": "select `shop`.`orders`.`id` AS `id` from `shop`.`orders`", "apart": "select `shop`.`plain`.`id` AS `id` from `shop`.`plain`",
		"sorted": "select `shop`.`orders`.`id` AS `id` from `shop`.`orders` order by `shop`.`orders`.`id`",
	})
	var said []string
	for _, remark := range catalog.Remarks() {
		said = append(said, remark.Error())
	}
	if len(said) != 2 || !strings.Contains(said[0], "view shop.sorted on s0") || !strings.Contains(said[1], "view shop.sorted on s1") {
		t.Errorf("remarks: %q", said)
	}
}

func TestWhatIsAtHome(t *testing.T) {
	catalog := viewWorld(t, map[string][]router.ShardName{"everywhere": {"s0", "s1"}, "apart": {"s0"}}, map[string]string{"everywhere": "select 1 AS `one`", "apart": "select 2 AS `two`"})
	function := func(name, body string) Program {
		return Program{TableName: TableName{"shop", name}, Type: "FUNCTION", Body: body}
	}
	first, second := catalog.closed.listings["s0"].Without(nil, nil), catalog.closed.listings["s1"].Without(nil, nil)
	first.Programs = []Program{function("F_both", "RETURN 1"), function("f_first", "RETURN 2"), {TableName: TableName{"other", "f_other"}, Type: "FUNCTION", Body: "RETURN 3"}}
	second.Programs = []Program{function("F_both", "RETURN 1")}
	catalog = NewListed(catalog.Shards, catalog.Tables(), nil, map[router.ShardName]*Listing{"s0": first, "s1": second})
	for text, want := range map[string]string{
		"create function f returns int return a + b": "", "return f_both ( a )": "", "select one from everywhere": "",
		"select n from plain": "table shop.plain", "select n from apart": "view shop.apart", "return f_first": "function shop.f_first",
		"return f_other": "", "return other f_other": "function other.f_other", "select from information_schema tables": "schema information_schema",
	} {
		if got, is := catalog.OnDefaultShard("shop", strings.Fields(text), TableName{"shop", "f"}); got != want || is != (want != "") {
			t.Errorf("%s: %q, %v; want %q", text, got, is, want)
		}
	}
	if name, is := catalog.OnDefaultShard("shop", []string{"f_first"}, TableName{"shop", "F_First"}); is {
		t.Errorf("its own name: %s", name)
	}
	delete(catalog.closed.listings, "s0")
	if name, is := NewListed(catalog.Shards, catalog.Tables(), nil, catalog.closed.listings).OnDefaultShard("shop", []string{"plain"}, TableName{}); is {
		t.Errorf("of a shard that nobody could ask it is known that it has %s", name)
	}
}
