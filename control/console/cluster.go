package console

import (
	"context"
	"time"

	"locus/control/fleet"
	"locus/control/watch"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/proxy/meter"
	"locus/router"
)

// Cluster is what the cluster's processes share, and know together.
type Cluster interface {
	watch.Source
	// Tell gives a job an order; Agree may be nil.
	Tell(ctx context.Context, id string, o job.Order, by string, now time.Time, agree func(*job.Job) error) (*job.Job, error)
	// Cards is the proxies that live, by their IDs.
	Cards(context.Context) ([]fleet.Card, error)
	// Load is the statements per second by gene, of all proxies; Rows is about how
	// many rows each shard has of the tables whose rows have genes.
	Load(context.Context, gene.Width) (*meter.Loads, error)
	Rows(context.Context) (map[router.ShardName]float64, error)
}
