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

// Hash names how this build makes a gene of an owner. It is recorded with the
// cluster, because another hash would contradict every stored row.
const Hash = "xxhash64^murmur64"

// Cluster is a declared cluster. Whoever has changed one calls
// [Cluster.Validate] before it is used; those that Parse and Decode give are
// valid. It is not changed after that, and then safe for concurrent use.
type Cluster struct {
	Settings Settings
	Shards   map[router.ShardName]Shard
	// Primaries are of the shards with several servers. No file has them: they are
	// changed by switchovers alone.
	Primaries map[router.ShardName]Primary
	Tables    map[catalog.TableName]catalog.Declaration
	// Renaming are tables that are being renamed, by their new names the former ones; Counters, by the names of
	// tables that were, the names under which their IDs are counted. No file has them: nil is those of the
	// cluster before.
	Renaming, Counters map[catalog.TableName]catalog.TableName
	Users              map[string]User
	// Generators are sources of numbers by name, for SQL and HTTP.
	Generators map[string]Generator
	// Routes is the route map. Its version counts within a cluster that is in
	// etcd; a file has none, and Parse gives 1.
	Routes *router.Map
	// Stamp says who made this version of the map.
	Stamp router.Stamp

	// Unreadable are the stored documents that this build can't use, by key relative to [Prefix]. A change leaves them as
	// they are. What needs them is refused, and everything else goes on. No file has them.
	Unreadable map[string]Unreadable
	// Refused are the tables that no statement may use because of such a document, and why. None of them is in Tables.
	Refused map[catalog.TableName]string
	// Unrouted is why the route map can't be known. Routes then give every gene to a shard that can't be reached.
	Unrouted string
}

// Settings are what all processes of a cluster must agree on.
type Settings struct {
	GeneBits gene.Width `yaml:"gene_bits"` // 16 unless said otherwise; fixed once rows are stored
	Hash     string     `yaml:"hash"`
	// CounterGroups is how many counters the genes share.
	CounterGroups int `yaml:"counter_groups"`
	// DefaultShard has every database and table that nobody declared: the first
	// shard, unless said otherwise.
	DefaultShard router.ShardName `yaml:"default_shard"`
}

// TLS is how a connection to a shard's server is protected.
type TLS = endpoint.TLS

const (
	TLSOff    = endpoint.TLSOff
	TLSOn     = endpoint.TLSOn
	TLSVerify = endpoint.TLSVerify
)

// Shard is a database server, or several of which one is written to.
type Shard struct {
	// Unreadable is why the shard can't be reached: a document about it can't be used. The other fields are empty then.
	Unreadable string `yaml:"-"`
	// Address is host:port of the server that is written to. With Servers it is the
	// one that the shard's [Primary] names, and no field of a file.
	Address string `yaml:"address,omitempty"`
	// Servers are all of them, in place of Address and Replicas.
	Servers []string `yaml:"servers,omitempty,flow"`
	// Failover says who makes another server the primary while this one is away.
	Failover Failover `yaml:"failover,omitempty"`
	// FailoverAfter is a duration such as 3s: for how long most proxies don't reach the primary
	// before locus promotes another server; empty is 3s. With FailoverPromote alone.
	FailoverAfter string `yaml:"failover_after,omitempty"`
	// StaleReads lets plain reads outside of transactions go on while etcd does not confirm the primary. They are marked as possibly
	// stale. For [Shard.Leased] shards alone.
	StaleReads bool `yaml:"stale_reads,omitempty"`
	// Admin is the account by which servers change roles; nobody else uses it.
	Admin  Admin  `yaml:"admin,omitempty"`
	User   string `yaml:"user"`
	Secret string `yaml:"secret"` // the name under which a process looks up the password
	TLS    TLS    `yaml:"tls"`
	// CA is the name of the secret with the PEM authorities that TLSVerify
	// trusts; empty means the system's.
	CA string `yaml:"ca,omitempty"`
	// MaxConnections of one proxy; 0 is what the proxy's configuration says.
	MaxConnections int `yaml:"max_connections,omitempty"`
	// Replicas are servers that follow this one, for reads that may be late: with
	// the same user, secret and TLS. With Servers they are all but the primary.
	Replicas []Replica `yaml:"replicas,omitempty"`
	// MaxReplicaLag is a duration such as 2s, beyond which the primary is read;
	// empty is 5s.
	MaxReplicaLag string `yaml:"max_replica_lag,omitempty"`
}

// Replica is a server that follows a shard's.
type Replica struct {
	Address string `yaml:"address"` // host:port
}

// Lag is MaxReplicaLag; 0 if it isn't given.
func (s Shard) Lag() time.Duration {
	d, _ := time.ParseDuration(s.MaxReplicaLag) // Validate has looked
	return d
}

// User is an account that may log in to the proxy. One of the two fields is set.
type User struct {
	Secret string `yaml:"secret,omitempty"` // the name under which a proxy looks up the password
	// AuthenticationString is what a MySQL server keeps of a password: "*" and
	// 40 hex digits, or "$A$005$…".
	AuthenticationString string `yaml:"authentication_string,omitempty"`
	// TLS demands an encrypted login.
	TLS UserTLS `yaml:"tls,omitempty"`
	// Databases, and tables as database.table, are all that the user may use;
	// without any the user may use all.
	Databases []string `yaml:"databases,omitempty,flow"`
	Tables    []string `yaml:"tables,omitempty,flow"`
	ReadOnly  bool     `yaml:"read_only,omitempty"`
	// DDL is false for who may not define; left out it is true.
	DDL *bool `yaml:"ddl,omitempty"`
	// Scatter is about reads of several shards.
	Scatter Guard `yaml:"scatter,omitempty"`
	// ScatterWrites is about changes of rows on several shards that name no key;
	// left out they are refused.
	ScatterWrites Guard `yaml:"scatter_writes,omitempty"`
	// Unfiltered is about UPDATE and DELETE without WHERE, of any table.
	Unfiltered Guard `yaml:"unfiltered,omitempty"`
	// LargeOffset is about reads of several shards that skip many rows.
	LargeOffset Guard `yaml:"large_offset,omitempty"`
	// GatherRows and GatherMiB bound what is gathered for one statement; 0 is what
	// everybody may. LargeGather is about statements that gather more; left out they
	// are refused.
	GatherRows  int64 `yaml:"gather_rows,omitempty"`
	GatherMiB   int64 `yaml:"gather_mib,omitempty"`
	LargeGather Guard `yaml:"large_gather,omitempty"`
	// MaxConnections at one proxy; 0 is no limit but the proxy's.
	MaxConnections int `yaml:"max_connections,omitempty"`
	// StatementTimeout is a duration such as 30s; empty is the proxy's, 0s is none.
	StatementTimeout string `yaml:"statement_timeout,omitempty"`
	// SlowStatement is from how long on a statement is slow; empty is the proxy's.
	SlowStatement string `yaml:"slow_statement,omitempty"`
	// Read is where reads outside of transactions go that may be late.
	Read ReadFrom `yaml:"read,omitempty"`
	// Admin may end the sessions of others.
	Admin bool `yaml:"admin,omitempty"`
}

// UserTLS says whether a login must be encrypted.
type UserTLS string

const (
	TLSOptional UserTLS = "optional" // as is one that is empty
	TLSRequired UserTLS = "required"
)

// Guard says what becomes of a statement that is allowed and dear.
type Guard string

const (
	GuardAllow  Guard = "allow" // as is one that is empty
	GuardWarn   Guard = "warn"
	GuardRefuse Guard = "refuse"
)

// ReadFrom is the first value of locus_read in a user's sessions.
type ReadFrom string

const (
	ReadPrimary ReadFrom = "primary" // as is one that is empty
	ReadReplica ReadFrom = "replica"
	// ReadSession is a replica that has all that the session has written.
	ReadSession ReadFrom = "session"
)

// Timeout is StatementTimeout; nil for the proxy's.
func (u User) Timeout() *time.Duration {
	if u.StatementTimeout == "" {
		return nil
	}
	d, _ := time.ParseDuration(u.StatementTimeout) // Validate has looked
	return &d
}

// Slow is SlowStatement; 0 for the proxy's.
func (u User) Slow() time.Duration {
	d, _ := time.ParseDuration(u.SlowStatement) // Validate has looked
	return d
}

// ShardNames gives the declared shards, with and without genes, in natural order.
func (c *Cluster) ShardNames() []router.ShardName {
	return slices.SortedFunc(maps.Keys(c.Shards), router.ShardName.Compare)
}

// TableNames gives the declared tables in the order of their names.
func (c *Cluster) TableNames() []catalog.TableName {
	return slices.SortedFunc(maps.Keys(c.Tables), catalog.TableName.Compare)
}

// UserNames gives the accounts in the order of their names.
func (c *Cluster) UserNames() []string { return slices.Sorted(maps.Keys(c.Users)) }

// GeneratorNames are sorted.
func (c *Cluster) GeneratorNames() []string { return slices.Sorted(maps.Keys(c.Generators)) }

// withDefaults fills in what a document may leave out.
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
