package cluster

import (
	"maps"
	"slices"
	"time"

	"locus/idgen/gene"
	"locus/router"
	"locus/router/catalog"
	"locus/router/endpoint"
)

// Schema is the version of the documents that this build writes and reads.
const Schema = 1

// Hash is the name of the function by which this build computes a gene from an owner. It is recorded with the cluster, because another hash
// would contradict every stored row.
const Hash = "xxhash64^murmur64"

// Cluster is a declared cluster. Code that has changed one calls [Cluster.Validate] before using it. Those that Parse and Decode return are
// valid. After that it must not be changed, so it is safe for concurrent use.
type Cluster struct {
	Settings Settings
	Shards   map[router.ShardName]Shard
	// Primaries are the primaries of the shards with several servers. They are not part of a file: only switchovers and
	// failovers change them.
	Primaries map[router.ShardName]Primary
	Tables    map[catalog.TableName]catalog.Declaration
	// Renaming maps the new names of tables that are being renamed to their old names. Counters maps the names of renamed
	// tables to the names under which their IDs are counted. Neither is part of a file: if one is nil, [Succeed] uses the
	// previous cluster's.
	Renaming, Counters map[catalog.TableName]catalog.TableName
	Users              map[string]User
	// Generators are sources of numbers by name, for SQL and HTTP.
	Generators map[string]Generator
	// Routes is the route map. A cluster in etcd has the version of its map. A file has no version, and Parse sets 1. It is
	// nil if the file has no routes.
	Routes *router.Map
	// Stamp is the author, time and reason of this version of the map.
	Stamp router.Stamp

	// Unreadable are the stored documents that this build can't use, by key relative to [Prefix]. A change keeps them as they are. Statements
	// that need them are refused, and everything else works. They are not part of a file.
	Unreadable map[string]Unreadable
	// Refused maps the tables that no statement may use because of such a document to the reason. None of them is in Tables.
	Refused map[catalog.TableName]string
	// Unrouted is the reason why the route map is unknown; empty: it is known. If it is set, Routes assigns every gene to a shard that can't be
	// reached.
	Unrouted string
}

// Settings are the settings on which all processes of a cluster must agree.
type Settings struct {
	GeneBits gene.Width `yaml:"gene_bits"` // 16 by default; fixed once rows are stored
	Hash     string     `yaml:"hash"`
	// CounterGroups is the number of counters that the genes share.
	CounterGroups int `yaml:"counter_groups"`
	// DefaultShard has every database and table that is not declared. The default is the first shard.
	DefaultShard router.ShardName `yaml:"default_shard"`
	// RotateKeysEvery is a number of days such as 90d, after which the key that hides new IDs should be replaced. Empty is never.
	RotateKeysEvery string `yaml:"rotate_keys_every,omitempty"`
}

// TLS is the protection of a connection to a shard's server.
type TLS = endpoint.TLS

const (
	TLSOff    = endpoint.TLSOff
	TLSOn     = endpoint.TLSOn
	TLSVerify = endpoint.TLSVerify
)

// Shard is a database server, or several servers of which one is the primary.
type Shard struct {
	// Unreadable is the reason why the shard can't be reached: a document about it can't be used. The other fields are empty then.
	Unreadable string `yaml:"-"`
	// Address is host:port of the server that receives writes. If Servers is set, it is the server in the shard's [Primary], and not a field of a
	// file.
	Address string `yaml:"address,omitempty"`
	// Servers are all servers of the shard. They replace Address and Replicas.
	Servers []string `yaml:"servers,omitempty,flow"`
	// Failover defines how another server becomes the primary while this one is down.
	Failover Failover `yaml:"failover,omitempty"`
	// FailoverAfter is a duration such as 3s. If most proxies can't reach the primary for that long, locus promotes another server. Empty is 3s.
	// It is used with FailoverPromote only.
	FailoverAfter string `yaml:"failover_after,omitempty"`
	// StaleReads allows plain reads outside of transactions while etcd does not confirm the primary. These reads are marked as possibly stale. It
	// is used for [Shard.Leased] shards only.
	StaleReads bool `yaml:"stale_reads,omitempty"`
	// Admin is the account that changes the roles of servers. Nothing else uses it.
	Admin  Admin  `yaml:"admin,omitempty"`
	User   string `yaml:"user"`
	Secret string `yaml:"secret"` // the name under which a process looks up the password
	TLS    TLS    `yaml:"tls"`
	// CA is the name of the secret with the certificate authorities in PEM that TLSVerify trusts. If it is empty, the system's are trusted.
	CA string `yaml:"ca,omitempty"`
	// MaxConnections limits the connections of one proxy; 0 is the value of the proxy's configuration.
	MaxConnections int `yaml:"max_connections,omitempty"`
	// Replicas are servers that replicate this one, for reads that may be stale. They use the same user, secret and TLS. If Servers is set, they
	// are all servers but the primary.
	Replicas []Replica `yaml:"replicas,omitempty"`
	// MaxReplicaLag is a duration such as 2s. If a replica lags more, the primary is read. Empty is 5s.
	MaxReplicaLag string `yaml:"max_replica_lag,omitempty"`
}

// Replica is a server that replicates a shard's primary.
type Replica struct {
	Address string `yaml:"address"` // host:port
}

// Lag returns MaxReplicaLag, or 0 if it isn't set.
func (s Shard) Lag() time.Duration {
	d, _ := time.ParseDuration(s.MaxReplicaLag) // Validate has checked it
	return d
}

// User is an account that may log in to the proxy. One of the two fields is set.
type User struct {
	Secret string `yaml:"secret,omitempty"` // the name under which a proxy looks up the password
	// AuthenticationString is the form in which a MySQL server stores a password: "*" and 40 hex digits, or "$A$005$…".
	AuthenticationString string `yaml:"authentication_string,omitempty"`
	// TLS is whether the login must be encrypted.
	TLS UserTLS `yaml:"tls,omitempty"`
	// Databases, and Tables as database.table, are all that the user may access. If both are empty, the user may access everything.
	Databases []string `yaml:"databases,omitempty,flow"`
	Tables    []string `yaml:"tables,omitempty,flow"`
	ReadOnly  bool     `yaml:"read_only,omitempty"`
	// DDL is false if the user must not send definitions. The default is true.
	DDL *bool `yaml:"ddl,omitempty"`
	// Scatter is the guard of reads from several shards.
	Scatter Guard `yaml:"scatter,omitempty"`
	// ScatterWrites is the guard of changes of rows on several shards that name no key. By default they are refused.
	ScatterWrites Guard `yaml:"scatter_writes,omitempty"`
	// Unfiltered is the guard of UPDATE and DELETE without WHERE, on any table.
	Unfiltered Guard `yaml:"unfiltered,omitempty"`
	// LargeOffset is the guard of reads from several shards that skip many rows.
	LargeOffset Guard `yaml:"large_offset,omitempty"`
	// GatherRows and GatherMiB limit the rows that are gathered for one statement. 0 is the limit for all users. LargeGather
	// determines whether statements that gather more are refused, which is the default.
	GatherRows  int64 `yaml:"gather_rows,omitempty"`
	GatherMiB   int64 `yaml:"gather_mib,omitempty"`
	LargeGather Guard `yaml:"large_gather,omitempty"`
	// MaxConnections limits the user's connections to one proxy; 0 is no limit but the proxy's.
	MaxConnections int `yaml:"max_connections,omitempty"`
	// StatementTimeout is a duration such as 30s; empty is the proxy's, 0s is no timeout.
	StatementTimeout string `yaml:"statement_timeout,omitempty"`
	// SlowStatement is the duration from which a statement is slow; empty is the proxy's.
	SlowStatement string `yaml:"slow_statement,omitempty"`
	// Read is the kind of server for reads outside of transactions that may be stale.
	Read ReadFrom `yaml:"read,omitempty"`
	// Admin users may end the sessions of others.
	Admin bool `yaml:"admin,omitempty"`
}

// UserTLS is whether a login must be encrypted.
type UserTLS string

const (
	TLSOptional UserTLS = "optional" // the empty value means this, too
	TLSRequired UserTLS = "required"
)

// Guard is the treatment of a statement that is allowed and expensive.
type Guard string

const (
	GuardAllow  Guard = "allow" // the empty value means this, too
	GuardWarn   Guard = "warn"
	GuardRefuse Guard = "refuse"
)

// ReadFrom is the initial value of locus_read in a user's sessions.
type ReadFrom string

const (
	ReadPrimary ReadFrom = "primary" // the empty value means this, too
	ReadReplica ReadFrom = "replica"
	// ReadSession is a replica that has applied everything that the session has written.
	ReadSession ReadFrom = "session"
)

// Timeout returns StatementTimeout, or nil for the proxy's.
func (u User) Timeout() *time.Duration {
	if u.StatementTimeout == "" {
		return nil
	}
	d, _ := time.ParseDuration(u.StatementTimeout) // Validate has checked it
	return &d
}

// Slow returns SlowStatement, or 0 for the proxy's.
func (u User) Slow() time.Duration {
	d, _ := time.ParseDuration(u.SlowStatement) // Validate has checked it
	return d
}

// ShardNames returns the names of the declared shards, with and without genes, in natural order.
func (c *Cluster) ShardNames() []router.ShardName {
	return slices.SortedFunc(maps.Keys(c.Shards), router.ShardName.Compare)
}

// TableNames returns the names of the declared tables, sorted.
func (c *Cluster) TableNames() []catalog.TableName {
	return slices.SortedFunc(maps.Keys(c.Tables), catalog.TableName.Compare)
}

// UserNames returns the names of the accounts, sorted.
func (c *Cluster) UserNames() []string { return slices.Sorted(maps.Keys(c.Users)) }

// GeneratorNames returns the names of the generators, sorted.
func (c *Cluster) GeneratorNames() []string { return slices.Sorted(maps.Keys(c.Generators)) }

// withDefaults returns the settings with defaults for omitted ones.
func (s Settings) withDefaults(shards []router.ShardName) Settings {
	if s.GeneBits == 0 {
		s.GeneBits = gene.W16
	}
	if s.Hash == "" {
		s.Hash = Hash
	}
	if s.CounterGroups == 0 {
		s.CounterGroups = 256
	}
	if s.DefaultShard == "" && len(shards) > 0 {
		s.DefaultShard = shards[0]
	}
	return s
}

func (s Shard) withDefaults() Shard {
	if s.TLS == "" {
		s.TLS = TLSOff
	}
	return s
}
