package main

import (
	"context"
	"fmt"
	"maps"
	"time"

	"github.com/spf13/cobra"

	"locus/control/declared"
	"locus/control/fitting"
	"locus/control/newshard"
	"locus/control/ops"
	"locus/router"
	"locus/router/cluster"
)

func shardCommand(in *invocation) *cobra.Command {
	group := groupCommand("shard", "Look at the shards that are declared, add one, and fill it")
	group.AddCommand(shardListCommand(in), shardAddCommand(in), shardFillCommand(in))
	return group
}

func shardListCommand(in *invocation) *cobra.Command {
	return &cobra.Command{
		Use:     "list",
		Short:   "List the declared shards",
		Example: "  locus shard list\n  locus shard list -o json",
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			c, err := in.declaredCluster(command.Context())
			if err != nil {
				return err
			}
			return in.printPart(command.Context(), c, "shards")
		},
	}
}

func shardAddCommand(in *invocation) *cobra.Command {
	a := &application{in: in}
	var s cluster.Shard
	c := &cobra.Command{
		Use:   "add NAME --address HOST:PORT --user USER --secret SECRET",
		Short: "Declare a shard, and create the objects that every shard has",
		Long: `Declare a shard that owns no genes, without a file. It gets the objects of the first
shard that it lacks: databases, the declared tables, the views that read them, and the
rows of global tables. Then locus split or locus rebalance can move genes to it.

A shard with several servers, or one over TLS, is declared in a file: locus apply.`,
		Example: "  locus shard add s3 --address 10.0.0.34:3306 --user locus --secret shards/s3",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withState(command.Context(), func(conn *connection, state *declared.State) error {
				next, err := withShard(state.Cluster, router.ShardName(args[0]), s)
				if err != nil {
					return err
				}
				return a.succeed(command.Context(), conn, state, next)
			})
		},
	}
	f := c.Flags()
	f.StringVar(&s.Address, "address", "", "where the server is, as `HOST:PORT`")
	f.StringVar(&s.User, "user", "", "the `account` there")
	f.StringVar(&s.Secret, "secret", "", "the `name` of its password")
	f.BoolVar(&a.dryRun, "dry-run", false, "check and print everything, write nothing")
	f.StringVar(&a.by, "by", "", "the `name` of who changes the cluster (default: you, on this host)")
	f.StringVar(&a.why, "why", "", "the `reason`, for the history of the route map")
	for _, name := range []string{"address", "user", "secret"} {
		_ = c.MarkFlagRequired(name)
	}
	return c
}

// withShard returns a copy of the cluster with another shard.
func withShard(c *cluster.Cluster, name router.ShardName, s cluster.Shard) (*cluster.Cluster, error) {
	if c == nil {
		return nil, cluster.ErrNotDeclared
	}
	if _, is := c.Shards[name]; is {
		return nil, fmt.Errorf("shard %s is declared already: locus apply changes what is declared, locus shard fill gives it what it lacks", name)
	}
	s.TLS = cluster.TLSOff
	next := *c
	next.Shards = maps.Clone(next.Shards)
	next.Shards[name] = s
	return &next, next.Validate()
}

func shardFillCommand(in *invocation) *cobra.Command {
	a := &application{in: in}
	patience := newshard.Patience
	c := &cobra.Command{
		Use:   "fill NAME",
		Short: "Create the objects that every shard has on a shard that owns no genes",
		Long: `Create the objects of the first shard that a shard lacks: databases, the declared tables,
and the views that read them. Replace the rows of its global tables by those of the first
shard. No client reads a shard that owns no genes.

During the last comparison of the rows, writers of global tables wait, but no longer than
--wait. Then the command fails, and can be repeated. locus apply does the same for a new
shard.`,
		Example: "  locus shard fill s3\n  locus shard fill s3 --wait 5m",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			return in.withCluster(command.Context(), func(conn *connection, c *cluster.Cluster) error {
				name := router.ShardName(args[0])
				if _, is := c.Shards[name]; !is {
					return fmt.Errorf("shard %s is not registered; there are %v", name, c.ShardNames())
				}
				if err := in.confirm("Shard %s: make the rows of its global tables those of %s?", name, c.Settings.DefaultShard); err != nil {
					return err
				}
				return a.give(command.Context(), conn, c, name, patience)
			})
		},
	}
	c.Flags().DurationVar(&patience, "wait", newshard.Patience, "the `time` that writers of global tables may wait")
	in.addYes(c)
	return c
}

// goOn completes an interrupted apply: it gives shards without genes what they still lack.
func (a *application) goOn(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	if a.skipLiveCheck || a.path == "" || a.dryRun {
		return nil
	}
	return a.give(ctx, conn, c, "", newshard.Patience)
}

// give gives shards of the declared cluster what they lack: all shards without genes, or only the ordered one,
// whose rows are made equal even if they are no copies.
func (a *application) give(ctx context.Context, conn *connection, c *cluster.Cluster, ordered router.ShardName, patience time.Duration) error {
	shards, err := ask(conn, c, c)
	if err != nil {
		return a.unasked(ordered, err)
	}
	defer shards.Close(ctx)
	plan, err := newshard.Look(ctx, newshard.Cluster{Old: c, Next: c, Server: shards.Server, Ordered: ordered})
	if err != nil {
		return a.unasked(ordered, err)
	}
	if len(plan.Lacking) == 0 {
		return nil
	}
	if _, err := a.make(ctx, plan, fitting.Change{Old: c, Next: c, Shards: shards}); err != nil {
		return err
	}
	filling, err := plan.Begin(ctx, patience)
	if err != nil {
		return err
	}
	return a.settle(ctx, conn, filling, c)
}

// unasked returns the error if a shard was ordered. If an unchanged file is applied, it only prints the error.
func (a *application) unasked(ordered router.ShardName, err error) error {
	if ordered != "" {
		return err
	}
	fmt.Fprintf(a.in.stderr, "warning: whether a shard without genes lacks something is not known: %v\n", err)
	return nil
}

// settle makes rows equal after every proxy writes to the new shards too.
func (a *application) settle(ctx context.Context, conn *connection, filling *newshard.Filling, c *cluster.Cluster) error {
	done, err := filling.Settle(ctx, func(ctx context.Context) error { return ops.AwaitMap(ctx, conn.kv, c.Routes.Version()) })
	a.printFilled(done)
	if err != nil {
		return ops.Unfilled(err)
	}
	return nil
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
