package cluster

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
)

// Prefixes relative to the cluster's prefix.
const (
	// Prefix is the prefix of the keys of the declaration. No other key has it.
	Prefix        = "declared/"
	HistoryPrefix = "history/"
	ProxyPrefix   = "proxies/"
	// ProcessPrefix is the prefix of the keys of processes that are not proxies. It is a separate one, so that code that waits for all proxies
	// doesn't wait for them.
	ProcessPrefix = "processes/"
	SegmentPrefix = "segments/"
)

// Keys of documents, relative to [Prefix]. Those that end in a slash are prefixes of many keys.
const (
	SettingsKey = "settings"
	MapKey      = "map"
	ShardPrefix = "shards/"
	// PrimaryPrefix is the prefix of the keys of the shards' primaries.
	PrimaryPrefix = "primaries/"
	TablePrefix   = "tables/"
	UserPrefix    = "users/"

	GeneratorPrefix = "generators/"

	// RenamingPrefix is the prefix of the keys of tables that are being renamed. CountersPrefix is the prefix of the keys of
	// tables that were renamed.
	RenamingPrefix = "renaming/"
	CountersPrefix = "counters/"
)

// ShardKey returns the key of a shard's declaration.
func ShardKey(name router.ShardName) string { return ShardPrefix + string(name) }

// PrimaryKey returns the key of a shard's [Primary].
func PrimaryKey(name router.ShardName) string { return PrimaryPrefix + string(name) }

// TableKey returns the key of a table's declaration.
func TableKey(name catalog.TableName) string { return TablePrefix + name.Key() }

// RenamingKey returns the key of the old name of a table that is being renamed. name is its new name.
func RenamingKey(name catalog.TableName) string { return RenamingPrefix + name.Key() }

// CountersKey returns the key of the name under which the IDs of a renamed table are counted.
func CountersKey(name catalog.TableName) string { return CountersPrefix + name.Key() }

// GeneratorKey returns the key of a generator's declaration.
func GeneratorKey(name string) string { return GeneratorPrefix + name }

// CounterPrefix returns the prefix of the keys of the counters of a table's IDs, relative to [SegmentPrefix]. IDs that continue in another
// layout have counters of their own. wide is zero for the IDs of the first layout.
func CounterPrefix(table catalog.TableName, wide orderid.Layout) string {
	if wide.IsZero() {
		return table.Key() + "/"
	}
	return table.Key() + "/" + wide.Name() + "/"
}

// NumberCounter is the name of the counter of a table's AUTO_INCREMENT column among the table's counters.
const NumberCounter = "auto_increment"

// UserKey returns the key of a user's declaration.
func UserKey(name string) string { return UserPrefix + name }

// HistoryKey returns the key of a version of the route map, relative to the cluster's prefix. The keys sort by version.
func HistoryKey(version int64) string { return fmt.Sprintf("%s%010d", HistoryPrefix, version) }

// Holder returns the name of a proxy on the servers: in the marks of its connections, and in the names of its transactions. It has 16
// hexadecimal digits.
func Holder(proxy string) string { return fmt.Sprintf("%016x", xxhash.Sum64String(proxy)) }

// ConnectionMark returns the first part of the name of the lock by which a proxy marks a connection to a shard as its own. The connection's ID
// on the server follows. A lock ends with its connection, so a connection without such a lock belongs to no proxy.
func ConnectionMark(proxy string) string { return HolderMark(Holder(proxy)) }

// NoProxy replaces a proxy's name in the marks of connections that carry no client's statement: connections of generators, and
// of processes that accept no clients. A move has no reason to end them.
const NoProxy = "none"

// MarkedBy returns an SQL expression for the connection that holds the lock whose name is mark and p.ID. It equals p.ID if that connection is
// marked so. Marks need no quoting.
func MarkedBy(mark string) string { return "IS_USED_LOCK(CONCAT('" + mark + "', p.ID))" }

// HolderMark is [ConnectionMark] for a proxy with this [Holder].
func HolderMark(holder string) string { return "locus:" + holder + ":" }
