package console

import (
	"context"
	"time"

	"locus/config/etcd"
	"locus/control/events"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/ops"
	"locus/control/overview"
	"locus/control/watch"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/router"
	"locus/router/cluster"
)

// Cluster is the cluster's shared state and the combined knowledge of its processes.
type Cluster interface {
	watch.Source
	Fleet
	Ground
}

// Fleet queries the proxies for their counters.
type Fleet interface {
	// Cards returns the cards of running proxies, by ID.
	Cards(context.Context) ([]fleet.Card, error)
	// Beats returns the proxies' current figures. Answers no older than fresh may be reused.
	Beats(ctx context.Context, fresh time.Duration) (fleet.Answers[fleet.Beat], error)
	// Notes returns what other processes and operators have recorded about the cluster's state.
	Notes(context.Context) (overview.Notes, error)
	Statements(context.Context) (fleet.Cost, error)
	// Digest returns all figures of one digest.
	Digest(ctx context.Context, database, hash string) (fleet.DigestCost, error)
	// Sessions returns the clients' sessions at all proxies, the busiest first.
	Sessions(context.Context) (fleet.SessionList, error)
	Generators(context.Context) (fleet.Answers[[]generators.Report], error)
	// Mirrored returns the results of mirrored reads, by move and by proxy.
	Mirrored(context.Context) (map[string]map[string]mirror.Report, error)
	// Timeline returns a page of the cluster's events.
	Timeline(context.Context, events.Query) (events.Page, error)
	// Differences returns the differing rows of a job that failed its verification.
	Differences(ctx context.Context, id string) (job.Differences, error)
	// Load returns the statements per second by gene.
	Load(context.Context, gene.Width) (*meter.Loads, error)
}

// Ground is the infrastructure below the proxies.
type Ground interface {
	// Members queries etcd's members.
	Members(context.Context) []etcd.Health
	// Examine runs the checks of locus doctor, and keeps their report for all processes.
	Examine(context.Context) error
	// Rows returns the approximate number of each shard's rows in sharded tables.
	Rows(context.Context) (map[router.ShardName]float64, error)
	// TableSizes returns the sizes of a shard's tables.
	TableSizes(ctx context.Context, shard router.ShardName) ([]ops.TableSize, error)
	// Explain returns a shard's plan for a statement, which does not run. Reads is true for a SELECT.
	Explain(ctx context.Context, shard router.ShardName, database, sql string, reads bool) (ops.ServerPlan, error)
	// Routes returns the versions of the route map, oldest first.
	Routes(context.Context) ([]cluster.Version, error)
}
