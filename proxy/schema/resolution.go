package schema

import (
	"maps"
	"reflect"
	"slices"

	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// resolution is the result of [resolve] for a table, with all its inputs.
type resolution struct {
	table    *catalog.Table
	warnings []error
	err      error

	declared   catalog.Declaration
	counters   catalog.TableName
	renames    []catalog.Rename
	settings   cluster.Settings
	generators map[string]cluster.Generator // generators of the table's stamped columns
	live       map[router.ShardName]*liveTable
}

// resolution returns the known resolution of a table if its inputs are the same, or a new one. A nil Found knows none.
func (f *Found) resolution(name catalog.TableName, c *cluster.Cluster, servers map[router.ShardName]*server) *resolution {
	now := &resolution{
		declared: c.Tables[name], counters: c.CountersOf(name), renames: c.RenamesWith(name), settings: c.Settings,
		generators: map[string]cluster.Generator{}, live: make(map[router.ShardName]*liveTable, len(servers)),
	}
	for _, g := range now.declared.Stamped {
		now.generators[g] = c.Generators[g]
	}
	for shard, s := range servers {
		now.live[shard] = s.tables[name]
	}
	if f != nil && f.resolved[name].equalInputs(now) {
		return f.resolved[name]
	}
	now.table, now.warnings, now.err = resolve(name, c, servers)
	return now
}

// equalInputs reports whether two resolutions of a table have the same inputs, and so the same result. It is false for a nil resolution. Tables
// that were not read again are identical pointers.
func (r *resolution) equalInputs(other *resolution) bool {
	return r != nil && maps.Equal(r.live, other.live) && r.settings == other.settings && r.counters == other.counters &&
		slices.Equal(r.renames, other.renames) && reflect.DeepEqual(r.declared, other.declared) && reflect.DeepEqual(r.generators, other.generators)
}
