package console

import (
	"context"
	"time"

	"locus/config/etcd"
	"locus/control/doctor"
	"locus/control/fleet"
	"locus/control/generators"
	"locus/control/orders"
	"locus/control/watch"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/proxy/meter"
	"locus/proxy/mirror"
	"locus/router"
	"locus/router/cluster"
)

// Cluster is what the cluster's processes share, and know together.
type Cluster interface {
	watch.Source
	Fleet
	Ground
}

// Fleet is the proxies, which are asked what they have counted.
type Fleet interface {
	// Cards is those that live, by their IDs.
	Cards(context.Context) ([]fleet.Card, error)
	// Beats is how they do; answers that are no older than fresh will do.
	Beats(ctx context.Context, fresh time.Duration) (fleet.Answers[fleet.Beat], error)
	Statements(context.Context) (fleet.Cost, error)
	Generators(context.Context) (fleet.Answers[[]generators.Report], error)
	// Mirrored is what mirrored reads of moving genes have shown, by move and by proxy.
	Mirrored(context.Context) (map[string]map[string]mirror.Report, error)
	// Load is the statements per second by gene.
	Load(context.Context, gene.Width) (*meter.Loads, error)
}

// Ground is what the proxies stand on.
type Ground interface {
	// Members asks those of etcd.
	Members(context.Context) []etcd.Health
	Examine(context.Context) (doctor.Report, error)
	// Rows is about how many rows each shard has of the tables whose rows have genes.
	Rows(context.Context) (map[router.ShardName]float64, error)
	// Routes is the maps that there were, the oldest first.
	Routes(context.Context) ([]cluster.Version, error)
}

// Orders is the procedures of the schema locus.
type Orders interface {
	Order(ctx context.Context, procedure string, args []string, by string) (*job.Job, error)
	Preview(ctx context.Context, procedure string, args []string, by string) (orders.Preview, error)
}
