package migrate

import (
	"context"
	"errors"
	"maps"
	"slices"

	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/router"
	"locus/router/catalog"
)

// Snapshot is a consistent view of a job and the route map.
type Snapshot struct {
	Job *job.Job
	Map *router.Map
	// JobRevision and MapRevision detect whether the job or the map has changed since.
	JobRevision, MapRevision int64
	// Primaries holds the primaries of the job's shards. Shards with a single server have no entry.
	Primaries map[router.ShardName]Primary
}

// Primary is the server of a shard that takes writes.
type Primary struct {
	Server   string
	Changing bool // proxies give it up, or are about to
	Revision int64
}

// changing returns a shard whose primary is about to change, or "".
func (s Snapshot) changing() router.ShardName {
	for _, name := range slices.Sorted(maps.Keys(s.Primaries)) {
		if s.Primaries[name].Changing {
			return name
		}
	}
	return ""
}

// sameServers reports whether both snapshots have the same primaries.
func (s Snapshot) sameServers(other Snapshot) bool {
	return maps.EqualFunc(s.Primaries, other.Primaries, func(a, b Primary) bool { return a.Server == b.Server && a.Changing == b.Changing })
}

// Store stores jobs and the route map. Its methods may be called concurrently.
type Store interface {
	// Jobs returns all jobs, the oldest first.
	Jobs(context.Context) ([]*job.Job, error)
	// Read returns a job with the map, or ErrNoJob.
	Read(ctx context.Context, id string) (Snapshot, error)
	// Write replaces the job, and the map if next is not nil, if neither has changed since s was read. With
	// next, the shards' primaries must not have changed either. It returns both with their new revisions.
	// Without next, the returned map is that of s, which may have been replaced meanwhile. ErrChanged means
	// that nothing was written. A write whose error wraps ErrUnknown may have taken effect. Any other failed
	// write did not.
	Write(ctx context.Context, s Snapshot, j *job.Job, next *router.Map, why string) (Snapshot, error)
	// Declare is a Write that also changes the declarations of tables, all in one transaction. A declaration
	// without a kind is removed.
	Declare(ctx context.Context, s Snapshot, j *job.Job, next *router.Map, tables map[catalog.TableName]catalog.Declaration, why string) (Snapshot, error)
	// Number raises the cluster's counter of a table's AUTO_INCREMENT column above the given value.
	Number(ctx context.Context, name catalog.TableName, above uint64) error
	// Proxies returns the version of the map that each live proxy obeys.
	Proxies(context.Context) (map[string]int64, error)
	// Changes signals changes of jobs, of the map and of the shards' primaries. Acknowledgements signals
	// changes of the versions that proxies obey, and proxies that come or go. Both may merge signals. They are
	// closed after ctx has ended.
	Changes(ctx context.Context) <-chan struct{}
	Acknowledgements(ctx context.Context) <-chan struct{}
	// Claim makes the caller the only process that runs a job. It returns ErrClaimed if another process holds
	// the claim.
	Claim(ctx context.Context, id string) (Claim, error)
	// Report replaces the published report of a job.
	Report(ctx context.Context, r job.Report) error
	// Differences returns the list of differing rows of a job that failed because of them. For other jobs the
	// list is empty. List replaces it.
	Differences(ctx context.Context, id string) (job.Differences, error)
	List(ctx context.Context, id string, l job.Differences) error
	// Outcomes returns the errors and latencies of statements on a job's genes, summed over all proxies. It
	// returns an error if a proxy does not answer.
	Outcomes(ctx context.Context, id string) (job.Outcomes, error)
	// Redefined returns after every proxy has read the tables and views of the shards again.
	Redefined(ctx context.Context) error
	// Source returns the address and credentials of a job's source server, on a shard or outside of the
	// cluster.
	Source(ctx context.Context, j *job.Job) (link.Server, error)
	// Shard returns the address and credentials of a registered shard's primary. Replicas returns the servers
	// that may replace it. Tables returns the declarations.
	Shard(ctx context.Context, name router.ShardName) (link.Server, error)
	Replicas(ctx context.Context, name router.ShardName) ([]link.Server, error)
	Tables(ctx context.Context) (map[catalog.TableName]catalog.Declaration, error)
	// Everywhere returns the request to compare a shard's global tables and views with those of the first
	// shard.
	Everywhere(ctx context.Context, name router.ShardName) (*preflight.Everywhere, error)
}

// Claim lets the caller run a job, until Lost is closed or Release is called.
type Claim interface {
	Lost() <-chan struct{}
	Release()
}

// Errors of stores.
var (
	ErrNoJob   = errors.New("no such job")
	ErrChanged = errors.New("it has changed since it was read")
	ErrUnknown = errors.New("whether it was written is unknown")
	ErrClaimed = errors.New("another process runs the job")
)
