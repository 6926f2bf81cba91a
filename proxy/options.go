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

// Options are what a proxy is made of. Fields without a default are needed.
type Options struct {
	// Declared is the source of the cluster's documents (package cluster).
	Declared live.Source
	// Secrets looks up a password by the name it is declared under.
	Secrets func(name string) (string, error)
	// Segments keeps how far sequences are granted; Name says who took them.
	Segments segment.KV
	Name     string
	// CounterStore is the store of the counters of tables that are declared with one, or with a Redis in front: of those
	// of a witness, whose keys begin with a prefix. It follows the cluster in force. Nil: such tables have no IDs.
	CounterStore func(declared func() *cluster.Cluster, sizes catalog.Segments, prefix string, witness *segment.CASStore) (segment.Store, error)
	// Generators are for NEXT VALUE FOR; nil: there are none.
	Generators session.Generators
	// Ring gives the keys that hide sequences in order numbers; where there are none,
	// nil, tables with order numbers can't be inserted into. A later ring must read all
	// that an earlier one does.
	Ring func() *cipher.Ring
	// KeyVersion is the version that new IDs carry at first; 0: it is not known until
	// [Proxy.StampWith] tells.
	KeyVersion uint32
	// TLS and RSA are what the proxy proves itself with; nil TLS: no TLS.
	TLS *tls.Config
	RSA *rsa.PrivateKey
	// ServerVersion is told to clients; empty: the first shard's, marked.
	ServerVersion string
	// NoLocalFiles doesn't offer LOAD DATA LOCAL to clients.
	NoLocalFiles bool

	// Cluster is the cluster's name: servers may have branches of several.
	Cluster string
	// Alive names the proxies that are known to be alive, this one among them. Of
	// one that is not, the connections are ended that keep a transaction in doubt.
	// Nil: nobody can tell.
	Alive func(ctx context.Context) ([]string, error)
	// Crashed ends branches that a crash of a shard's server has left otherwise than its log has them, as [twophase.Options] has it. Nil: none.
	Crashed func(ctx context.Context, shard router.ShardName, branches []twophase.Name, verdict func(twophase.Name) twophase.Verdict) error
	// RecoveryPatience is how long a branch is left prepared to whoever prepared
	// it; default 10 s.
	RecoveryPatience time.Duration
	// Stop is called at named points of a commit over several shards, by tests.
	Stop func(point string)

	Backends         backend.Limits
	Stall            time.Duration // after which a silent server is frozen; default 5 s
	Spanning         txn.Spanning
	MaxConnections   int           // clients at once; default 10,000
	MaxStatement     int           // bytes of one command; default 64 MiB
	SessionMemory    int64         // bytes that all sessions may keep from command to command; default 1 GiB
	MaxLoginPacket   int           // bytes before the login is complete; default 16 KiB
	LoginTimeout     time.Duration // default 10 s
	IdleTimeout      time.Duration // of a client between commands; 0: none
	NetWriteTimeout  time.Duration // for which a client may read nothing of its answer; default 60 s
	NetReadTimeout   time.Duration // for which a client may send nothing in the middle of a command; default 30 s
	StatementTimeout time.Duration // after which a statement is ended; 0: none
	SlowStatement    time.Duration // from how long on one is slow; 0: none is
	SchemaRefresh    time.Duration // between looks at the live tables; default 10 s
	DrainDelay       time.Duration // for which clients are still taken once the proxy is to stop; default 0
	DrainTimeout     time.Duration // for sessions to end when the proxy stops; default 10 s
	// Hurry is closed when a drain is to end at once; nil: never.
	Hurry <-chan struct{}
	Fence Fence
	// Acknowledge tells others which version of the map is obeyed: no statement
	// and no transaction goes on by an older one. May be nil.
	Acknowledge func(version int64) error
	// AcknowledgePrimaries tells others which epochs of shards' primaries are obeyed:
	// nothing goes on at those that are held. Nil: nobody is told.
	AcknowledgePrimaries func(epochs map[router.ShardName]int64)
	// Redefined makes all proxies call RereadChanged with what a definition has changed. The error names those that haven't
	// returned in time. May be nil: they poll the tables.
	Redefined func(ctx context.Context, change catalog.Change) error
	// Verified makes the proxies share what they read of the shards' schemas. May be nil: this one reads for itself.
	Verified Verified
	// Settled is Redefined of [Proxy.Settle]. May be nil: there are no other proxies.
	Settled func(ctx context.Context, change catalog.Change) error
	// Renumbered makes all other proxies call [Proxy.Renumber]. The error names those that haven't returned in time. May be nil:
	// there are no other proxies.
	Renumbered func(ctx context.Context, counted catalog.Change) error
	// Save and Saved keep the last documents for a start without the source.
	Save  func(values map[string][]byte, revision int64) error
	Saved func() (values map[string][]byte, revision int64, err error)
	// Virtual is the tables of the schema locus; nil: there are none.
	Virtual sysvars.Virtual
	// Procedures are those of the schema locus; nil: there are none.
	Procedures session.Procedures
	// Declarations are where Declared comes from; nil: nothing is declared in SQL.
	Declarations ddl.Declarations
	// Renames are where Declared comes from too; nil: no table that is on every shard is renamed.
	Renames ddl.Renames
	// Applied waits until the stream of a job has applied at its target what its source has logged by now: for mirrored
	// reads whose answers differ. Nil: what differs is unsettled.
	Applied func(ctx context.Context, job string, from, to router.ShardName) error
	// Tracer decides what is traced; nil: nothing is.
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
