package snapshot

import (
	"time"

	"locus/proxy/flavor"
	"locus/proxy/sysvars"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/plan"
	"locus/router/stmt"
)

// Snapshot is the state that a statement is planned and run against. It is immutable; a change replaces it as a whole. A session
// loads it once for each statement.
type Snapshot struct {
	Map     *router.Map
	Catalog *catalog.Catalog
	// Copies contains the shards with rows, each of which has a full copy of every global table. The first shard comes first.
	Copies []router.ShardName
	// Plans caches the plans made for this catalog.
	Plans *plan.Cache
	// Sets caches the shards' warnings of SET; nil disables the cache.
	Sets *sysvars.SetWarnings
	// Accounts contains the accounts of the declared users; nil means that every user has all rights.
	Accounts map[string]*Account
	// Declared contains the generators, and the shards from which some of them take numbers.
	Declared *cluster.Cluster
	// Settling contains the broken tables that another session may be declaring, and the time when that must have ended.
	Settling map[catalog.TableName]time.Time
	// Mode is the sql_mode of sessions that have set none: the shards' global sql_mode, which is equal on all.
	Mode stmt.Mode
	// Charset and Collation are the shards' defaults, to which sessions of MySQL return. An empty Collation means the
	// character set's default.
	Charset, Collation string
	// Flavor is the flavor of the shards' servers, which is the same on all.
	Flavor flavor.Flavor
}
