// Package jobs keeps the records of jobs in etcd, together with the route map that they edit. The processes
// that run jobs and the commands use it.
//
// It owns the keys, and the one transaction that changes a record and the map together. It never decides about
// a job: packages job and phase do.
package jobs

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/events"
	"locus/control/fleet"
	"locus/idgen/orderid"
	"locus/idgen/segment"
	"locus/migrate"
	"locus/migrate/job"
	"locus/migrate/link"
	"locus/migrate/preflight"
	"locus/proxy/meter"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// claimTTL is the default of [Store.ClaimTTL].
const claimTTL = 10 * time.Second

// Store reads and writes the jobs of one cluster. It is safe for concurrent use.
type Store struct {
	// ClaimTTL is the time after which another process may claim a job whose process has died.
	ClaimTTL time.Duration

	kv      *etcd.KV
	secrets func(name string) (string, error)
	by      string
}

var _ migrate.Store = (*Store)(nil)

// New returns the store of the jobs under kv, the keys of a cluster. By names the author of map changes in the
// history. Only Shard needs secrets.
func New(kv *etcd.KV, by string, secrets func(name string) (string, error)) *Store {
	return &Store{ClaimTTL: claimTTL, kv: kv, secrets: secrets, by: by}
}

const mapKey = cluster.Prefix + cluster.MapKey

// Jobs returns all jobs, the oldest first, and skips records that can't be decoded.
func (s *Store) Jobs(ctx context.Context) ([]*job.Job, error) {
	list, _, err := s.Records(ctx)
	return list, err
}

// Records returns the same as Jobs, and the revision at which it was read.
func (s *Store) Records(ctx context.Context) ([]*job.Job, int64, error) {
	pairs, revision, err := s.kv.GetPrefix(ctx, job.Prefix)
	if err != nil {
		return nil, 0, err
	}
	var list []*job.Job
	for _, p := range pairs {
		if j, err := decode(p.Key, p.Value); err == nil {
			list = append(list, j)
		}
	}
	slices.SortStableFunc(list, func(a, b *job.Job) int { return cmp.Or(a.Created.Compare(b.Created), strings.Compare(a.ID, b.ID)) })
	return list, revision, nil
}

// IDs returns the IDs of all jobs, including those whose records can't be decoded.
func (s *Store) IDs(ctx context.Context) ([]string, error) {
	pairs, _, err := s.kv.GetPrefix(ctx, job.Prefix)
	ids := make([]string, len(pairs))
	for i, p := range pairs {
		ids[i] = strings.TrimPrefix(p.Key, job.Prefix)
	}
	return ids, err
}

// decode reads the record of a job and checks that it belongs to its key.
func decode(key string, text []byte) (*job.Job, error) {
	j := new(job.Job)
	if err := json.Unmarshal(text, j); err != nil {
		return nil, fmt.Errorf("%s: %w", key, err)
	}
	if job.Prefix+j.ID != key {
		return nil, fmt.Errorf("%s: it is the record of a job of another name, %q", key, j.ID)
	}
	return j, nil
}

// encode returns the record of a job, and checks that [decode] can read it back.
func encode(j *job.Job) ([]byte, error) {
	text, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	again, err := decode(job.Prefix+j.ID, text)
	if err != nil {
		return nil, fmt.Errorf("nothing was written, since it could not be read back: %w", err)
	}
	if read, err := json.Marshal(again); err != nil || !bytes.Equal(read, text) {
		return nil, fmt.Errorf("nothing was written, since the record of job %s would be read as something else: %w", j.ID, err)
	}
	return text, nil
}

// decodeReport reads a job's report and checks that it belongs to its key.
func decodeReport(key string, text []byte) (r job.Report, err error) {
	if err := json.Unmarshal(text, &r); err != nil {
		return r, fmt.Errorf("%s: %w", key, err)
	}
	if job.ReportPrefix+r.ID != key {
		return r, fmt.Errorf("%s: it is the report of a job of another name, %q", key, r.ID)
	}
	return r, nil
}

// Check returns an error if this build can't decode a job's record or report.
func Check(key string, value []byte) (err error) {
	switch {
	case strings.HasPrefix(key, job.ReportPrefix):
		_, err = decodeReport(key, value)
	case strings.HasPrefix(key, job.Prefix):
		_, err = decode(key, value)
	}
	return err
}

// Read returns a job together with the route map and the primaries of its shards.
func (s *Store) Read(ctx context.Context, id string) (migrate.Snapshot, error) {
	var snap migrate.Snapshot
	text, revision, err := s.kv.Get(ctx, job.Prefix+id)
	switch {
	case err != nil:
		return snap, err
	case revision == 0:
		return snap, fmt.Errorf("job %s: %w", id, migrate.ErrNoJob)
	}
	if snap.Job, err = decode(job.Prefix+id, text); err != nil {
		return snap, fmt.Errorf("the record of job %s can't be read: %w; locus doctor shows the remedy", id, err)
	}
	snap.JobRevision = revision
	if snap.Map, snap.MapRevision, err = s.routes(ctx); err != nil {
		return snap, err
	}
	snap.Primaries, err = s.primaries(ctx, snap.Job)
	return snap, err
}

func (s *Store) routes(ctx context.Context) (*router.Map, int64, error) {
	text, revision, err := s.kv.Get(ctx, mapKey)
	if err != nil {
		return nil, 0, err
	}
	m, _, err := router.Decode(text)
	if err != nil {
		return nil, 0, fmt.Errorf("%s can't be used: %w; locus doctor shows the remedy", mapKey, err)
	}
	return m, revision, nil
}

// Create writes the record of a new job. It returns ErrChanged if a job of that name exists. It refuses a job if one of its shards is not
// registered, also if another command removes the shard at the same moment.
func (s *Store) Create(ctx context.Context, j *job.Job) error {
	text, err := encode(j)
	if err != nil {
		return err
	}
	guards := []etcd.Guard{{Key: job.Prefix + j.ID}}
	for _, name := range j.Shards() {
		key := cluster.Prefix + cluster.ShardKey(name)
		_, revision, err := s.kv.Get(ctx, key)
		if err != nil {
			return err
		}
		if revision == 0 {
			return fmt.Errorf("shard %s is not registered any more, so job %s was not written; locus shard list lists the shards", name, j.ID)
		}
		guards = append(guards, etcd.Guard{Key: key, Revision: revision})
	}
	writes, _ := events.Add([]etcd.Write{etcd.Put(job.Prefix+j.ID, text)}, eventsOf(nil, j)...)
	_, err = s.kv.Commit(ctx, guards, writes...)
	if conflict, is := errors.AsType[*etcd.Conflict](err); is && !strings.HasSuffix(conflict.Key, job.Prefix+j.ID) {
		return fmt.Errorf("%s was changed by another command at this moment, so job %s was not written; repeat the request", conflict.Key, j.ID)
	}
	return known(err)
}

// Write replaces the job if it differs from the snapshot's, and the map if next is not nil. A map that hands
// genes over is added to the history.
func (s *Store) Write(ctx context.Context, snap migrate.Snapshot, j *job.Job, next *router.Map, why string) (migrate.Snapshot, error) {
	guards := []etcd.Guard{{Key: job.Prefix + snap.Job.ID, Revision: snap.JobRevision}}
	var writes []etcd.Write
	if j != snap.Job {
		text, err := encode(j)
		if err != nil {
			return snap, err
		}
		writes = append(writes, etcd.Put(job.Prefix+j.ID, text))
	}
	if next != nil {
		if err := s.announces(ctx, snap, next); err != nil {
			return snap, err
		}
		text := router.Encode(next, router.Stamp{By: s.by, Why: why, At: time.Now()})
		guards = append(append(guards, etcd.Guard{Key: mapKey, Revision: snap.MapRevision}), asTheyWere(snap)...)
		writes = append(writes, etcd.Put(mapKey, text))
		if handovers, err := router.Diff(snap.Map, next); err != nil || len(handovers) > 0 {
			writes = append(writes, etcd.Put(cluster.HistoryKey(next.Version()), text))
		}
	}
	writes, _ = events.Add(writes, eventsOf(snap.Job, j)...)
	revision, err := s.kv.Commit(ctx, guards, writes...)
	if err != nil {
		return snap, known(err)
	}
	written := snap
	if j != snap.Job {
		written.Job, written.JobRevision = j, revision
	}
	if next != nil {
		written.Map, written.MapRevision = next, revision
	}
	return written, nil
}

// Declare replaces the job, the map, and the declarations of tables in one transaction.
func (s *Store) Declare(ctx context.Context, snap migrate.Snapshot, j *job.Job, next *router.Map, tables map[catalog.TableName]catalog.Declaration, why string) (migrate.Snapshot, error) {
	state, err := declared.Read(ctx, s.kv)
	if err != nil {
		return snap, err
	}
	after, err := state.WithTables(func(all map[catalog.TableName]catalog.Declaration) error {
		for name, d := range tables {
			if before, is := all[name]; is && before.Kind != catalog.Single && !j.Announced(snap.Map) {
				return fmt.Errorf("table %s has been declared as %q meanwhile: locus abort %s", name, before.Words(), j.ID)
			}
			if all[name] = d; d.Kind == "" {
				delete(all, name)
			}
		}
		return nil
	})
	if err != nil {
		return snap, err
	}
	if state.Cluster.Routes.Version() != snap.Map.Version() {
		return snap, migrate.ErrChanged
	}
	if err := s.announces(ctx, snap, next); err != nil {
		return snap, err
	}
	for name := range state.Cluster.Shards {
		if j.State.Cut > 0 && name != j.From && !slices.Contains(j.Import.Shards, name) {
			return snap, fmt.Errorf("shard %s was registered after the import began, and does not have its tables: run locus abort %s, and start the import again", name, j.ID)
		}
	}
	after.Routes, after.Stamp = next, router.Stamp{By: s.by, Why: why, At: time.Now()}
	text, err := encode(j)
	if err != nil {
		return snap, err
	}
	guards, writes, err := state.Planned(after)
	if err != nil {
		return snap, err
	}
	guards = append(guards, etcd.Guard{Key: job.Prefix + snap.Job.ID, Revision: snap.JobRevision})
	guards = append(guards, asTheyWere(snap)...)
	writes, _ = events.Add(append(writes, etcd.Put(job.Prefix+j.ID, text)), eventsOf(snap.Job, j)...)
	revision, err := s.kv.Commit(ctx, guards, writes...)
	if err != nil {
		return snap, known(err)
	}
	snap.Job, snap.Map, snap.JobRevision, snap.MapRevision = j, next, revision, revision
	return snap, nil
}

// Tell writes a request into a job's record, and sets the share of mirrored reads in the map accordingly. It
// calls agree before each attempt, if agree is not nil. Each attempt applies the request to the current record.
func (s *Store) Tell(ctx context.Context, id string, o job.Order, by string, now time.Time, agree func(*job.Job) error) (*job.Job, error) {
	for {
		snap, err := s.Read(ctx, id)
		if err != nil {
			return nil, err
		}
		next, err := snap.Job.Told(o, by, now)
		if err != nil {
			return nil, err
		}
		if agree != nil {
			if err := agree(snap.Job); err != nil {
				return nil, err
			}
		}
		mirrored, err := next.Mirrored(snap.Map)
		if err != nil {
			return nil, err
		}
		if _, err = s.Write(ctx, snap, next, mirrored, "job "+id+": "+o.Name); !errors.Is(err, migrate.ErrChanged) {
			return next, err
		}
	}
}

// known converts etcd's errors to the errors of package migrate.
func known(err error) error {
	switch {
	case errors.As(err, new(*etcd.Conflict)):
		return fmt.Errorf("%w: %w", migrate.ErrChanged, err)
	case errors.Is(err, etcd.ErrUnknown):
		return fmt.Errorf("%w: %w", migrate.ErrUnknown, err)
	}
	return err
}

// Proxies returns the version of the map that each live proxy obeys.
func (s *Store) Proxies(ctx context.Context) (map[string]int64, error) {
	cards, err := fleet.Cards(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	versions := make(map[string]int64, len(cards))
	for _, c := range cards {
		versions[c.ID] = c.MapVersion
	}
	return versions, nil
}

// Changes implements migrate.Store.
func (s *Store) Changes(ctx context.Context) <-chan struct{} {
	return s.follow(ctx, job.Prefix, mapKey, cluster.Prefix+cluster.PrimaryPrefix)
}

// Acknowledgements implements migrate.Store.
func (s *Store) Acknowledgements(ctx context.Context) <-chan struct{} {
	return s.follow(ctx, cluster.ProxyPrefix)
}

func (s *Store) follow(ctx context.Context, prefixes ...string) <-chan struct{} {
	out := make(chan struct{}, 1)
	_, now, err := s.kv.GetPrefix(ctx, job.ClaimPrefix)
	if err != nil {
		now = 0 // watch from the beginning
	}
	var following sync.WaitGroup
	for _, prefix := range prefixes {
		following.Go(func() {
			for range s.kv.Under(prefix).Changes(ctx, now) {
				select {
				case out <- struct{}{}:
				default: // there is a signal already
				}
			}
		})
	}
	go func() {
		defer close(out)
		following.Wait()
	}()
	return out
}

// Claim makes the caller the only process that runs a job. It returns ErrClaimed if another process holds the
// claim.
func (s *Store) Claim(ctx context.Context, id string) (migrate.Claim, error) {
	lock, err := s.kv.Lock(ctx, job.ClaimPrefix+id, []byte(s.by), s.ClaimTTL)
	if errors.Is(err, etcd.ErrHeld) {
		return nil, migrate.ErrClaimed
	}
	if err != nil {
		return nil, err
	}
	return lock, nil
}

// Report replaces the published report of a job.
func (s *Store) Report(ctx context.Context, r job.Report) error {
	text, err := json.Marshal(r)
	if err != nil {
		return err
	}
	_, err = s.kv.Commit(ctx, nil, etcd.Put(job.ReportPrefix+r.ID, text))
	return err
}

// Reports returns the published reports by job ID, and skips those that can't be decoded.
func (s *Store) Reports(ctx context.Context) (map[string]job.Report, error) {
	pairs, _, err := s.kv.GetPrefix(ctx, job.ReportPrefix)
	if err != nil {
		return nil, err
	}
	reports := make(map[string]job.Report, len(pairs))
	for _, p := range pairs {
		if r, err := decodeReport(p.Key, p.Value); err == nil {
			reports[r.ID] = r
		}
	}
	return reports, nil
}

// outcomesPatience bounds the wait for the proxies' counters.
const outcomesPatience = time.Second

// Outcomes returns the error counts and latencies of statements on a job's genes, summed over the proxies.
func (s *Store) Outcomes(ctx context.Context, id string) (job.Outcomes, error) {
	var all job.Outcomes
	answers, err := fleet.Ask[map[string]meter.Outcome](ctx, s.kv, fleet.Outcomes, outcomesPatience)
	if err != nil {
		return all, err
	}
	if answers.Late > 0 { // without the counters of some proxies, the sum would look like a change
		return all, fmt.Errorf("the proxies' figures of statements are missing: %v", answers.Silent)
	}
	for _, byJob := range answers.By {
		all.Source, all.Target = all.Source.Plus(tally(byJob[id].Source)), all.Target.Plus(tally(byJob[id].Target))
	}
	return all, nil
}

func tally(t meter.Tally) job.Tally {
	out := job.Tally{Failed: t.Failed}
	for _, x := range t.Times {
		out.Times = append(out.Times, job.Times{UpTo: time.Duration(x.UpToNs), Count: x.Count})
	}
	return out
}

// Number raises the counter of a table's AUTO_INCREMENT column above the given value.
func (s *Store) Number(ctx context.Context, name catalog.TableName, above uint64) error {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return err
	}
	counter := segment.NewCASStore(s.kv.Under(cluster.SegmentPrefix), cluster.CounterPrefix(c.CountersOf(name), orderid.Layout{}), s.by, time.Now)
	_, err = counter.Raise(ctx, cluster.NumberCounter, above)
	return err
}

// Redefined returns after every proxy has read the tables and views of the shards again.
func (s *Store) Redefined(ctx context.Context) error {
	return fleet.TellRedefined(ctx, s.kv, fleet.RedefinedPatience)
}

// Map returns the current route map.
func (s *Store) Map(ctx context.Context) (*router.Map, error) {
	m, _, err := s.routes(ctx)
	return m, err
}

// Shard returns the address and the credentials of a registered shard.
func (s *Store) Shard(ctx context.Context, name router.ShardName) (link.Server, error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return link.Server{}, err
	}
	shard, there := c.Shards[name]
	if !there {
		return link.Server{}, fmt.Errorf("shard %s is not registered: declare it in cluster.yaml and run locus apply", name)
	}
	return s.server(name, shard)
}

// Source returns the address and the credentials of a job's source server.
func (s *Store) Source(ctx context.Context, j *job.Job) (link.Server, error) {
	o := j.Outside()
	if o == nil {
		return s.Shard(ctx, j.From)
	}
	return s.server(j.From, cluster.Shard{Address: o.Address, User: o.User, Secret: o.Secret, TLS: o.TLS, CA: o.CA})
}

func (s *Store) server(name router.ShardName, shard cluster.Shard) (link.Server, error) {
	target, err := schema.Target(name, shard, s.secrets)
	if err != nil {
		return link.Server{}, err
	}
	password, err := target.Password()
	if err != nil {
		return link.Server{}, fmt.Errorf("shard %s: %w", name, err)
	}
	return link.Server{Addr: target.Addr, User: target.User, Password: password, TLS: target.ClientTLS()}, nil
}

// Tables returns the declarations of the sharded tables. It returns an error if a shard has a table whose
// declaration can't be used: its rows may have genes too, and a job would leave them behind.
func (s *Store) Tables(ctx context.Context) (map[catalog.TableName]catalog.Declaration, error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	if err := s.Undeclarable(ctx, c); err != nil {
		return nil, err
	}
	return Sharded(c), nil
}

// Everywhere returns the request to compare a shard's global tables and views with the first shard's.
func (s *Store) Everywhere(ctx context.Context, name router.ShardName) (*preflight.Everywhere, error) {
	c, err := declared.Current(ctx, s.kv)
	if err != nil {
		return nil, err
	}
	e := &preflight.Everywhere{FirstShard: c.Settings.DefaultShard, Shard: name, Tables: c.Tables}
	if e.First, err = s.Shard(ctx, e.FirstShard); err != nil {
		return nil, err
	}
	return e, nil
}

// Sharded returns the declarations of the sharded tables of a cluster.
func Sharded(c *cluster.Cluster) map[catalog.TableName]catalog.Declaration {
	tables := maps.Clone(c.Tables)
	maps.DeleteFunc(tables, func(_ catalog.TableName, d catalog.Declaration) bool { return d.Kind != catalog.Sharded })
	return tables
}
