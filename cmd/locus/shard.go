package main

import (
	"context"
	"fmt"

	"github.com/spf13/cobra"

	"locus/control/newshard"
	"locus/control/ops"
	"locus/router"
)

func shardCommand(in *invocation) *cobra.Command {
	group := groupCommand("shard", "List the declared shards, add, fill and remove one")
	group.AddCommand(shardListCommand(in), shardAddCommand(in), shardFillCommand(in), shardRemoveCommand(in))
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
	var r ops.AddShard
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
			r.Shard, r.Why = router.ShardName(args[0]), a.why
			return a.change(command.Context(), r, "")
		},
	}
	f := c.Flags()
	f.StringVar(&r.Address, "address", "", "where the server is, as `HOST:PORT`")
	f.StringVar(&r.User, "user", "", "the `account` there")
	f.StringVar(&r.Secret, "secret", "", "the `name` of its password")
	f.BoolVar(&a.dryRun, "dry-run", false, "check and print everything, write nothing")
	f.StringVar(&a.by, "by", "", "the `name` of who changes the cluster (default: you, on this host)")
	f.StringVar(&a.why, "why", "", "the `reason`, for the history of the route map")
	for _, name := range []string{"address", "user", "secret"} {
		_ = c.MarkFlagRequired(name)
	}
	return c
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
			return a.fill(command.Context(), ops.FillShard{Shard: router.ShardName(args[0]), WaitSeconds: patience.Seconds()})
		},
	}
	c.Flags().DurationVar(&patience, "wait", newshard.Patience, "the `time` that writers of global tables may wait")
	in.addYes(c)
	return c
}

func (a *application) fill(ctx context.Context, r ops.FillShard) error {
	return a.in.withEtcd(func(conn *connection) error {
		o := a.in.opsOf(conn)
		f, err := o.PlanFill(ctx, r)
		if err != nil {
			return err
		}
		if err := a.in.confirm("Shard %s: replace the rows of its global tables by those of %s?", r.Shard, f.First()); err != nil {
			return err
		}
		a.printMade(f.Lacking)
		filled, err := o.WriteFill(ctx, f, a.operator())
		a.printFilled(filled)
		return err
	})
}

func shardRemoveCommand(in *invocation) *cobra.Command {
	a := &application{in: in}
	c := &cobra.Command{
		Use:   "remove NAME",
		Short: "Remove a shard that owns no genes",
		Long: `Remove a shard that owns no genes from the cluster. Move its genes to another shard first:
locus merge. The server of the shard keeps what is on it. The command is refused while a
job uses the shard, and if the shard has rows that no other shard has.`,
		Example: "  locus merge --from s3 --into s1\n  locus shard remove s3",
		Args:    cobra.ExactArgs(1),
		RunE: func(command *cobra.Command, args []string) error {
			r := ops.RemoveShard{Shard: router.ShardName(args[0]), Reason: ops.Reason{Why: a.why}}
			return a.change(command.Context(), r, fmt.Sprintf("Shard %s: remove it from the cluster?", args[0]))
		},
	}
	f := c.Flags()
	f.BoolVar(&a.dryRun, "dry-run", false, "check and print everything, write nothing")
	f.StringVar(&a.by, "by", "", "the `name` of who changes the cluster (default: you, on this host)")
	f.StringVar(&a.why, "why", "", "the `reason`, for the history of the route map")
	in.addYes(c)
	return c
}
