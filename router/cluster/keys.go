package cluster

import (
	"fmt"

	"github.com/cespare/xxhash/v2"

	"locus/idgen/orderid"
	"locus/router"
	"locus/router/catalog"
)

// Prefixes relative to the cluster's.
const (
	// Prefix begins the keys of everything that is declared, and of nothing else.
	Prefix        = "declared/"
	HistoryPrefix = "history/"
	ProxyPrefix   = "proxies/"
	// ProcessPrefix begins the keys of processes that are no proxies: apart, so that
	// nobody waits for them who waits for the proxies.
	ProcessPrefix = "processes/"
	SegmentPrefix = "segments/"
)

// Keys of documents, relative to [Prefix]. Those that end in a slash begin the
// keys of many.
const (
	SettingsKey = "settings"
	MapKey      = "map"
	ShardPrefix = "shards/"
	// PrimaryPrefix begins the keys of which server of a shard is the primary.
	PrimaryPrefix = "primaries/"
	TablePrefix   = "tables/"
	UserPrefix    = "users/"

	GeneratorPrefix = "generators/"

	// RenamingPrefix and CountersPrefix begin the keys of tables that are being renamed, and that were.
	RenamingPrefix = "renaming/"
	CountersPrefix = "counters/"
)

// ShardKey is where a shard is declared.
func ShardKey(name router.ShardName) string { return ShardPrefix + string(name) }

// PrimaryKey is where it is told which server of a shard is the primary.
func PrimaryKey(name router.ShardName) string { return PrimaryPrefix + string(name) }

// TableKey is where a table is declared.
func TableKey(name catalog.TableName) string { return TablePrefix + name.Key() }

// RenamingKey is where it is told, by a table's new name, what it is renamed from.
func RenamingKey(name catalog.TableName) string { return RenamingPrefix + name.Key() }

// CountersKey is where it is told under which name a table's IDs are counted that was renamed.
func CountersKey(name catalog.TableName) string { return CountersPrefix + name.Key() }

// GeneratorKey is where a generator is declared.
func GeneratorKey(name string) string { return GeneratorPrefix + name }

// CounterPrefix begins the keys of the counters of a table's IDs, relative to
// [SegmentPrefix]. IDs that go on in another layout have counters of their own; wide
// is zero for those of the table's first.
func CounterPrefix(table catalog.TableName, wide orderid.Layout) string {
	if wide.IsZero() {
		return table.Key() + "/"
	}
	return table.Key() + "/" + wide.Name() + "/"
}

// NumberCounter is, among a table's counters, that of its AUTO_INCREMENT column.
const NumberCounter = "auto_increment"

// UserKey is where a user is declared.
func UserKey(name string) string { return UserPrefix + name }

// HistoryKey is where a version of the route map is kept, relative to the
// cluster's prefix; the order of the keys is that of the versions.
func HistoryKey(version int64) string { return fmt.Sprintf("%s%010d", HistoryPrefix, version) }

// Holder is what a proxy is called where servers know of it: in the marks of its
// connections, and in the names of its transactions. 16 hexadecimal digits.
func Holder(proxy string) string { return fmt.Sprintf("%016x", xxhash.Sum64String(proxy)) }

// ConnectionMark begins the name of the lock by which a proxy marks a connection
// to a shard as its own; the connection's number at the server follows. Locks end
// with their connections, so who has none is nobody's.
func ConnectionMark(proxy string) string { return HolderMark(Holder(proxy)) }

// NoProxy stands for a proxy's name in the marks of connections that no client's
// statement goes over: a generator's, and those of processes that take no clients. A
// move has no reason to end them.
const NoProxy = "none"

// MarkedBy is SQL for the connection that holds the lock of that name with p.ID
// behind it: p.ID's own, if it is marked so. Marks need no quoting.
func MarkedBy(mark string) string { return "IS_USED_LOCK(CONCAT('" + mark + "', p.ID))" }

// HolderMark is [ConnectionMark] by what the proxy is called.
func HolderMark(holder string) string { return "locus:" + holder + ":" }
