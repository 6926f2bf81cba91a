package proxy

import (
	"testing"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// TestSwitches: the shards are not read again only if an import itself changed the declarations.
func TestSwitches(t *testing.T) {
	imported, other := catalog.TableName{Schema: "shop", Name: "old"}, catalog.TableName{Schema: "shop", Name: "other"}
	plain, err := router.Equal(gene.W16, []router.ShardName{"s0", "s1"})
	if err != nil {
		t.Fatal(err)
	}
	importing, err := plain.Step([]router.Move{{Job: "import-1/s1", Genes: plain.GenesOf("s1"), From: "s0", To: "s1", Tables: []string{imported.String()}}})
	if err != nil {
		t.Fatal(err)
	}
	single, sharded := catalog.Declaration{Kind: catalog.Single, Shard: "s0"}, catalog.Declaration{Kind: catalog.Sharded, Owner: "a", Gene: "b"}
	declared := func(m *router.Map, old, beside catalog.Declaration) *cluster.Cluster {
		return &cluster.Cluster{Routes: m, Tables: map[catalog.TableName]catalog.Declaration{imported: old, other: beside}}
	}
	shards := declared(importing, sharded, single)
	shards.Shards = map[router.ShardName]cluster.Shard{"s2": {}}
	for what, test := range map[string]struct {
		before, now *cluster.Cluster
		want        bool
	}{
		"it becomes sharded":      {declared(importing, single, single), declared(importing, sharded, single), true},
		"and single again":        {declared(importing, sharded, single), declared(importing, single, single), true},
		"it is announced":         {declared(plain, sharded, single), declared(importing, single, single), false},
		"it is given up":          {declared(importing, single, single), declared(plain, sharded, single), false},
		"another table as well":   {declared(importing, single, single), declared(importing, sharded, sharded), false},
		"a shard is new":          {declared(importing, single, single), shards, false},
		"there is no import here": {declared(plain, single, single), declared(plain, sharded, single), false},
	} {
		if got := onlyImportDiffers(test.before, test.now); got != test.want {
			t.Errorf("%s: %v, want %v", what, got, test.want)
		}
	}
}
