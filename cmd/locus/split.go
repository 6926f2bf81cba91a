package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locus/control/ops"
	"locus/control/watch"
	"locus/router"
	"locus/router/cluster"
)

// planning holds the parameters of one call of a command that starts a job.
type planning struct {
	in       *invocation
	dryRun   bool
	throttle int
	why      string
}

// starting returns the fields that the requests of all jobs have.
func (p *planning) starting() ops.Starting { return ops.Starting{Throttle: p.throttle, Why: p.why} }

func splitCommand(in *invocation) *cobra.Command {
	p := &planning{in: in}
	var from, to, genes, by string
	var half bool
	var hottest share
	c := &cobra.Command{
		Use:   "split --from SHARD --to SHARD (--genes RANGES | --half | --hottest[=SHARE]) [--by sequence]",
		Short: "Start a job that moves some genes of a shard to another one",
		Long: `Start a job that moves some genes of a shard to another one while applications run. The
job copies the rows, keeps both copies equal, and compares them. Nothing changes for
clients before "locus cutover" hands the genes over.

With --hottest, the job moves the genes with the most statements, in a few ranges that
together have about half of the shard's load, or the given share. "locus hot" shows the
load.

A gene can't be handed over by percentages. With --by sequence, the rows of a few hot
genes are divided: "locus cutover --to 35%" moves the rows whose sequence mod 100 is below
35. Every table must have an ID, or the ID of its parent.`,
		Example: `  locus split --from s0 --to s2 --half
  locus split --from s0 --to s2 --hottest 20% --dry-run
  locus split --from s0 --to s2 --genes 0x2000-0x3fff --dry-run
  locus split --from s0 --to s2 --genes 0x3eab --by sequence`,
		Args: cobra.MaximumNArgs(1), // --hottest may have no value, so its value may be a separate argument
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 1 {
				if !command.Flags().Changed("hottest") || hottest.Set(args[0]) != nil {
					return misused("%q: split takes flags only", args[0])
				}
			}
			r := ops.Split{From: router.ShardName(from), To: router.ShardName(to), Genes: genes, By: by, Starting: p.starting()}
			if half {
				r.Genes = ops.Half
			}
			if command.Flags().Changed("hottest") {
				r.HottestPercent = hottest.number()
			}
			return p.run(command.Context(), r)
		},
	}
	shardFlags(c, &from, &to, "to")
	p.flags(c)
	c.Flags().StringVar(&by, "by", ops.ByGene, "the `unit` of a percentage: gene, or sequence for a few genes whose rows are divided")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{ops.ByGene, ops.BySequence}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().Var(&hottest, "hottest", "the genes with most statements, that have this `share` of the shard's load")
	c.Flags().Lookup("hottest").NoOptDefVal = "50%"
	c.Flags().StringVar(&genes, "genes", "", "the `ranges` of genes, like 0x2000-0x3fff,0x5000")
	c.Flags().BoolVar(&half, "half", false, "the upper half of the genes that the shard owns")
	c.MarkFlagsMutuallyExclusive("genes", "half", "hottest")
	c.MarkFlagsOneRequired("genes", "half", "hottest")
	return c
}

func mergeCommand(in *invocation) *cobra.Command {
	p := &planning{in: in}
	var from, into string
	c := &cobra.Command{
		Use:     "merge --from SHARD --into SHARD",
		Short:   "Start a job that moves all genes of a shard to another one",
		Example: `  locus merge --from s2 --into s0`,
		Args:    cobra.NoArgs,
		RunE: func(command *cobra.Command, _ []string) error {
			return p.run(command.Context(), ops.Merge{From: router.ShardName(from), Into: router.ShardName(into), Starting: p.starting()})
		},
	}
	shardFlags(c, &from, &into, "into")
	p.flags(c)
	return c
}

// shardFlags adds the flags for the source and the target of a move.
func shardFlags(c *cobra.Command, from, to *string, toFlag string) {
	f := c.Flags()
	f.StringVar(from, "from", "", "the `shard` that owns the genes")
	f.StringVar(to, toFlag, "", "the `shard` that is to own them")
	_ = c.MarkFlagRequired("from")
	_ = c.MarkFlagRequired(toFlag)
}

// flags adds the flags of all commands that start a job.
func (p *planning) flags(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&p.dryRun, "dry-run", false, "print what would be done and what prevents it; write nothing")
	f.IntVar(&p.throttle, "throttle", 0, "the `percent` of the time for which copying, comparing and deleting pause")
	f.StringVar(&p.why, "why", "", "the `reason`, for the journal and the map's history")
}

// run plans the job, and writes its record unless it is a dry run.
func (p *planning) run(ctx context.Context, request ops.Start) error {
	if err := request.Check(); err != nil {
		return err
	}
	return p.in.withCluster(ctx, func(conn *connection, _ *cluster.Cluster) error {
		o := p.in.opsOf(conn)
		plan, err := o.PlanStart(ctx, request, p.in.operator())
		if err != nil {
			return err
		}
		if p.dryRun {
			return p.print(plan)
		}
		if err := o.Start(ctx, plan); err != nil {
			return err
		}
		p.warn(plan)
		return p.in.show(plan.Job, func(w io.Writer) {
			fmt.Fprintf(w, "job %s: %s\n", plan.Job.ID, plan.Job.Journal[0].What)
			printLoad(w, plan)
			fmt.Fprintf(w, "locus watch %s shows it; once it is ready: %s\n", plan.Job.ID, plan.Job.CutOverCommand())
		})
	})
}

func (p *planning) warn(plan *ops.Plan) {
	for _, line := range plan.Warnings {
		fmt.Fprintln(p.in.stderr, line)
	}
}

// print prints a dry run. It fails if the shards could not be checked.
func (p *planning) print(plan *ops.Plan) error {
	if err := errors.Join(plan.Refusal(), uncheckedOf(plan)); err != nil {
		return err
	}
	p.warn(plan)
	j := plan.Job
	return p.in.show(j, func(w io.Writer) {
		fmt.Fprintf(w, "no obstacles: %s\n", j.Journal[0].What)
		printLoad(w, plan)
		fmt.Fprintln(w, "it would")
		for _, line := range plan.Stages() {
			fmt.Fprintln(w, "  "+line)
		}
		if after, err := plan.Cluster.Routes.With(router.Change{Genes: j.Genes, To: j.To}); j.Import == nil && err == nil {
			fmt.Fprintf(w, "the route map at the end:\n%s", after)
		}
	})
}

// uncheckedOf returns the reason why the shards were not checked, if the plan was not refused for another
// reason.
func uncheckedOf(plan *ops.Plan) error {
	if plan.Refusal() != nil {
		return nil
	}
	return plan.Unchecked
}

// printLoad prints the hottest genes' share of the load.
func printLoad(w io.Writer, plan *ops.Plan) {
	if plan.Load == nil {
		return
	}
	j := plan.Job
	of, all := plan.Load.Of(j.Genes), plan.Load.Of(plan.Cluster.Routes.GenesOf(j.From))
	fmt.Fprintf(w, "these genes have %s of the %s statements/s on %s (%s), %s\n", watch.Rate(of), watch.Rate(all), j.From, part(of, all), whose(plan.Load))
}
