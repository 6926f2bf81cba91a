package proxy

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"log/slog"
	"time"

	"locus/idgen/cipher"
	"locus/idgen/segment"
	"locus/proxy/backend"
	"locus/proxy/ddl"
	"locus/proxy/kept"
	"locus/proxy/session"
	"locus/proxy/sysvars"
	"locus/proxy/trace"
	"locus/proxy/twophase"
	"locus/proxy/txn"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
	"locus/router/live"
)

// Options configures a proxy. Fields without a default are required.
type Options struct {
	// Declared is the source of the cluster's documents (package cluster).
	Declared live.Source
	// Secrets looks up a password by the name of its secret.
	Secrets func(name string) (string, error)
	// Segments stores the last granted number of each sequence. Name is the name of this process, which is recorded with each
	// grant.
	Segments segment.KV
	Name     string
	// CounterStore returns the store of the counters of tables that are declared with a store, or with a Redis in front of the
	// counters. witness stores the same counters in etcd, under keys that begin with prefix. The store follows the cluster in
	// force. Nil: no IDs are issued for such tables.
	CounterStore func(declared func() *cluster.Cluster, sizes catalog.Segments, prefix string, witness *segment.CASStore) (segment.Store, error)
	// Generators implements NEXT VALUE FOR; nil: there are none.
	Generators session.Generators
	// Ring returns the keys that hide sequences in order numbers. If it returns nil, rows can't be inserted into tables with order
	// numbers. A later ring must be able to read everything that an earlier one can.
	Ring func() *cipher.Ring
	// KeyVersion is the first key version of new IDs; 0: it is not known until [Proxy.StampWith] is called.
	KeyVersion uint32
	// TLS and RSA identify the proxy to clients; nil TLS: connections are not encrypted.
	TLS *tls.Config
	RSA *rsa.PrivateKey
	// ServerVersion is the version that clients see; empty: the version of the first shard's server, with a suffix.
	ServerVersion string
	// NoLocalFiles withholds LOAD DATA LOCAL from clients.
	NoLocalFiles bool

	// Cluster is the cluster's name. A server may have XA branches of several clusters.
	Cluster string
	// Alive returns the names of the proxies that are known to be alive, including this one. Connections of a proxy that isn't
	// alive are ended if they keep a transaction in doubt. Nil: the proxies that are alive are not known.
	Alive func(ctx context.Context) ([]string, error)
	// Crashed ends branches that a crash of a shard's server has left in another state than its log records; see
	// [twophase.Options]. Nil: none are.
	Crashed func(ctx context.Context, shard router.ShardName, branches []twophase.Name, verdict func(twophase.Name) twophase.Verdict) error
	// RecoveryPatience is how long a prepared branch is left to the process that prepared it; default 10 s.
	RecoveryPatience time.Duration
	// Stop is called at named points of a commit over several shards, by tests.
	Stop func(point string)

	Backends         backend.Limits
	Stall            time.Duration // time after which a silent server counts as unresponsive; default 5 s
	Spanning         txn.Spanning
	MaxConnections   int           // clients at once; default 10,000
	MaxStatement     int           // bytes of one command; default 64 MiB
	SessionMemory    int64         // bytes that all sessions may keep from command to command; default 1 GiB
	MaxLoginPacket   int           // bytes before the login is complete; default 16 KiB
	LoginTimeout     time.Duration // default 10 s
	IdleTimeout      time.Duration // how long a client may be silent between commands; 0: no limit
	NetWriteTimeout  time.Duration // how long a client may read nothing of its answer; default 60 s
	NetReadTimeout   time.Duration // how long a client may send nothing within a command; default 30 s
	StatementTimeout time.Duration // time limit of a statement; 0: none
	SlowStatement    time.Duration // duration from which a statement is slow; 0: no statement is slow
	SchemaRefresh    time.Duration // interval between polls of the live tables; default 10 s
	DrainDelay       time.Duration // how long clients are still accepted after the proxy was asked to stop; default 0
	DrainTimeout     time.Duration // how long sessions may take to end when the proxy stops; default 10 s
	// Hurry is closed when the proxy must stop without waiting for sessions; nil: never.
	Hurry <-chan struct{}
	Fence Fence
	// Acknowledge notifies other processes of the version of the map that is obeyed: no statement and no transaction continues
	// under an older one. May be nil.
	Acknowledge func(version int64) error
	// AcknowledgePrimaries notifies other processes of the epochs of the shards' primaries that are obeyed: nothing is running at
	// held shards. May be nil.
	AcknowledgePrimaries func(epochs map[router.ShardName]int64)
	// Redefined makes all other proxies call [Proxy.RereadChanged] with the changes of a definition. The error
	// names those that haven't returned in time. If nil, the proxies poll the tables.
	Redefined func(ctx context.Context, change catalog.Change) error
	// Verified stores what proxies have read of the shards' schemas, for all of them. May be nil: this proxy reads the schemas
	// itself.
	Verified Verified
	// Settled is Redefined for [Proxy.Settle]. May be nil: there are no other proxies.
	Settled func(ctx context.Context, change catalog.Change) error
	// Renumbered makes all other proxies call [Proxy.Renumber]. The error names those that haven't returned in time. May be nil:
	// there are no other proxies.
	Renumbered func(ctx context.Context, counted catalog.Change) error
	// Save and Saved store and load the last documents, for a start while the source is unreachable.
	Save  func(values map[string][]byte, revision int64) error
	Saved func() (values map[string][]byte, revision int64, err error)
	// Virtual contains the tables of the schema locus; nil: there are none.
	Virtual sysvars.Virtual
	// Procedures contains the procedures of the schema locus; nil: there are none.
	Procedures session.Procedures
	// Declarations changes the documents that Declared reads; nil: nothing can be declared in SQL.
	Declarations ddl.Declarations
	// Made records a definition that at least one shard has made. It returns at once. May be nil.
	Made func(ddl.Made)
	// Renames renames declared tables in the same documents; nil: a table that is on every shard can't be renamed.
	Renames ddl.Renames
	// Applied waits until a job's stream has applied to its target everything that its source has logged by the time of the call.
	// It is used for mirrored reads whose answers differ. Nil: differences remain unsettled.
	Applied func(ctx context.Context, job string, from, to router.ShardName) error
	// Tracer selects the statements that are traced; nil: none are.
	Tracer *trace.Tracer
	Log    *slog.Logger
}

func (o Options) withDefaults() Options {
	orDefault(&o.MaxConnections, 10_000)
	orDefault(&o.MaxStatement, 64<<20)
	orDefault(&o.SessionMemory, kept.DefaultMemory)
	orDefault(&o.MaxLoginPacket, 16<<10)
	orDefault(&o.LoginTimeout, 10*time.Second)
	orDefault(&o.SchemaRefresh, 10*time.Second)
	orDefault(&o.DrainTimeout, 10*time.Second)
	orDefault(&o.NetWriteTimeout, 60*time.Second)
	orDefault(&o.NetReadTimeout, 30*time.Second)
	orDefault(&o.RecoveryPatience, 10*time.Second)
	o.Fence = o.Fence.withDefaults()
	if o.Ring == nil {
		o.Ring = func() *cipher.Ring { return nil }
	}
	if o.Log == nil {
		o.Log = slog.New(slog.DiscardHandler)
	}
	return o
}

func orDefault[T int | int64 | time.Duration](v *T, otherwise T) {
	if *v <= 0 {
		*v = otherwise
	}
}
