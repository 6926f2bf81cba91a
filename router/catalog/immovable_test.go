package catalog

import (
	"strings"
	"testing"

	"locus/idgen/gene"
	"locus/router"
)

// The remedy for a unique key without the owner is a statement that adds the owner.
func TestLooseKeysNameTheRemedy(t *testing.T) {
	columns := []Column{{Name: "id", DataType: "bigint", AutoIncrement: true}, {Name: "user_id", DataType: "bigint"}, {Name: "ref`", DataType: "int"}, OwnGeneColumn()}
	table, err := Resolve(TableName{"shop", "orders"}, Declaration{Kind: Sharded, Owner: "user_id"}, columns, gene.W16)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		key  UniqueKey
		want string
	}{
		{UniqueKey{Name: "PRIMARY", Columns: []int{0}}, "ALTER TABLE shop.orders DROP PRIMARY KEY, ADD PRIMARY KEY (`id`, `user_id`)"},
		{UniqueKey{Name: "ref", Columns: []int{2}}, "ALTER TABLE shop.orders DROP KEY `ref`, ADD UNIQUE KEY `ref` (`ref```, `user_id`), or create a look-up index for `ref```"},
		{UniqueKey{Name: "a`b", Columns: []int{2, 0}}, "ALTER TABLE shop.orders DROP KEY `a``b`, ADD UNIQUE KEY `a``b` (`ref```, `id`, `user_id`)"},
		{UniqueKey{Name: "part", Columns: []int{2}, Partial: true}, "add user_id to it"},
		{UniqueKey{Name: "expression"}, "add user_id to it"},
	} {
		if got := table.UniqueObstacle(test.key).Remedy; got != test.want {
			t.Errorf("key %s: %s, want %s", test.key.Name, got, test.want)
		}
	}
	for name, want := range map[TableName]string{
		{"shop", "order"}: "shop.order", {"my shop", "t"}: "`my shop`.`t`", {"a", "b.c"}: "`a`.`b.c`", {"a", "1"}: "`a`.`1`", {"a", "é`"}: "`a`.`é```",
	} {
		if got := name.SQL(); got != want {
			t.Errorf("%v: %s, want %s", name, got, want)
		}
	}
	if !table.NumbersAlone(UniqueKey{Columns: []int{0}}) || table.NumbersAlone(UniqueKey{Columns: []int{2}}) {
		t.Error("a key is unique over all shards if the cluster numbers one of its columns")
	}
	table.Unseen = []UniqueKey{{Name: "PRIMARY", Columns: []int{0}}, {Name: "loose", Columns: []int{2}}}
	c := NewListed([]router.ShardName{"s0"}, []*Table{table}, nil, map[router.ShardName]*Listing{"s0": {}})
	if list := c.Obstacles(table); len(list) != 1 || !strings.HasPrefix(list[0].What, "unique key loose ") {
		t.Errorf("obstacles: %v", list)
	}
}
