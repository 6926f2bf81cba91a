package snapshot

import (
	"locus/proxy/flavor"
	"locus/proxy/sysvars"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
	"locus/router/stmt"
)

// Snapshot is what a statement is planned and run against. It is immutable; a
// change replaces it whole. A session loads it once for each statement.
type Snapshot struct {
	Map     *router.Map
	Catalog *catalog.Catalog
	// Copies are the shards with rows, each of which has a whole copy of every global table; the first shard leads the list.
	Copies []router.ShardName
	// Plans are those made for this catalog.
	Plans *plan.Cache
	// Sets are the warnings of its shards; nil: they are not remembered.
	Sets *sysvars.SetWarnings
	// Accounts are those of the declared users; nil: everybody may do everything.
	Accounts map[string]*Account
	// Declared has the generators, and the shards that some take numbers from.
	Declared *cluster.Cluster
	// Mode is that of a session that has set none: the shards' global sql_mode, which is the same on all.
	Mode stmt.Mode
	// Charset and Collation are those of the shards' own choice, which sessions of MySQL go
	// back to; an empty Collation is the set's default.
	Charset, Collation string
	// Flavor is that of the shards, all of which run the same server.
	Flavor flavor.Flavor
}
