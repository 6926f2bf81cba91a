package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"locus/control/fitting"
	"locus/control/fleet"
	"locus/control/keyring"
	"locus/control/newshard"
	"locus/control/owngene"
	"locus/control/watch"
	"locus/idgen/cipher"
	"locus/proxy/schema"
	"locus/router"
	"locus/router/catalog"
	"locus/router/cluster"
)

// check checks the next cluster against the live shards, and plans what shards without genes must be given. old
// is nil for the first cluster.
func (a *application) check(ctx context.Context, conn *connection, old, next *cluster.Cluster) (*newshard.Plan, error) {
	if err := checkDigits(ctx, conn, next.HiddenBy(old)); err != nil {
		return nil, err
	}
	for _, why := range next.FailTogether(old) {
		fmt.Fprintln(a.in.stderr, "warning:", why)
	}
	if a.skipLiveCheck {
		return new(newshard.Plan), a.withoutShards(old, next)
	}
	shards, err := ask(conn, old, next)
	if err != nil {
		return nil, err
	}
	defer shards.Close(ctx)
	plan, err := newshard.Look(ctx, newshard.Cluster{Old: old, Next: next, Server: shards.Server})
	if err != nil {
		return nil, err
	}
	made, err := a.make(ctx, plan, fitting.Change{Old: old, Next: next, Shards: shards, Progress: a.progress()})
	if err != nil {
		return nil, err
	}
	err = a.checkMade(ctx, shards, made, next)
	if err != nil && len(plan.Lacking) > 0 && !a.dryRun {
		err = fmt.Errorf("%w\nwhat was made on a shard stays, and the next apply takes it as it is", err)
	}
	return plan, err
}

// checkDigits refuses a generator whose sequence is to be hidden by a key version, if the running processes
// lack a suitable key of that version. If no process runs, it checks the key ring of the configuration, if
// there is one.
func checkDigits(ctx context.Context, conn *connection, hidden map[string]uint32) error {
	if len(hidden) == 0 {
		return nil
	}
	cards, err := fleet.Processes(ctx, conn.kv)
	if err != nil {
		return err
	}
	if len(cards) == 0 && conn.config.KeyRing != "" {
		ring, err := cipher.Load(conn.config.KeyRing)
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

// checkMade checks the cluster against the shards after missing objects were created, and adds the gene
// columns.
func (a *application) checkMade(ctx context.Context, shards *fitting.Shards, made fitting.Change, next *cluster.Cluster) error {
	loaded, err := a.fits(ctx, made)
	if err != nil {
		return err
	}
	stranded, err := made.Stranded(ctx, loaded)
	if err != nil {
		return err
	}
	if err := a.judge(stranded); err != nil || a.dryRun {
		return err
	}
	return owngene.Make(ctx, shards.Of(next), next)
}

// make creates tables and views on shards that lack them, if all existing ones fit. It returns the change that
// must be checked next. In a dry run that is the change without those shards.
func (a *application) make(ctx context.Context, plan *newshard.Plan, whole fitting.Change) (fitting.Change, error) {
	if len(plan.Lacking) == 0 {
		return whole, nil
	}
	shards, tables := whole, whole
	shards.Next, tables.Next = plan.Present()
	for _, part := range []fitting.Change{shards, tables} {
		loaded, err := part.Load(ctx)
		if err == nil {
			err = errors.Join(part.Problems(ctx, loaded)...)
		}
		if err != nil {
			return whole, err
		}
	}
	a.printMade(plan.Lacking)
	if a.dryRun {
		return shards, nil
	}
	return whole, plan.Make(ctx)
}

// printMade prints what is created on shards without genes.
func (a *application) printMade(lacking []*newshard.Lacking) {
	if a.in.output != table {
		return
	}
	for _, l := range lacking {
		for _, line := range l.Makes() {
			fmt.Fprintf(a.in.stdout, "make %s on shard %s\n", line, l.Shard)
		}
		for _, name := range l.Rows {
			fmt.Fprintf(a.in.stdout, "copy the rows of %s to shard %s\n", name, l.Shard)
		}
	}
}

// fits returns an error if a table does not fit its declaration.
func (a *application) fits(ctx context.Context, change fitting.Change) (*schema.Loaded, error) {
	loaded, err := change.Load(ctx)
	if err != nil {
		return nil, fmt.Errorf("%w\nthe tables can't be checked; --skip-live-check does without", err)
	}
	for _, w := range loaded.Warnings {
		fmt.Fprintln(a.in.stderr, "warning:", w)
	}
	problems := change.Problems(ctx, loaded)
	if a.path != "" {
		problems = append(problems, loaded.Disagreements(change.Next)...)
	}
	return loaded, errors.Join(problems...)
}

// comments compares an unchanged declaration with the comments of the tables, which may have been changed on a
// shard. If a shard is unreachable, it only prints that, because nothing was to be written.
func (a *application) comments(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	if a.skipLiveCheck || a.path == "" {
		return nil
	}
	shards, err := ask(conn, c, c)
	if err != nil {
		fmt.Fprintln(a.in.stderr, "warning:", err)
		return nil
	}
	defer shards.Close(ctx)
	change := fitting.Change{Old: c, Next: c, Shards: shards}
	loaded, err := change.Load(ctx)
	if err != nil {
		fmt.Fprintf(a.in.stderr, "warning: whether comments of tables declare something else is not known: %v\n", err)
		return nil
	}
	return errors.Join(loaded.Disagreements(c)...)
}

// progress returns a function that prints the number of checked rows to a terminal, or nil if there is no
// terminal.
func (a *application) progress() fitting.Progress {
	if !isTerminal(a.in.stderr) {
		return nil
	}
	return func(name catalog.TableName, shard router.ShardName) (func(uint64), func()) {
		return func(rows uint64) {
				fmt.Fprintf(a.in.stderr, "\r\x1b[K%s on %s: %s rows", name, shard, watch.Count(int64(rows)))
			}, func() {
				fmt.Fprint(a.in.stderr, "\r\x1b[K")
			}
	}
}

// judge refuses a change that would leave rows behind, unless --force-move-without-data is given.
func (a *application) judge(stranded []string) error {
	if a.forceMove {
		for _, problem := range stranded {
			fmt.Fprintln(a.in.stderr, "warning: forced:", problem)
		}
		return nil
	}
	if stranded == nil {
		return nil
	}
	return fmt.Errorf("%s\n%s", strings.Join(stranded, "\n"), "move these rows first, or leave them behind, invisible, by --force-move-without-data")
}

// withoutShards allows only changes that can't leave rows behind.
func (a *application) withoutShards(old, next *cluster.Cluster) error {
	if old == nil || a.forceMove {
		return nil
	}
	handovers, err := router.Diff(old.Routes, next.Routes)
	if err != nil || len(handovers) == 0 {
		return err
	}
	return fmt.Errorf("genes change hands (%s), and without asking the shards it isn't known whether rows stay behind: "+
		"leave --skip-live-check out, or add --force-move-without-data", handovers[0])
}

// ask opens the shards of both clusters. It dials none before the first query.
func ask(conn *connection, old, next *cluster.Cluster) (*fitting.Shards, error) {
	shards, err := fitting.Open(conn.config.Secrets.Lookup, conn.config.Backends.ConnectTimeout.Std(), old, next)
	if err != nil {
		return nil, errors.Join(err, errors.New("without these secrets the tables can't be checked; --skip-live-check does without them"))
	}
	return shards, nil
}
