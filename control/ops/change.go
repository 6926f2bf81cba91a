package ops

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/fitting"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/control/newshard"
	"locus/control/owngene"
	"locus/migrate/job"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/cluster"
)

// Declare is a request that changes the declarations: [Apply], [AddShard], [RemoveShard], [RestoreRoutes], [AddUser],
// [SetUser], [SetPassword] or [RemoveUser].
type Declare interface {
	// next returns the cluster that the request declares instead of the current one, which is nil before the first Apply. The error is
	// an *Invalid, or the reason why the cluster refuses the request.
	next(ctx context.Context, o *Ops, current *cluster.Cluster) (*cluster.Cluster, error)
	rules() rules
	why() string
}

// Reason is embedded in all requests that change the declarations.
type Reason struct {
	// Why is the reason, for the history of the route map.
	Why string `json:"why,omitempty"`
}

func (r Reason) why() string { return strings.Join(strings.Fields(r.Why), " ") } // lists have one line for each

// rules determines how a change is checked.
type rules struct {
	// unchecked: the shards are not asked. Then no gene may change its shard, unless force is set.
	unchecked bool
	// force: rows may stay where nothing reads them.
	force bool
	// comments: the comments of the tables must not contradict the declaration, and an unchanged declaration completes a change that
	// ended early.
	comments bool
	// defines: the change ends after all proxies know the declarations of tables.
	defines bool
	// stranded is the remedy for rows that would be left behind, and skip the remedy if the shards can't be checked.
	stranded, skip string
	// strandedSince is the remedy for rows that clients inserted after the check.
	strandedSince string
}

// Change is a change of the declarations. It is planned, then checked, then written.
type Change struct {
	Next        *cluster.Cluster // after the change
	Differences []cluster.Change // empty: all is declared so already
	// Warnings of the checks.
	Warnings []string
	// Lacking contains the objects that are created on shards without genes.
	Lacking []*newshard.Lacking

	state  *declared.State
	stamp  router.Stamp
	rules  rules
	making *newshard.Plan
	filled *Fill // of an unchanged declaration
}

// Effect lists the effects of a change.
type Effect struct {
	Written   bool              // the declaration
	Filled    []newshard.Filled // shards that got the rows of global tables
	Regrouped []Regrouped
}

// PlanChange plans a change. Nothing is written, and no shard is checked.
func (o *Ops) PlanChange(ctx context.Context, r Declare, by string) (*Change, error) {
	state, err := declared.Read(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	next, err := r.next(ctx, o, state.Cluster)
	if err != nil {
		return nil, err
	}
	return o.planChange(state, next, router.Stamp{By: by, Why: r.why(), At: o.now()}, r.rules())
}

func (o *Ops) planChange(state *declared.State, next *cluster.Cluster, stamp router.Stamp, rules rules) (*Change, error) {
	next, err := cluster.Succeed(state.Cluster, next, stamp)
	if err != nil {
		return nil, err
	}
	c := &Change{Next: next, state: state, stamp: stamp, rules: rules, making: new(newshard.Plan)}
	c.Differences, err = cluster.Diff(state.Cluster, next)
	return c, err
}

// errUnwritten ends the text of a check that has failed.
var errUnwritten = errors.New("nothing was written")

// CheckChange checks a change: whether the shards fit it, and whether rows would be left behind. Nothing is written. Progress may be
// nil.
func (o *Ops) CheckChange(ctx context.Context, c *Change, progress fitting.Progress) error {
	if len(c.Differences) == 0 {
		return o.checkUnchanged(ctx, c)
	}
	if err := o.checkChange(ctx, c, progress); err != nil {
		return errors.Join(err, errUnwritten)
	}
	return nil
}

func (o *Ops) checkChange(ctx context.Context, c *Change, progress fitting.Progress) error {
	if err := o.checkDigits(ctx, c.Next.HiddenBy(c.state.Cluster)); err != nil {
		return err
	}
	if _, err := o.checkRemoved(ctx, c); err != nil {
		return err
	}
	c.warn(c.Next.FailTogether(c.state.Cluster)...)
	if c.rules.unchecked {
		return c.withoutShards()
	}
	whole, err := o.fitting(c, progress)
	if err != nil {
		return err
	}
	defer whole.Shards.Close(context.WithoutCancel(ctx))
	if c.making, err = newshard.Look(ctx, newshard.Cluster{Old: c.state.Cluster, Next: c.Next, Server: whole.Shards.Server}); err != nil {
		return err
	}
	if c.Lacking = c.making.Lacking; len(c.Lacking) == 0 {
		return c.fits(ctx, whole)
	}
	shards, tables := whole, whole // existing objects must fit; missing ones are created, so their absence is no warning
	shards.Next, tables.Next = c.making.Present()
	if _, err := c.loaded(ctx, tables); err != nil {
		return err
	}
	return c.fits(ctx, shards)
}

// checkUnchanged compares the declaration with the comments of the tables, which may have been changed on a shard. It also
// plans the rest of a change that ended early. Nothing was to be written, so a shard that can't be checked is only a warning.
func (o *Ops) checkUnchanged(ctx context.Context, c *Change) error {
	if c.rules.unchecked || !c.rules.comments {
		return nil
	}
	whole, err := o.fitting(c, nil)
	if err != nil {
		c.warn(err.Error())
		return nil
	}
	defer whole.Shards.Close(context.WithoutCancel(ctx))
	loaded, err := whole.Load(ctx)
	if err != nil {
		c.warn(fmt.Sprintf("it is unknown whether comments of tables declare something else: %v", err))
	} else if differ := loaded.Disagreements(c.Next); len(differ) > 0 {
		return errors.Join(differ...)
	}
	if c.filled, err = o.planFill(ctx, c.Next, "", newshard.Patience); err != nil {
		c.warn(fmt.Sprintf("it is unknown whether a shard without genes lacks something: %v", err))
		return nil
	}
	c.Lacking = c.filled.Lacking
	return nil
}

// checkDigits returns an error for a generator that hides its sequence with a key version, if the running processes lack a
// suitable key of that version. If no process runs, it checks the key ring of the configuration, if there is one.
func (o *Ops) checkDigits(ctx context.Context, hidden map[string]uint32) error {
	if len(hidden) == 0 {
		return nil
	}
	cards, err := fleet.Processes(ctx, o.kv)
	if err != nil {
		return err
	}
	if len(cards) == 0 && o.ring != nil {
		ring, err := o.ring()
		if err != nil {
			return err
		}
		keys := fleet.KeysOf(ring)
		cards = []fleet.Card{{ID: "the key_ring of the configuration", Keys: &keys}}
	}
	var problems []error
	for _, name := range slices.Sorted(maps.Keys(hidden)) {
		for _, lack := range keyring.WithoutDigits(cards, hidden[name]) {
			problems = append(problems, fmt.Errorf("generator %s: part seq: hidden=%d: %s: write a version of cipher ff1 that every process has (locus keys list), or add the key to the ring first",
				name, hidden[name], lack))
		}
	}
	return errors.Join(problems...)
}

// withoutShards allows only changes that can't leave rows behind.
func (c *Change) withoutShards() error {
	if c.state.Cluster == nil || c.rules.force {
		return nil
	}
	handovers, err := router.Diff(c.state.Cluster.Routes, c.Next.Routes)
	if err != nil || len(handovers) == 0 {
		return err
	}
	return fmt.Errorf("genes change hands (%s), and without asking the shards it isn't known whether rows stay behind: "+
		"leave --skip-live-check out, or add --force-move-without-data", handovers[0])
}

// fitting opens the shards of both clusters. It dials none before the first query.
func (o *Ops) fitting(c *Change, progress fitting.Progress) (fitting.Change, error) {
	shards, err := fitting.Open(o.secrets, o.connect, c.state.Cluster, c.Next)
	if err != nil {
		return fitting.Change{}, c.skippable(errors.Join(err, ErrNoSecrets))
	}
	return fitting.Change{Old: c.state.Cluster, Next: c.Next, Shards: shards, Progress: progress}, nil
}

// skippable adds the remedy to the reason why the shards can't be checked, if the request has one.
func (c *Change) skippable(err error) error {
	if c.rules.skip == "" {
		return err
	}
	return errors.Join(err, errors.New(c.rules.skip))
}

func (c *Change) warn(texts ...string) {
	for _, text := range texts {
		if !slices.Contains(c.Warnings, text) {
			c.Warnings = append(c.Warnings, text)
		}
	}
}

// loaded reads the tables of the shards. The error is the reason why they don't fit.
func (c *Change) loaded(ctx context.Context, change fitting.Change) (*schema.Loaded, error) {
	loaded, err := change.Load(ctx)
	if err != nil {
		return nil, c.skippable(fmt.Errorf("the tables can't be checked: %w", err))
	}
	return loaded, errors.Join(change.Problems(ctx, loaded)...)
}

// fits returns why the tables of the shards don't fit, or which rows would be left behind.
func (c *Change) fits(ctx context.Context, change fitting.Change) error {
	loaded, err := c.loaded(ctx, change)
	if loaded != nil {
		for _, w := range loaded.Warnings {
			c.warn(fmt.Sprint(w))
		}
		if c.rules.comments {
			err = errors.Join(append([]error{err}, loaded.Disagreements(change.Next)...)...)
		}
	}
	if err != nil {
		return err
	}
	stranded, err := change.Stranded(ctx, loaded)
	if err != nil || stranded == nil {
		return err
	}
	if c.rules.force {
		for _, rows := range stranded {
			c.warn("forced: " + rows)
		}
		return nil
	}
	return &strandedError{stranded, c.rules.stranded}
}

// strandedError reports rows that would be left behind.
type strandedError struct {
	rows   []string
	remedy string
}

func (e *strandedError) Error() string { return strings.Join(e.rows, "\n") + "\n" + e.remedy }

// WriteChange writes a change that was checked. It creates the missing objects on shards without genes, and checks the shards
// again for rows that clients inserted under the old declarations. The error reports whether the change was written.
func (o *Ops) WriteChange(ctx context.Context, c *Change) (effect Effect, err error) {
	if len(c.Differences) == 0 {
		if c.filled != nil {
			effect.Filled, err = o.WriteFill(ctx, c.filled, c.stamp.By)
		}
		return effect, errors.Join(err, o.regroup(ctx, c, &effect))
	}
	if placeholders(c.Next) {
		return effect, fmt.Errorf("%w; %w", errNoPassword, errUnwritten)
	}
	if err := o.makeTables(ctx, c); err != nil {
		return effect, errors.Join(err, errUnwritten)
	}
	if err := o.commitChange(ctx, c, &effect); !effect.Written {
		return effect, err
	} else if err != nil {
		return effect, errors.Join(err, o.regroup(ctx, c, &effect))
	}
	if err = o.settle(ctx, c); err != nil {
		err = fmt.Errorf("the change was written, but %w", err)
	}
	return effect, errors.Join(err, o.regroup(ctx, c, &effect))
}

func (o *Ops) regroup(ctx context.Context, c *Change, effect *Effect) (err error) {
	effect.Regrouped, err = o.Regroup(ctx, c.Next, c.stamp.By)
	return err
}

// makeTables makes the tables that shards without genes lack, and the columns for genes.
func (o *Ops) makeTables(ctx context.Context, c *Change) error {
	if c.rules.unchecked {
		return nil
	}
	whole, err := o.fitting(c, nil)
	if err != nil {
		return err
	}
	defer whole.Shards.Close(context.WithoutCancel(ctx))
	if len(c.Lacking) > 0 {
		err = c.making.Make(ctx)
		if err == nil {
			err = c.fits(ctx, whole)
		}
		if err != nil {
			return c.stays(err)
		}
	}
	return owngene.Make(ctx, whole.Shards.Of(c.Next), c.Next)
}

// stays adds to an error that the objects created on shards are kept.
func (c *Change) stays(err error) error {
	if len(c.Lacking) == 0 {
		return err
	}
	return fmt.Errorf("%w\nwhat was made on a shard stays, and the next request takes it as it is", err)
}

// commitChange writes the documents, and copies the rows of global tables to shards without genes. It sets effect.Written once the
// documents are written.
func (o *Ops) commitChange(ctx context.Context, c *Change, effect *Effect) error {
	filling, err := c.making.Begin(ctx, newshard.Patience)
	if err != nil {
		return errors.Join(c.stays(err), errUnwritten)
	}
	defer filling.Release()
	err = o.commitDocuments(ctx, c)
	conflict, changed := errors.AsType[*etcd.Conflict](err)
	switch {
	case changed:
		return fmt.Errorf("%s was changed by another command since it was read; nothing was written; repeat the request", conflict.Key)
	case errors.Is(err, etcd.ErrUnknown):
		return fmt.Errorf("%w; locus get shows whether it was written", err)
	case err != nil:
		return err
	}
	effect.Written = true
	effect.Filled, err = filling.Settle(ctx, func(ctx context.Context) error { return AwaitMap(ctx, o.kv, c.Next.Routes.Version()) })
	if err != nil {
		return Unfilled(err)
	}
	return nil
}

// tries bounds the attempts to remove a shard while other processes write the records of their jobs.
const tries = 10

// commitDocuments writes the documents, unless a job uses a shard that they remove.
func (o *Ops) commitDocuments(ctx context.Context, c *Change) (err error) {
	for range tries {
		conditions, err := o.checkRemoved(ctx, c) // a job may have started during the check of the shards
		if err != nil {
			return errors.Join(c.stays(err), errUnwritten)
		}
		err = c.state.Commit(ctx, o.kv, c.Next, c.stamp, conditions...)
		if conflict, is := errors.AsType[*etcd.Conflict](err); !is || !strings.HasSuffix(path.Dir(conflict.Key), "/"+strings.TrimSuffix(job.Prefix, "/")) {
			return err
		}
	}
	return errors.Join(c.stays(errors.New("jobs keep changing, so the shard was not removed; repeat the request")), errUnwritten)
}

// settle waits until no statement runs by the former declarations, and checks the shards again: a proxy that had not read the new
// ones may have inserted a row by the former ones after the check.
func (o *Ops) settle(ctx context.Context, c *Change) error {
	if moves, err := c.movesRows(); err != nil || !moves {
		return err
	}
	if err := AwaitMap(ctx, o.kv, c.Next.Routes.Version()); err != nil {
		return fmt.Errorf("%w; until then rows may still be inserted by the former declaration: look for them with locus verify once the proxies have followed or are gone", err)
	}
	if c.rules.defines {
		if err := fleet.TellRedefined(ctx, o.kv, fleet.RedefinedPatience); err != nil {
			return fmt.Errorf("not every proxy knows it yet: %w; locus proxies list lists them", err)
		}
	}
	whole, err := o.fitting(c, nil)
	if err != nil {
		return err
	}
	defer whole.Shards.Close(context.WithoutCancel(ctx))
	if err := owngene.Make(ctx, whole.Shards.Of(c.Next), c.Next); err != nil { // clients may have inserted rows without genes until then
		return err
	}
	err = c.fits(ctx, whole)
	if left, is := errors.AsType[*strandedError](err); is {
		return fmt.Errorf("clients inserted rows meanwhile by the former declaration:\n%w", &strandedError{left.rows, cmp.Or(c.rules.strandedSince, left.remedy)})
	}
	if err != nil {
		return fmt.Errorf("the shards have changed since they were checked: %w", err)
	}
	return nil
}

// movesRows reports whether statements may look for rows on other shards after the change than before it.
func (c *Change) movesRows() (bool, error) {
	switch {
	case c.rules.defines:
		return true, nil
	case c.state.Cluster == nil || c.rules.unchecked || c.rules.force:
		return false, nil
	}
	handovers, err := router.Diff(c.state.Cluster.Routes, c.Next.Routes)
	return len(handovers) > 0 || len(cluster.RelocatedTables(c.state.Cluster, c.Next)) > 0, err
}

// Declare plans, checks and writes a change.
func (o *Ops) Declare(ctx context.Context, r Declare, by string) (*Change, Effect, error) {
	c, err := o.PlanChange(ctx, r, by)
	if err != nil {
		return nil, Effect{}, err
	}
	if err := o.CheckChange(ctx, c, nil); err != nil {
		return nil, Effect{}, err
	}
	effect, err := o.WriteChange(ctx, c)
	return c, effect, err
}

// Compare returns the differences between the current declarations and other ones.
func (o *Ops) Compare(ctx context.Context, with *cluster.Cluster) ([]cluster.Change, error) {
	state, err := declared.Read(ctx, o.kv)
	if err != nil {
		return nil, err
	}
	return cluster.Diff(state.Cluster, with)
}
