package proxy

import (
	"maps"
	"reflect"
	"slices"

	"locus/proxy/sysvars"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
)

// switched holds an import's tables to what they are declared to be now, by what the shards had when they were last asked: while an
// import declares them anew statements on them are held, and to ask all shards again would take longer than all the rest. It is false
// where they must be asked: nothing else may have changed, and nobody may have said that the tables have.
func (b *builder) switched(w *state) bool {
	if b.found == nil || !b.requests.empty() || !switches(b.last.declared, w.declared) {
		return false
	}
	found := b.found.Declared(w.declared, b.last.snapshot.Catalog)
	for _, text := range w.declared.Routes.Importing() {
		if name, err := catalog.ParseTableName(text); err != nil || found.Broken(name) && w.declared.Tables[name].Kind != catalog.Outside {
			return false // the shards have it by now, perhaps
		}
	}
	loaded := found.Load()
	if loaded.Unseen != nil {
		return false
	}
	w.snapshot = b.last.snapshot
	w.server = b.last.server
	w.problems = loaded.Problems()
	w.snapshot.Catalog = loaded.Catalog
	w.snapshot.Plans, w.snapshot.Sets = plan.NewCache(plansKept), new(sysvars.SetWarnings)
	return true
}

// switches tells whether nothing but tables of an import that goes on is declared in another way.
func switches(before, now *cluster.Cluster) bool {
	imported := now.Routes.Importing()
	if imported == nil || !slices.Equal(imported, before.Routes.Importing()) {
		return false
	}
	others := func(c *cluster.Cluster) map[catalog.TableName]catalog.Declaration {
		tables := maps.Clone(c.Tables)
		maps.DeleteFunc(tables, func(n catalog.TableName, _ catalog.Declaration) bool { return slices.Contains(imported, n.String()) })
		return tables
	}
	return before.Settings == now.Settings && reflect.DeepEqual(before.Shards, now.Shards) &&
		reflect.DeepEqual(before.Generators, now.Generators) && reflect.DeepEqual(others(before), others(now))
}
