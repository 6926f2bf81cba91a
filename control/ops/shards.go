package ops

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/events"
	"locus/control/fitting"
	"locus/control/newshard"
	"locus/migrate/job"
	"locus/router"
	"locus/router/cluster"
)

// AddShard requests a shard that owns no genes. The objects that it lacks are created as on the first shard.
type AddShard struct {
	Shard   router.ShardName
	Address string // as host:port
	User    string // the account there
	Secret  string // the name of its password
	Reason
}

func (r AddShard) next(_ context.Context, _ *Ops, current *cluster.Cluster) (*cluster.Cluster, error) {
	if current == nil {
		return nil, cluster.ErrNotDeclared
	}
	if _, is := current.Shards[r.Shard]; is {
		return nil, fmt.Errorf("shard %s is declared already: locus apply changes what is declared, locus shard fill creates the objects that it lacks", r.Shard)
	}
	next := *current
	next.Shards = maps.Clone(next.Shards)
	next.Shards[r.Shard] = cluster.Shard{Address: r.Address, User: r.User, Secret: r.Secret, TLS: cluster.TLSOff}
	return &next, next.Validate()
}

func (r AddShard) rules() rules { return rules{stranded: behind} }

// RemoveShard requests that a shard without genes is no longer part of the cluster. The data on its server are kept.
type RemoveShard struct {
	Shard router.ShardName `json:"shard"`
	Reason
}

func (r RemoveShard) next(ctx context.Context, o *Ops, current *cluster.Cluster) (*cluster.Cluster, error) {
	if current == nil {
		return nil, cluster.ErrNotDeclared
	}
	if err := registered(current, r.Shard); err != nil {
		return nil, err
	}
	if genes := current.Routes.GenesOf(r.Shard); !genes.Empty() {
		return nil, fmt.Errorf("shard %s owns %d genes; move them to another shard first: locus merge --from %s", r.Shard, genes.Len(), r.Shard)
	}
	if current.Settings.DefaultShard == r.Shard {
		return nil, fmt.Errorf("shard %s is the default shard, which has the tables that are not declared; it can't be removed", r.Shard)
	}
	if _, err := o.checkUnused(ctx, []router.ShardName{r.Shard}); err != nil {
		return nil, err
	}
	next := *current
	next.Shards = maps.Clone(next.Shards)
	delete(next.Shards, r.Shard)
	return &next, next.Validate()
}

// checkUnused returns an error if a job that is not over uses one of the shards. Otherwise it returns a guard that fails a write if
// another job has been created or changed since.
func (o *Ops) checkUnused(ctx context.Context, names []router.ShardName) (etcd.Guard, error) {
	list, revision, err := o.jobs.Records(ctx)
	if err != nil {
		return etcd.Guard{}, err
	}
	for _, j := range list {
		if at := slices.IndexFunc(j.Shards(), func(s router.ShardName) bool { return slices.Contains(names, s) }); at >= 0 && !j.State.Over() {
			return etcd.Guard{}, fmt.Errorf("job %s uses shard %s; finish or abort it first", j.ID, j.Shards()[at])
		}
	}
	return etcd.Guard{Key: job.Prefix, Revision: revision, Prefix: true}, nil
}

// checkRemoved returns an error if a job uses a shard that the change removes. Otherwise it returns the condition under which the change
// may be written; none if no shard is removed.
func (o *Ops) checkRemoved(ctx context.Context, c *Change) ([]etcd.Guard, error) {
	if c.state.Cluster == nil {
		return nil, nil
	}
	removed := slices.DeleteFunc(c.state.Cluster.ShardNames(), func(name router.ShardName) bool {
		_, stays := c.Next.Shards[name]
		return stays
	})
	if len(removed) == 0 {
		return nil, nil
	}
	guard, err := o.checkUnused(ctx, removed)
	return []etcd.Guard{guard}, err
}

func (r RemoveShard) rules() rules { return rules{stranded: moveRows} }

// FillShard requests that a shard without genes gets the objects of the first shard that it lacks, and the rows of its global tables.
type FillShard struct {
	Shard router.ShardName `json:"shard"`
	// WaitSeconds is the time that writers of global tables may wait; 0: 30 seconds.
	WaitSeconds float64 `json:"wait_seconds,omitempty"`
}

// Fill contains the objects that shards without genes lack. Nothing is written yet.
type Fill struct {
	Lacking []*newshard.Lacking

	cluster  *cluster.Cluster
	making   *newshard.Plan
	patience time.Duration
}

// First returns the shard whose rows of global tables are the reference. The rows of the others are made equal to them.
func (f *Fill) First() router.ShardName { return f.cluster.Settings.DefaultShard }

// longestWait is the longest time that writers of global tables may wait.
const longestWait = time.Hour

// PlanFill plans which objects a shard gets. Nothing is written.
func (o *Ops) PlanFill(ctx context.Context, r FillShard) (*Fill, error) {
	if !(r.WaitSeconds >= 0 && r.WaitSeconds <= longestWait.Seconds()) { // also refuses NaN
		return nil, invalid("writers can't wait for %v seconds; use 0 to %v seconds", r.WaitSeconds, longestWait.Seconds())
	}
	patience := time.Duration(r.WaitSeconds * float64(time.Second))
	if patience == 0 {
		patience = newshard.Patience
	}
	c, err := declared.Current(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	if err := registered(c, r.Shard); err != nil {
		return nil, err
	}
	return o.planFill(ctx, c, r.Shard, patience)
}

// planFill plans which objects shards lack: all shards without genes, or only the named one. The named shard's rows are made
// equal even if they are no copies.
func (o *Ops) planFill(ctx context.Context, c *cluster.Cluster, named router.ShardName, patience time.Duration) (*Fill, error) {
	shards, err := fitting.Open(o.secrets, o.connect, c, c)
	if err != nil {
		return nil, errors.Join(err, ErrNoSecrets)
	}
	defer shards.Close(context.WithoutCancel(ctx))
	f := &Fill{cluster: c, patience: patience}
	if f.making, err = newshard.Look(ctx, newshard.Cluster{Old: c, Next: c, Server: shards.Server, Ordered: named}); err != nil {
		return nil, err
	}
	if f.Lacking = f.making.Lacking; len(f.Lacking) == 0 {
		return f, nil
	}
	present, tables := f.making.Present()
	for _, next := range []*cluster.Cluster{present, tables} { // existing objects must fit; missing ones are created
		change := fitting.Change{Old: c, Next: next, Shards: shards}
		loaded, err := change.Load(ctx)
		if err == nil {
			err = errors.Join(change.Problems(ctx, loaded)...)
		}
		if err != nil {
			return nil, err
		}
	}
	return f, nil
}

// WriteFill gives shards what they lack, and records this in the timeline. It returns the shards that got the rows of global tables.
func (o *Ops) WriteFill(ctx context.Context, f *Fill, by string) ([]newshard.Filled, error) {
	if len(f.Lacking) == 0 {
		return nil, nil
	}
	began := o.now()
	filled, err := o.fill(ctx, f)
	o.record(ctx, f.events(filled, err, by, began, o.now())...)
	return filled, err
}

// events returns an event for each shard.
func (f *Fill) events(filled []newshard.Filled, err error, by string, began, now time.Time) (list []events.Event) {
	for _, l := range f.Lacking {
		e := events.Event{At: now, Kind: events.Definition, Subject: "shard " + string(l.Shard), By: by, Took: now.Sub(began)}
		at := slices.IndexFunc(filled, func(one newshard.Filled) bool { return one.Shard == l.Shard })
		switch made := len(l.Makes()); {
		case err != nil && at < 0:
			e.What, e.Failed = fmt.Sprintf("not filled: %v", err), true
		case at < 0:
			e.What = fmt.Sprintf("filled: %d objects created", made)
		default:
			e.What = fmt.Sprintf("filled: %d objects created, %d rows of global tables written and %d deleted", made, filled[at].Written, filled[at].Deleted)
		}
		list = append(list, e)
	}
	return list
}

func (o *Ops) fill(ctx context.Context, f *Fill) ([]newshard.Filled, error) {
	if err := f.making.Make(ctx); err != nil {
		return nil, err
	}
	filling, err := f.making.Begin(ctx, f.patience)
	if err != nil {
		return nil, err
	}
	defer filling.Release()
	filled, err := filling.Settle(ctx, func(ctx context.Context) error { return AwaitMap(ctx, o.kv, f.cluster.Routes.Version()) })
	if err != nil {
		return filled, Unfilled(err)
	}
	return filled, nil
}

// FillShard plans what a shard lacks, and gives it that. It returns what was made, and the shards that got the rows of global tables.
func (o *Ops) FillShard(ctx context.Context, r FillShard, by string) (*Fill, []newshard.Filled, error) {
	f, err := o.PlanFill(ctx, r)
	if err != nil {
		return nil, nil, err
	}
	filled, err := o.WriteFill(ctx, f, by)
	return f, filled, err
}
