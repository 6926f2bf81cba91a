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

// Snapshot is a job and the route map, as they were together.
type Snapshot struct {
	Job *job.Job
	Map *router.Map
	// JobRevision and MapRevision tell what was read from what is there later.
	JobRevision, MapRevision int64
	// Primaries are those of the job's shards; of a shard with one server nothing is known.
	Primaries map[router.ShardName]Primary
}

// Primary is which server of a shard is written to.
type Primary struct {
	Server   string
	Changing bool // proxies give it up, or are about to
	Revision int64
}

// changing is a shard of which nobody knows which server will be written to in a moment; empty: there is none.
func (s Snapshot) changing() router.ShardName {
	for _, name := range slices.Sorted(maps.Keys(s.Primaries)) {
		if s.Primaries[name].Changing {
			return name
		}
	}
	return ""
}

// sameServers tells whether both were read while the same servers were written to.
func (s Snapshot) sameServers(other Snapshot) bool {
	return maps.EqualFunc(s.Primaries, other.Primaries, func(a, b Primary) bool { return a.Server == b.Server && a.Changing == b.Changing })
}

// Store keeps jobs and the route map. Its methods may be called concurrently.
type Store interface {
	// Jobs is all jobs, the oldest first.
	Jobs(context.Context) ([]*job.Job, error)
	// Read gives a job with the map. ErrNoJob: there is none of that name.
	Read(ctx context.Context, id string) (Snapshot, error)
	// Write replaces the job, and the map if next is not nil, if neither has changed since s was read. With next,
	// the shards' primaries must not have changed either. It returns both as they are then; without next the map is
	// that of s, and may have been replaced meanwhile. ErrChanged means that nothing was written. A write whose
	// error wraps ErrUnknown may have taken effect; any other did not.
	Write(ctx context.Context, s Snapshot, j *job.Job, next *router.Map, why string) (Snapshot, error)
	// Declare is Write of what changes declarations of tables too, all together or not at
	// all. One of no kind is taken away.
	Declare(ctx context.Context, s Snapshot, j *job.Job, next *router.Map, tables map[catalog.TableName]catalog.Declaration, why string) (Snapshot, error)
	// Number has the numbers that the cluster gives to a table's AUTO_INCREMENT column from now on
	// be above one.
	Number(ctx context.Context, name catalog.TableName, above uint64) error
	// Proxies is the version of the map that each living proxy obeys.
	Proxies(context.Context) (map[string]int64, error)
	// Changes is told when a job, the map or a shard's primary changes, and Acknowledgements when a
	// proxy obeys something else, comes or goes. Both may leave out all but the last, and are closed
	// after ctx has ended.
	Changes(ctx context.Context) <-chan struct{}
	Acknowledgements(ctx context.Context) <-chan struct{}
	// Claim makes the caller the one that runs a job. ErrClaimed: another one does.
	Claim(ctx context.Context, id string) (Claim, error)
	// Report replaces what is told of a job.
	Report(ctx context.Context, r job.Report) error
	// Differences is the list of rows that differ, of a job that has failed because of them;
	// without rows of any other. List replaces it.
	Differences(ctx context.Context, id string) (job.Differences, error)
	List(ctx context.Context, id string, l job.Differences) error
	// Outcomes is how the statements on a job's genes have fared so far, as all
	// proxies tell; an error if one doesn't.
	Outcomes(ctx context.Context, id string) (job.Outcomes, error)
	// Redefined returns once every proxy has read the tables and views on the shards anew.
	Redefined(ctx context.Context) error
	// Source is how the server is reached that has a job's rows: a shard's, or one outside of the
	// cluster.
	Source(ctx context.Context, j *job.Job) (link.Server, error)
	// Shard is how the primary of a registered shard is reached, Replicas are the servers that may take its place, and Tables what
	// is declared.
	Shard(ctx context.Context, name router.ShardName) (link.Server, error)
	Replicas(ctx context.Context, name router.ShardName) ([]link.Server, error)
	Tables(ctx context.Context) (map[catalog.TableName]catalog.Declaration, error)
	// Everywhere is what a shard must have as the first one has it.
	Everywhere(ctx context.Context, name router.ShardName) (*preflight.Everywhere, error)
}

// Claim is a job that is the caller's to run, until Lost is closed or Release is
// called.
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
