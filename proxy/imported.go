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

// useFound sets w's catalog to the objects that the last read of the shards found, checked against the new
// declarations, and reports whether it could. While an import changes the declarations of its tables,
// statements on them are paused, and reading all shards again would take longer than all other steps. The
// shards must be read if anything else is declared differently, or if a request to read them is pending.
func (b *builder) useFound(w *state) bool {
	if b.found == nil || !b.requests.empty() || !onlyImportDiffers(b.last.declared, w.declared) {
		return false
	}
	found := b.found.Declared(w.declared, b.last.snapshot.Catalog)
	for _, text := range w.declared.Routes.Importing() {
		if name, err := catalog.ParseTableName(text); err != nil || found.Broken(name) && w.declared.Tables[name].Kind != catalog.Outside {
			return false // the shards may have the table by now
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

// onlyImportDiffers reports whether two clusters differ only in the declarations of tables of one import that is in progress in
// both.
func onlyImportDiffers(before, now *cluster.Cluster) bool {
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
