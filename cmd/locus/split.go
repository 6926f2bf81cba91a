package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/spf13/cobra"

	"locus/control/jobs"
	"locus/control/orders"
	"locus/control/watch"
	"locus/idgen/gene"
	"locus/migrate/job"
	"locus/router"
	"locus/router/balance"
	"locus/router/cluster"
)

// planning is what split and merge have in common.
type planning struct {
	in           *invocation
	kind         job.Kind
	from, to     string
	genes, why   string
	half, dryRun bool
	hottest      share  // of the load; 0: it is not asked for
	by           string // gene or sequence
	throttle     int
	after        int // how many other jobs are planned before it, and not yet written
}

func splitCommand(in *invocation) *cobra.Command {
	p := &planning{in: in, kind: job.Split}
	c := &cobra.Command{
		Use:   "split --from SHARD --to SHARD (--genes RANGES | --half | --hottest[=SHARE]) [--by sequence]",
		Short: "Begin to move some of a shard's genes to another shard",
		Long: `Begin to move some of a shard's genes to another shard, while applications go on:
everything is copied and kept equal, and compared; then "locus cutover" hands the
genes over. Nothing that is served changes before that.

With --hottest the genes are chosen that have most statements and together about
half of the shard's load, or the share that is given, in a few ranges: "locus hot"
shows what was counted.

A gene has one owner, so a percentage of one hot gene means nothing. With --by sequence
the rows of a few genes are divided: "locus cutover --to 35%" brings those to the target
whose sequence mod 100 is below 35. Every table must have an ID, or its parent's.`,
		Example: `  locus split --from s0 --to s2 --half
  locus split --from s0 --to s2 --hottest 20% --dry-run
  locus split --from s0 --to s2 --genes 0x2000-0x3fff --dry-run
  locus split --from s0 --to s2 --genes 0x3eab --by sequence`,
		Args: cobra.MaximumNArgs(1), // --hottest may stand alone, and so its share may stand apart
		RunE: func(command *cobra.Command, args []string) error {
			if len(args) == 1 {
				if !command.Flags().Changed("hottest") || p.hottest.Set(args[0]) != nil {
					return misused("%q: split takes flags only", args[0])
				}
			}
			if command.Flags().Changed("hottest") && (p.hottest <= 0 || p.hottest >= 100) {
				return misused("--hottest %s: more than 0%% and less than 100%%", p.hottest.String())
			}
			if p.by != orders.ByGene && p.by != orders.BySequence {
				return misused("--by %q: use %s or %s", p.by, orders.ByGene, orders.BySequence)
			}
			return p.run(command.Context())
		},
	}
	p.flags(c)
	c.Flags().StringVar(&p.by, "by", orders.ByGene, "`what` a percentage counts: gene, or sequence for a few genes whose rows are divided")
	_ = c.RegisterFlagCompletionFunc("by", cobra.FixedCompletions([]string{orders.ByGene, orders.BySequence}, cobra.ShellCompDirectiveNoFileComp))
	c.Flags().Var(&p.hottest, "hottest", "the genes with most statements, that have this `share` of the shard's load")
	c.Flags().Lookup("hottest").NoOptDefVal = "50%"
	c.Flags().StringVar(&p.genes, "genes", "", "the `ranges` of genes, like 0x2000-0x3fff,0x5000")
	c.Flags().BoolVar(&p.half, "half", false, "the upper half of the genes that the shard owns")
	c.MarkFlagsMutuallyExclusive("genes", "half", "hottest")
	c.MarkFlagsOneRequired("genes", "half", "hottest")
	return c
}

func mergeCommand(in *invocation) *cobra.Command {
	p := &planning{in: in, kind: job.Merge}
	c := &cobra.Command{
		Use:     "merge --from SHARD --into SHARD",
		Short:   "Begin to move all of a shard's genes to another shard",
		Example: `  locus merge --from s2 --into s0`,
		Args:    cobra.NoArgs,
		RunE:    func(command *cobra.Command, _ []string) error { return p.run(command.Context()) },
	}
	p.flags(c)
	return c
}

func (p *planning) flags(c *cobra.Command) {
	to := "to"
	if p.kind == job.Merge {
		to = "into"
	}
	f := c.Flags()
	f.StringVar(&p.from, "from", "", "the `shard` that owns the genes")
	f.StringVar(&p.to, to, "", "the `shard` that is to own them")
	_ = c.MarkFlagRequired("from")
	_ = c.MarkFlagRequired(to)
	p.ofJob(c)
}

// ofJob are the flags of whatever begins a job.
func (p *planning) ofJob(c *cobra.Command) {
	f := c.Flags()
	f.BoolVar(&p.dryRun, "dry-run", false, "print what would be done and what stands in the way; write nothing")
	f.IntVar(&p.throttle, "throttle", 0, "`percent` of the time that copying, comparing and deleting rest")
	f.StringVar(&p.why, "why", "", "the `reason`, for the journal and the map's history")
}

// run plans the job, and writes its record unless it is a dry run.
func (p *planning) run(ctx context.Context) error {
	return p.in.withCluster(ctx, func(conn *connection, c *cluster.Cluster) error { return p.begin(ctx, conn, c) })
}

func (p *planning) begin(ctx context.Context, conn *connection, c *cluster.Cluster) error {
	store := p.in.jobsOf(conn)
	var loads *measured
	var err error
	if p.hottest > 0 {
		if loads, err = measure(ctx, conn.kv, c.Routes.Width()); err != nil {
			return err
		}
	}
	j, err := p.plan(ctx, c, store, loads)
	if err != nil {
		return err
	}
	if err := p.check(ctx, j, c, store); err != nil {
		return err
	}
	if j.BySequence {
		p.foretell(ctx, conn, c)
	}
	if p.dryRun {
		return p.print(j, c, loads)
	}
	if err := store.Create(ctx, j); err != nil {
		return err
	}
	return p.in.show(j, func(w io.Writer) {
		fmt.Fprintf(w, "job %s: %s\n", j.ID, j.Journal[0].What)
		p.printLoad(w, j, c, loads)
		fmt.Fprintf(w, "locus watch %s shows it; once it is ready: %s\n", j.ID, j.CutOverCommand())
	})
}

// plan makes the record. Loads is needed to choose the hottest genes.
func (p *planning) plan(ctx context.Context, c *cluster.Cluster, store *jobs.Store, loads *measured) (*job.Job, error) {
	return orders.Beginning{
		Kind: p.kind, From: router.ShardName(p.from), To: router.ShardName(p.to), Genes: p.choice(loads), BySequence: p.by == orders.BySequence,
		Throttle: p.throttle, Why: p.why, By: p.in.operator(), At: p.in.now(), After: p.after,
	}.Plan(ctx, c, store)
}

// choice is how the flags choose genes.
func (p *planning) choice(loads *measured) orders.Choice {
	switch {
	case p.half:
		return orders.UpperHalf
	case p.hottest > 0:
		return func(c *cluster.Cluster, owned gene.Set) (gene.Set, error) {
			genes, err := balance.Hottest(c.Routes.Width(), owned.Subtract(c.Routes.Moving()), loads.At, float64(p.hottest)/100)
			if err != nil {
				return genes, fmt.Errorf("choose the hottest genes of %s: %w; locus hot shows what was counted", p.from, err)
			}
			return genes, nil
		}
	case p.genes != "":
		return func(c *cluster.Cluster, owned gene.Set) (gene.Set, error) {
			genes, err := orders.Ranges(p.genes)(c, owned)
			if err != nil {
				return genes, misused("--genes: %v", err)
			}
			return genes, nil
		}
	}
	return orders.All
}

// check asks both shards for everything that stands in the way. Where the secrets
// to ask them aren't at hand, whoever runs the job does so before it begins.
func (p *planning) check(ctx context.Context, j *job.Job, c *cluster.Cluster, store *jobs.Store) error {
	err := orders.Check(ctx, j, c, store)
	if errors.Is(err, orders.ErrNoSecrets) && !p.dryRun {
		return nil
	}
	return err
}

// foretell says which statements of those that clients have sent will be refused while the genes are divided.
func (p *planning) foretell(ctx context.Context, conn *connection, c *cluster.Cluster) {
	logIn := orders.LogIn{Secrets: conn.config.Secrets.Lookup, Connect: conn.config.Backends.ConnectTimeout.Std()}
	refused, err := orders.Refusals(ctx, conn.kv, logIn, c)
	if err != nil {
		fmt.Fprintln(p.in.stderr, "warning: whether statements will be refused while the genes are divided is not known:", err)
		return
	}
	for _, line := range refused {
		fmt.Fprintln(p.in.stderr, "will be refused while the genes are divided:", line)
	}
}

// print is the dry run.
func (p *planning) print(j *job.Job, c *cluster.Cluster, loads *measured) error {
	after, err := c.Routes.With(router.Change{Genes: j.Genes, To: j.To})
	if err != nil {
		return err
	}
	return p.in.show(j, func(w io.Writer) {
		fmt.Fprintf(w, "nothing stands in the way of: %s\n", j.Journal[0].What)
		p.printLoad(w, j, c, loads)
		fmt.Fprintln(w, "it would")
		for _, line := range stages(j) {
			fmt.Fprintln(w, "  "+line)
		}
		fmt.Fprintf(w, "the route map at the end:\n%s", after)
	})
}

// stages is what a move does, in order.
func stages(j *job.Job) []string {
	cutover := "wait for locus cutover: each step holds statements on its genes, waits until the target has all, and hands them over"
	if j.BySequence {
		cutover = "wait for locus cutover: each step holds statements on these genes, waits until the target has all, and hands over rows by their sequences; " +
			"meanwhile statements by owner ask both shards"
	}
	return []string{
		"announce the move in the route map, and wait until every proxy knows it",
		"copy the rows of these genes while the binary log is followed",
		"compare both shards, and keep comparing",
		cutover,
		"keep the source equal, so that locus rollback goes back at any time",
		"delete the source's rows after locus finish",
	}
}

// printLoad says how much of the load the hottest genes have.
func (p *planning) printLoad(w io.Writer, j *job.Job, c *cluster.Cluster, loads *measured) {
	if loads == nil {
		return
	}
	of, all := loads.Of(j.Genes), loads.Of(c.Routes.GenesOf(j.From))
	fmt.Fprintf(w, "these genes have %s of the %s statements/s on %s (%s), %s\n", watch.Rate(of), watch.Rate(all), j.From, part(of, all), loads.whose())
}
