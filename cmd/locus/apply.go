package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"locus/control/fitting"
	"locus/control/newshard"
	"locus/control/ops"
	"locus/control/watch"
	"locus/router"
	"locus/router/catalog"
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
	r := ops.Apply{Cluster: declaration, SkipLiveCheck: a.skipLiveCheck, Force: a.forceMove, Reason: ops.Reason{Why: a.why}}
	return a.change(ctx, r, "")
}

// change plans a change of the declarations, shows and checks it, and writes it unless it is a dry run. If question is empty,
// it does not ask for confirmation.
func (a *application) change(ctx context.Context, r ops.Declare, question string) error {
	return a.in.withEtcd(func(conn *connection) error {
		o := a.in.opsOf(conn)
		c, err := o.PlanChange(ctx, r, a.operator())
		if err != nil {
			return err
		}
		if err := a.begin(c, question); err != nil {
			return err
		}
		err = o.CheckChange(ctx, c, a.progress())
		a.warn(c.Warnings)
		if err != nil {
			return err
		}
		a.printMade(c.Lacking)
		if a.dryRun {
			return a.print(c, false)
		}
		effect, err := o.WriteChange(ctx, c)
		return errors.Join(a.printEffect(c, effect, err), err)
	})
}

// begin prints the changes and asks the question. It does not ask if the question is empty or if there is nothing to write.
func (a *application) begin(c *ops.Change, question string) error {
	if question != "" && !a.dryRun {
		if err := a.in.confirm("%s", question); err != nil {
			return err
		}
	}
	if a.in.output == table {
		printChanges(a.in.stdout, c.Differences)
	}
	return nil
}

// operator returns the name of the person who changes the cluster.
func (a *application) operator() string {
	if by := oneLine(a.by); by != "" {
		return by
	}
	return a.in.operator()
}

// oneLine replaces line breaks in a name, because lists print one name per line.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

func (a *application) warn(warnings []string) {
	for _, warning := range warnings {
		fmt.Fprintln(a.in.stderr, "warning:", warning)
	}
}

// printEffect prints the effect of a change. After an error, it prints the steps that succeeded before the error.
func (a *application) printEffect(c *ops.Change, effect ops.Effect, err error) error {
	if effect.Written || err == nil {
		if err := a.print(c, effect.Written); err != nil {
			return err
		}
	}
	a.printFilled(effect.Filled)
	a.printRegrouped(effect.Regrouped)
	return nil
}

func (a *application) print(c *ops.Change, written bool) error {
	v := applied{changeViews(c.Differences), c.Next.Routes.Version(), written}
	return a.in.show(v, func(w io.Writer) {
		switch {
		case written:
			fmt.Fprintf(w, "applied (%d changed), route map version %d\n", len(c.Differences), v.MapVersion)
		case len(c.Differences) > 0:
			fmt.Fprintln(w, "dry run: nothing was written")
		}
	})
}

// progress returns a function that prints the number of checked rows to a terminal, or nil if there is no terminal.
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

// printMade prints the objects that are created on shards without genes.
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

// printFilled prints the shards that have received the rows of global tables.
func (a *application) printFilled(done []newshard.Filled) {
	if a.in.output != table {
		return
	}
	for _, f := range done {
		fmt.Fprintf(a.in.stdout, "shard %s has the global tables' rows (%d copied)\n", f.Shard, f.Written)
	}
}

// printRegrouped prints the counters whose number of groups has changed.
func (a *application) printRegrouped(list []ops.Regrouped) {
	if a.in.output != table {
		return
	}
	for _, r := range list {
		fmt.Fprintf(a.in.stdout, "counters of %s: %d groups, were %d\n", r.Counter, r.Now, r.Was)
	}
}
