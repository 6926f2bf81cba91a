package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"locus/config/etcd"
	"locus/control/declared"
	"locus/control/newshard"
	"locus/router"
	"locus/router/cluster"
)

func applyCommand(in *invocation) *cobra.Command {
	a := application{in: in}
	command := &cobra.Command{
		Use:   "apply -f cluster.yaml",
		Short: "Apply a cluster file: settings, shards, tables, users, routes",
		Long: `Change the cluster to what a file declares: settings, shards, tables, users and routes.
What the file omits is removed, except for the routes: without that section they stay.
If the comment of a table declares something else than the file, the command fails.

Before it writes anything, the command checks on every shard whether the tables fit
their declarations, and whether a change would leave rows where proxies no longer read
them. A shard that loses genes must have no rows of them. In a table that becomes
sharded, the owner and the ID of each row must have the same gene, and the shard must
own it. The passwords are the secrets that the configuration names. Everything is
written at once, or nothing: also if another process has changed the cluster meanwhile.
If rows are then read on other shards, the route map gets a new version. The command
waits until every proxy follows it, and checks again for rows that clients inserted
under the earlier declarations.

A shard that owns no genes gets the objects of the first shard that it lacks: databases,
the declared tables, the views that read them, and the rows of global tables. --dry-run
prints what would be created. During the last comparison of these rows, writers of
global tables wait. The next apply continues one that has ended early.`,
		Example: `  locus get > cluster.yaml
  locus apply -f cluster.yaml --dry-run
  locus apply -f cluster.yaml --why "a shard for the new region"`,
		Args: cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error { return a.run(command.Context()) },
	}
	fileFlag(command, &a.path)
	flags := command.Flags()
	flags.BoolVar(&a.dryRun, "dry-run", false, "check and print everything, write nothing")
	flags.BoolVar(&a.skipLiveCheck, "skip-live-check", false, "don't check on the shards whether the tables fit")
	flags.BoolVar(&a.forceMove, "force-move-without-data", false, "hand genes over even if their rows stay on the old shard, where nothing reads them")
	flags.StringVar(&a.by, "by", "", "the `name` of who changes the cluster (default: you, on this host)")
	flags.StringVar(&a.why, "why", "", "the `reason`, for the history of the route map")
	return command
}

// application holds the parameters of one call of the command.
type application struct {
	in                               *invocation
	path, by, why                    string // path of the file; empty if there is none
	dryRun, skipLiveCheck, forceMove bool
}

// applied is the output of the command.
type applied struct {
	Changes    []changeView `json:"changes"`
	MapVersion int64        `json:"map_version"`
	Written    bool         `json:"written"`
}

func (a *application) run(ctx context.Context) error {
	declaration, err := a.in.clusterFile(a.path)
	if err != nil {
		return err
	}
	return a.in.withState(ctx, func(conn *connection, state *declared.State) error {
		return a.succeed(ctx, conn, state, declaration)
	})
}

// succeed turns the cluster into the successor of the declared one.
func (a *application) succeed(ctx context.Context, conn *connection, state *declared.State, declaration *cluster.Cluster) error {
	next, err := cluster.Succeed(state.Cluster, declaration, a.stamp())
	if err != nil {
		return err
	}
	changes, err := cluster.Diff(state.Cluster, next)
	if err != nil {
		return err
	}
	if a.in.output == table {
		printChanges(a.in.stdout, changes)
	}
	if len(changes) == 0 {
		return errors.Join(a.print(changes, next, false), a.comments(ctx, conn, next), a.goOn(ctx, conn, next), a.regroup(ctx, conn, next))
	}
	plan, err := a.check(ctx, conn, state.Cluster, next)
	if err != nil {
		return fmt.Errorf("%w\nnothing was written", err)
	}
	if a.dryRun {
		return a.print(changes, next, false)
	}
	filling, err := plan.Begin(ctx, newshard.Patience)
	if err != nil {
		return fmt.Errorf("%w\nnothing was written; what was made on the shard stays, and the next apply goes on", err)
	}
	defer filling.Release()
	if err := commit(ctx, conn, state, next, a.stamp()); err != nil {
		return err
	}
	if err := a.print(changes, next, true); err != nil {
		return err
	}
	return errors.Join(a.settle(ctx, conn, filling, next), a.afterwards(ctx, conn, state.Cluster, next), a.regroup(ctx, conn, next))
}

func (a *application) stamp() router.Stamp {
	by := oneLine(a.by)
	if by == "" {
		by = a.in.operator()
	}
	return router.Stamp{By: by, Why: oneLine(a.why), At: a.in.now()}
}

// oneLine replaces line breaks in a stamp, because lists print one stamp per line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func commit(ctx context.Context, conn *connection, state *declared.State, next *cluster.Cluster, stamp router.Stamp) error {
	err := state.Commit(ctx, conn.kv, next, stamp)
	var conflict *etcd.Conflict
	switch {
	case errors.As(err, &conflict):
		return fmt.Errorf("%s was changed by another command since it was read; nothing was written; run apply again", conflict.Key)
	case errors.Is(err, etcd.ErrUnknown):
		return fmt.Errorf("%w: locus diff shows what stands", err)
	}
	return err
}

func (a *application) print(changes []cluster.Change, next *cluster.Cluster, written bool) error {
	v := applied{changeViews(changes), next.Routes.Version(), written}
	return a.in.show(v, func(w io.Writer) {
		switch {
		case written:
			fmt.Fprintf(w, "applied (%d changed), route map version %d\n", len(changes), v.MapVersion)
		case len(changes) > 0:
			fmt.Fprintln(w, "dry run: nothing was written")
		}
	})
}
